//! What a new snapshot of the members means (F1, F2).
//!
//! Only the *certain* end of the very life that holds this voter's promise voids it: then the
//! leadership is revoked, and nobody need wait for its lease. A guess voids nothing. Who votes is
//! in the configuration; a snapshot cannot change it.

use std::sync::Arc;

use super::{
    Defect, Out, QuorumBully,
    state::{Certainty, Gone, Seat, State},
};
use crate::protocol::{AgentId, Incarnation, Members, Presence, Time};

impl QuorumBully {
    pub(super) fn on_members(&mut self, now: Time, members: Arc<Members>, out: &mut Out) {
        let before = std::mem::replace(&mut self.me.members, members);
        for id in &*self.peers {
            let score = self.me.members.get(id).map(|m| m.score);
            if let Some(score) = score
                && before.get(id).map(|m| m.score) != Some(score)
                && let Some(known) = self.ranks.get_mut(id)
            {
                *known = score; // newer than what it said last
            }
        }
        if let Some(id) = self.ended_leader() {
            self.promise.take_if(|p| p.holder == id);
            self.leader_has_ended(now, id, out);
        } else if let Some(id) = self.replaced_leader() {
            self.lose_leader(now, id, Certainty::Guessed, out);
        }
        self.decide(now, out); // who is certainly down is not waited for
    }

    /// Whose certain end frees this agent: the holder of its promise, or the leader it follows.
    fn ended_leader(&self) -> Option<AgentId> {
        let promised = self.promise.as_ref().map(|p| (&p.holder, p.incarnation));
        let followed = self
            .followed()
            .map(|f| (&f.leader.id, f.leader.incarnation));
        [promised, followed]
            .into_iter()
            .flatten()
            .find(|(id, incarnation)| self.has_ended(id, *incarnation))
            .map(|(id, _)| id.clone())
    }

    /// F1.
    fn has_ended(&self, id: &AgentId, incarnation: Incarnation) -> bool {
        self.me.members.get(id).is_some_and(|m| {
            m.has_ended(incarnation)
                || m.ended.is_some() && self.config.has(Defect::EndOfAnyLife)
                || m.presence == Presence::Suspect && self.config.has(Defect::GuessIsCertain)
        })
    }

    /// The leader that is followed, if a later life of it is up, or it is a member no longer. It
    /// is followed no more; the promise to it holds on, since its end is not certain.
    fn replaced_leader(&self) -> Option<AgentId> {
        let leader = &self.followed()?.leader;
        let member = self.me.members.get(&leader.id);
        let replaced = member.is_none_or(|m| m.is_stale(leader.incarnation));
        replaced.then(|| leader.id.clone())
    }

    fn leader_has_ended(&mut self, now: Time, id: AgentId, out: &mut Out) {
        match &self.state {
            State::Follower(Seat::Taken(f)) if f.leader.id == id => {
                self.lose_leader(now, id, Certainty::Certain, out);
            }
            State::Follower(Seat::Vacant(_)) => {
                let certain = Certainty::Certain;
                let last = Some(Gone { id, certain });
                self.take_turn(now, std::time::Duration::ZERO, last, out);
            }
            State::Follower(Seat::Taken(_))
            | State::Probing(_)
            | State::Claiming(_)
            | State::Leader(_) => {}
        }
    }
}
