//! What can be forged of a reorganization: scenarios 23, 24 and 27, on agents.

use actix_bully::{elections::reorganization::Reorganization, protocol::Term};
use bully_classics::reorganization::{
    Ack, AreYouNormal, Call, ElectionId, Halt, Nack, NewCoordinator, Normal, NotNormal, Ready,
    ReorganizationMessage, Resign, Task, There,
};

use crate::seeds::forgeries::{Forgeries, forgeries, id};

/// All that an election can have made an agent answer.
fn answers(count: Term) -> Vec<ReorganizationMessage> {
    let election = || ElectionId { count, id: id(5) };
    let (seen, score) = (count, Some(9.into()));
    let there = There {
        election: election(),
        score,
        coordinates: true,
        seen,
    };
    let normal = Normal {
        election: election(),
    };
    let mut all: Vec<ReorganizationMessage> = vec![there.into(), normal.into()];
    for call in [Call::Halt, Call::NewCoordinator, Call::Ready] {
        let ack = Ack {
            call,
            election: election(),
        };
        let nack = Nack {
            call,
            election: election(),
            seen,
            score,
        };
        all.extend([ack.into(), nack.into()]);
    }
    all
}

impl Forgeries for Reorganization {
    const ANSWER: &'static str = "halt_ack";
    const CALL: &'static str = "new_coordinator";

    /// Of the present election what was called is done.
    fn stale_answers(now: Term) -> Vec<ReorganizationMessage> {
        let mut all = Vec::new();
        for count in (1..=now.0).map(Term) {
            all.extend(answers(count));
            if count < now {
                let (election, seen) = (ElectionId { count, id: id(5) }, count);
                all.push(NotNormal { election, seen }.into());
            }
        }
        all
    }

    fn stale_calls(election: &ElectionId, to: u32) -> Vec<ReorganizationMessage> {
        let (election, score) = (|| election.clone(), 1.into());
        let halt = Halt {
            election: election(),
            score,
        };
        let coordinates = NewCoordinator {
            election: election(),
        };
        let ready = Ready {
            election: election(),
            score,
            task: Task(7),
        };
        let check = AreYouNormal {
            election: election(),
            score,
        };
        let resign = Resign {
            election: election(),
            successor: Some(id(to)),
        };
        vec![
            halt.into(),
            coordinates.into(),
            ready.into(),
            check.into(),
            resign.into(),
        ]
    }

    fn call(election: ElectionId) -> ReorganizationMessage {
        let score = 99.into();
        Halt { election, score }.into()
    }
}

forgeries!(Reorganization);
