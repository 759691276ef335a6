//! Announcements of a leader and changes of the members, which an agent handles in any role.
//!
//! Decided here: which announcements an agent follows (rule `one-leader-per-term`), and which end of a leader releases
//! it from its promise (`only-confirmed-end-voids`).

use std::sync::Arc;

use tracing::error;

use super::{
    Out, QuorumBully, SenderIncarnation,
    core::Core,
    follower::{Following, TimedAnnouncement},
    state::{Certainty, Next, Predecessor, State},
    voter::Promise,
};
use crate::protocol::{AgentId, Incarnation, Leader, Members, Term, Time};

impl QuorumBully {
    /// Handles `Elected` and `Heartbeat`: another agent leads, in this term or in a later term.
    pub(super) fn on_announcement(
        &mut self,
        now: Time,
        from: &AgentId,
        incarnation: Incarnation,
        said: Option<TimedAnnouncement>,
        out: &mut Out,
    ) {
        let Some(said) = said else {
            return self.ignore("a message of the available mode");
        };
        let term = self.core.voter.record.term;
        let following = self.state.following();
        let goes_on =
            following.is_some_and(|f| f.goes_on(&self.core, from, incarnation, said.term));
        if said.term < term && !goes_on {
            if self.core.me.is_voter() {
                Core::refuse((from, incarnation), said.term, term, out);
            } else if following.is_none() {
                self.core.say_followed(from, term, out);
            }
            return self.ignore("an older announcement");
        }
        // An announcement that was sent before the `Resign` must no longer bind this voter.
        if self.core.voter.has_resigned(from, incarnation, said.term) {
            return self.ignore("that leadership was resigned");
        }
        if self.has_another(from, incarnation, said.term) {
            return self.refuse_another((from, incarnation), said.term, out);
        }
        let voter = &self.core.voter;
        if voter.is_bound_elsewhere(&self.core.config, now, from, incarnation) {
            return self.ignore("a promise to another incarnation");
        }
        if self
            .core
            .is_sealed_against(now, (from, incarnation), said.term, out)
        {
            return self.ignore("it has sealed that term");
        }
        self.core.learn_score(from, Some(said.score));
        let known = self.state.following();
        match known {
            Some(known) => known.stop_asking(out),
            // The former role ends first: `Lost` must come before the record of the new term and before any message.
            None => self.state.leave(&mut self.core, out),
        }
        let leader = Leader {
            id: from.clone(),
            incarnation,
            term: said.term,
        };
        self.core.keep_store(now, (from, incarnation));
        let following = Following::begin(&mut self.core, now, known, leader, said, out);
        self.core
            .acknowledge(now, &following.leader, said.sent_at, out);
        self.state = State::Following(following);
    }
}

impl QuorumBully {
    /// Returns whether this voter follows another leader than `from` in the term `term`, or leads in it (rule
    /// `one-leader-per-term`).
    fn has_another(&self, from: &AgentId, incarnation: Incarnation, term: Term) -> bool {
        let core = &self.core;
        if !core.me.is_voter() {
            return false;
        }
        match self.state.following() {
            Some(Following { leader, .. }) => {
                leader.term == term && (leader.id != *from || leader.incarnation != incarnation)
            }
            None => matches!(&self.state, State::Leading(leading) if leading.term == term),
        }
    }

    /// Reports to a second leader of a term that this term already has a leader.
    fn refuse_another(
        &self,
        (from, incarnation): SenderIncarnation<'_>,
        term: Term,
        out: &mut Out,
    ) {
        Core::refuse((from, incarnation), term, term, out);
        // Without disks this is not an error: voters may have forgotten terms, so a term may get two leaders.
        if self.core.config.diskless().is_none() {
            error!(target: "actix_bully", node = %self.core.me.id, %from, %term, "two agents lead in one term");
        }
        self.ignore("another agent leads in that term");
    }

    /// Handles a new snapshot. Only the confirmed end of exactly the incarnation that holds this voter's promise makes
    /// the promise void: then the leadership is revoked, and no agent need wait for the end of its lease. A suspicion
    /// makes no promise void. A snapshot cannot change the voters, because the configuration contains their list (rules
    /// `only-confirmed-end-voids` and `bound-to-one-incarnation`).
    pub(super) fn on_members(&mut self, now: Time, members: Arc<Members>, out: &mut Out) {
        self.core.meet(members);
        self.core.recall_from_new(now, out);
        self.check_stores(now, out);
        if let Some((id, incarnation)) = self.ended_leader() {
            let is_its = |p: &mut Promise| p.holder == id && p.incarnation == incarnation;
            self.core.voter.promise.take_if(is_its);
            let next = match &self.state {
                State::Following(following)
                    if following.leader.id == id && following.leader.incarnation == incarnation =>
                {
                    following.end(&mut self.core, Certainty::Confirmed, out)
                }
                State::Vacant(_) => {
                    Next::own_slot(Some(Predecessor::new(id, Certainty::Confirmed)))
                }
                State::Following(_)
                | State::Asking(_)
                | State::Claiming(_)
                | State::Sealing(_)
                | State::Telling(_)
                | State::Leading(_) => Next::Stay,
            };
            self.proceed(now, next, out);
        } else if let State::Following(following) = &self.state
            && self.core.is_replaced(&following.leader)
        {
            // This agent stops following the leader. The promise to the leader still holds, because the leader's end is
            // not confirmed.
            let next = following.end(&mut self.core, Certainty::Suspected, out);
            self.proceed(now, next, out);
        }
        if let State::Asking(asking) = &mut self.state {
            let next = asking.decide(&self.core, now); // because a candidate does not wait for a voter that is down
            self.proceed(now, next, out);
        }
    }

    /// Returns the agent whose confirmed end releases this agent: the holder of its promise, or the leader that it
    /// follows. Returns `None` if neither has ended.
    fn ended_leader(&self) -> Option<(AgentId, Incarnation)> {
        let promise = self.core.voter.promise.as_ref();
        let promised = promise.map(|p| (&p.holder, p.incarnation));
        let followed = self.state.following();
        let followed = followed.map(|f| (&f.leader.id, f.leader.incarnation));
        [promised, followed]
            .into_iter()
            .flatten()
            .find(|(id, incarnation)| self.core.has_ended(id, *incarnation))
            .map(|(id, incarnation)| (id.clone(), incarnation))
    }
}
