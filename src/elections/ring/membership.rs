//! A life begins, and what a new snapshot of the members means.
//!
//! A leader's certain end is seen by all at once; a guess at its end is taken for one, once. Who
//! was to take a message and is gone is passed over without waiting for the Hop.

use std::sync::Arc;

use super::{AgentId, Out, Ring, state::Seat};
use crate::protocol::{Member, Members, Presence, Time};

impl Ring {
    /// A member that finds a leader in the snapshot waits for its heartbeat; otherwise it takes
    /// its turn to begin an election.
    pub(super) fn on_start(&mut self, now: Time, members: Arc<Members>, out: &mut Out) {
        self.seen = self.seen.max(members.term());
        self.me.members = members;
        self.list_observers();
        self.watch_for_return(now, out);
        if self.me.members.leader().is_some_and(|l| l.id != self.me.id) {
            return self.await_leader(now, out);
        }
        self.reconsider(now, out);
    }

    pub(super) fn on_members(&mut self, now: Time, members: Arc<Members>, out: &mut Out) {
        self.seen = self.seen.max(members.term());
        let before = std::mem::replace(&mut self.me.members, members);
        self.list_observers();
        self.drop_suspicions(&before);
        self.watch_for_return(now, out);
        self.look_after_leader(now, &before, out);
        self.pass_over_absent(now, out);
        self.move_up(now, out);
    }

    /// Another life, or a connection that came back, is tried again.
    fn drop_suspicions(&mut self, before: &Members) {
        let members = &self.me.members;
        self.suspects.retain(|id, life| {
            let was_up = before.get(id).is_some_and(Member::is_up);
            members.get(id).is_some_and(|m| {
                let returned = m.is_up() && !was_up;
                m.incarnation == *life && m.presence != Presence::Down && !returned
            })
        });
    }

    fn look_after_leader(&mut self, now: Time, before: &Members, out: &mut Out) {
        let Seat::Taken(f) = &self.seat else { return };
        let (id, life) = (f.leader.id.clone(), f.leader.incarnation);
        let is_gone = |members: &Members| members.get(&id).is_none_or(|m| m.is_gone(life));
        let is_over = self.me.members.get(&id).is_none_or(|m| m.is_stale(life));
        if is_over || is_gone(&self.me.members) && !is_gone(before) {
            self.leader_gone(now, out);
        }
    }

    /// Fewer may be ahead of this agent than when its turn was set.
    fn move_up(&mut self, now: Time, out: &mut Out) {
        let waits = self.seat == Seat::Vacant && self.turn.is_some();
        let rank = self.me.rank().filter(|_| waits && self.stands(now));
        if rank.is_some_and(|rank| self.me.members.ahead_of(&rank, None, 1) == 0) {
            self.take_turn(now, None, out);
        }
    }

    fn list_observers(&mut self) {
        let told = |m: &&Member| {
            !m.is_voter()
                && m.id != self.me.id
                && matches!(m.presence, Presence::Up | Presence::Unseen)
        };
        let names: Vec<&AgentId> = self.me.members.iter().filter(told).map(|m| &m.id).collect();
        let same = |known: &Arc<[AgentId]>| known.iter().eq(names.iter().copied());
        if !self.observers.as_ref().is_some_and(same) {
            self.observers = Some(names.into_iter().cloned().collect());
        }
    }
}
