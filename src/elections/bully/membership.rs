//! What a new snapshot of the members means (B7).
//!
//! A leader's end is seen as its life marked as over, as a suspicion, or as its absence. This mode
//! takes a suspicion for an end (the lease of the quorum mode does not).

use std::sync::Arc;

use super::{
    Bully, Defect, Out,
    state::{Asked, Path, Seat, State, Turn},
};
use crate::protocol::{Event, Leader, Member, Members, Presence, Time};

impl Bully {
    pub(super) fn on_members(&mut self, now: Time, members: Arc<Members>, out: &mut Out) {
        self.seen = self.seen.max(members.term());
        self.me.members = members;
        match &self.state {
            State::Follower(Seat::Taken(followed)) => {
                if self.is_over(&followed.leader) && !self.config.has(Defect::EndUnnoticed) {
                    self.leader_gone(now, out);
                }
            }
            State::Follower(Seat::Vacant(turn)) => {
                let turn = *turn;
                self.move_up(now, turn, out);
            }
            State::Candidate(_) => self.drop_from_round(now, out),
            State::Waiting(wait) => {
                if !self.me.members.get(&wait.on).is_some_and(Member::is_up) {
                    let (on, path) = (wait.on.clone(), wait.path);
                    self.leave_state(out);
                    self.state = State::Follower(Seat::Vacant(None));
                    self.take_turn(now, path, Some(&on), out);
                }
            }
            State::Leader(_) => self.check_challengers(now, out),
        }
    }

    fn is_over(&self, leader: &Leader) -> bool {
        self.me
            .members
            .get(&leader.id)
            .is_none_or(|m| m.is_gone(leader.incarnation))
    }

    /// The leader that was followed is gone: by the fast path, who is first in line announces.
    pub(super) fn leader_gone(&mut self, now: Time, out: &mut Out) {
        let Some(leader) = self.followed().map(|f| f.leader.clone()) else {
            return;
        };
        out.notify(Event::NoLeader { term: leader.term });
        self.take_turn(now, Path::Announce, Some(&leader.id), out);
    }

    /// Fewer may be ahead of this agent than when its turn was set.
    fn move_up(&mut self, now: Time, turn: Option<Turn>, out: &mut Out) {
        let Some(rank) = self.me.rank() else { return };
        match turn {
            None => self.take_turn(now, Path::Ask, None, out),
            Some(turn) if self.stands(now) => {
                let behind = self.me.members.ahead_of(&rank, None, turn.behind);
                if behind < turn.behind {
                    self.take_turn(now, turn.path, None, out);
                }
            }
            Some(_) => {}
        }
    }

    /// Who is certainly down, or a member no longer, counts as having answered.
    fn drop_from_round(&mut self, now: Time, out: &mut Out) {
        let members = Arc::clone(&self.me.members);
        let may_answer = |id: &_| {
            members
                .get(id)
                .is_some_and(|m| m.is_voter() && m.presence != Presence::Down)
        };
        let State::Candidate(candidacy) = &mut self.state else {
            return;
        };
        match &candidacy.asked {
            Asked::Voters => {
                candidacy.pending.retain(may_answer);
                self.decide_early(now, out);
            }
            Asked::Leader {
                following: Some(f), ..
            } => {
                let leader = f.leader.clone();
                if self.is_over(&leader) {
                    self.leader_gone(now, out);
                }
            }
            Asked::Leader {
                id,
                following: None,
            } => {
                let gone = !members.get(id).is_some_and(Member::is_up);
                if gone {
                    let id = id.clone();
                    self.leave_state(out);
                    self.state = State::Follower(Seat::Vacant(None));
                    self.take_turn(now, Path::Ask, Some(&id), out);
                }
            }
        }
    }
}
