//! What can be forged of an invitation election: scenarios 23, 24 and 27, on agents.

use actix_bully::{
    elections::invitation::{InvitationElection, Task},
    protocol::Term,
};
use bully_classics::invitation::{
    Accept, AreYouCoordinator, CoordinatorReply, Decline, ElectionId, GroupRole, Invitation,
    InvitationMessage, Ready, Resign, There,
};

use crate::seeds::forgeries::{Forgeries, forgeries, id};

impl Forgeries for InvitationElection {
    const ANSWER: &'static str = "accept";
    const CALL: &'static str = "resign";

    /// What an earlier group's members can have answered.
    fn stale_answers(now: Term) -> Vec<InvitationMessage> {
        let mut all: Vec<InvitationMessage> = Vec::new();
        for seen in (1..now.0).map(Term) {
            let group = || ElectionId {
                count: seen,
                id: id(5),
            };
            let score = Some(9.into());
            all.push(Accept { group: group() }.into());
            let decline = Decline {
                group: group(),
                seen,
                score,
            };
            all.push(decline.into());
            let reply = CoordinatorReply {
                group: group(),
                score,
                standing: GroupRole::Coordinator { members: 3 },
                seen,
            };
            all.push(reply.into());
            let there = There {
                group: group(),
                belongs: false,
            };
            all.push(there.into());
        }
        all
    }

    fn stale_calls(election: &ElectionId, to: u32) -> Vec<InvitationMessage> {
        let (group, score) = (|| election.clone(), 1.into());
        let ready = Ready {
            group: group(),
            score,
            task: Task(7),
        };
        let check = AreYouCoordinator {
            group: group(),
            score,
        };
        let invitation = Invitation {
            group: group(),
            score,
        };
        let resign = Resign {
            group: group(),
            successor: Some(id(to)),
        };
        vec![invitation.into(), ready.into(), check.into(), resign.into()]
    }

    fn call(group: ElectionId) -> InvitationMessage {
        let score = 99.into();
        Invitation { group, score }.into()
    }
}

forgeries!(InvitationElection);
