//! What a new snapshot of the members means: a certain end is known at once, a guess is a reason to
//! ask.

use std::sync::Arc;

use super::{
    InvitationElection, Out,
    state::{Stage, State},
};
use crate::protocol::{LostReason, Member, MemberKind, Members, Presence, Time};

impl InvitationElection {
    pub(super) fn on_members(&mut self, now: Time, members: Arc<Members>, out: &mut Out) {
        self.hear(members.term());
        self.me.members = members;
        match &self.state {
            State::Free { turn } => {
                let is_idle = turn.is_none() || self.cooldown.has_begun();
                if is_idle && self.standing(now).is_some() {
                    self.take_turn(now, LostReason::Reorganized, None, out);
                }
            }
            State::Leader(_) => {}
            State::Candidate(_) => self.hurry(now, out),
            State::Member(membership) => {
                let known = self.me.members.get(&membership.coordinator.id);
                let (gone, doubtful) = match &membership.stage {
                    Stage::Joining => (is_down(known), false),
                    Stage::Following { leader, .. } => (
                        known.is_none_or(|m| m.is_stale(leader.incarnation)),
                        known.is_some_and(|m| m.is_gone(leader.incarnation)),
                    ),
                };
                if gone {
                    self.lose_coordinator(now, out);
                } else if doubtful && self.me.kind == MemberKind::Voter {
                    self.ask_coordinator(now, out);
                }
            }
        }
    }
}

fn is_down(known: Option<&Member>) -> bool {
    known.is_none_or(|m| m.presence == Presence::Down)
}
