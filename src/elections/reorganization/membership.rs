//! What a new snapshot of the members means.
//!
//! The paper's members are fixed, and only a silence of T proves a crash. A snapshot knows some ends
//! for certain, which proves more; a suspicion is a reason to ask at once.

use std::sync::Arc;

use super::{
    Out, Reorganization,
    state::{Cause, Halter, State},
};
use crate::protocol::{AgentId, LostReason, MemberKind, Members, Presence, Time};

impl Reorganization {
    pub(super) fn on_members(&mut self, now: Time, members: Arc<Members>, out: &mut Out) {
        self.hear(members.term());
        self.me.members = members;
        self.heard.clear();
        let is_down = |id: &AgentId| {
            let member = self.me.members.get(id);
            member.is_none_or(|m| m.presence == Presence::Down)
        };
        match &self.state {
            State::Idle => {
                if self.standing(now).is_some() {
                    self.elect(now, LostReason::Reorganized, out);
                }
            }
            State::Leader(_) => {}
            State::Candidate(_) => self.reconsider(now, out),
            State::Waiting(wait) => match &wait.cause {
                Cause::Superior(above) | Cause::Halted(Halter { by: above, .. })
                    if is_down(&above.id) =>
                {
                    self.elect(now, LostReason::Reorganized, out);
                }
                Cause::Rest if self.standing(now).is_some() => {
                    self.elect(now, LostReason::Reorganized, out);
                }
                Cause::Superior(_) | Cause::Halted(_) | Cause::Pause | Cause::Rest => {}
            },
            State::Member(membership) => {
                let leader = membership.leader.clone();
                let known = self.me.members.get(&leader.id);
                if known.is_none_or(|m| m.is_stale(leader.incarnation)) {
                    return self.elect(now, LostReason::Reorganized, out);
                }
                let doubtful = known.is_some_and(|m| m.is_gone(leader.incarnation));
                if doubtful && self.me.kind == MemberKind::Voter {
                    self.ask_leader(now, out);
                }
            }
        }
    }
}
