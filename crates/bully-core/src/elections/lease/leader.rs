//! The holder of the lease: how long it considers itself leader, and to which agent it hands the lease over.
//!
//! Decided here: when the lease of a leadership is prolonged, when the leadership ends early, and when it is handed
//! over. Not here: how its end is published ([`machine`](super::machine)).

use std::time::Duration;

use super::{BullyTimer, Out, core::Core};
use crate::protocol::{AgentId, Rank, Score, Term, Time};
use crate::{
    elections::message::record::LeaseRecord,
    parts::{Due, Handover},
};

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Leading {
    pub term: Term,
    /// The score with which this agent leads. A leader that lost its own score keeps this score while its work ends.
    pub score: Score,
    /// Time until which the agent considers itself leader without another answer of the store.
    pub until: Time,
    /// The number of the last applied attempt. An answer to an earlier question is out of date.
    applied: u64,
    /// The time at which the leader hands over to an agent that claims the lease; `None` without such an agent.
    pub takeover_at: Option<Time>,
    pub leaving: Option<Leaving>,
}

/// A leadership that is being handed over.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Leaving {
    handover: Handover,
    pub cooldown: Duration,
}

/// The meaning of a record for a leader.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shows {
    /// The agent itself is the holder, by one of its attempts.
    Me,
    /// No record, or a record from before this leadership: the record was deleted, or the store went back to a backup.
    Past,
    /// The record belongs to another leadership.
    Another,
}

impl Leading {
    pub(super) fn new(term: Term, score: Score, until: Time, applied: u64) -> Self {
        Self {
            term,
            score,
            until,
            applied,
            takeover_at: None,
            leaving: None,
        }
    }

    pub(super) fn has_lease(&self, now: Time) -> bool {
        now < self.until
    }

    pub(super) fn renew(&self, core: &mut Core, now: Time, out: &mut Out) {
        core.hold(now, self.term, self.score, out);
    }

    /// Prolongs the lease, counted from `sent`: the store applied the attempt `request`, so no other agent took it before.
    pub(super) fn prolong(&mut self, core: &Core, request: u64, sent: Time) {
        self.until = self.until.max(core.lease_from(sent));
        self.applied = self.applied.max(request);
    }

    /// Returns whether this answer, or a report without a question, may be older than the last applied renewal.
    pub(super) fn is_late(&self, request: Option<u64>) -> bool {
        request.is_none_or(|request| request < self.applied)
    }

    pub(super) fn shows(&self, record: Option<&LeaseRecord>, core: &Core) -> Shows {
        let Some(record) = record else {
            return Shows::Past;
        };
        let is_own = record.nonce.id == core.me.id
            && record.nonce.incarnation == core.me.incarnation
            && record.holder.is_some();
        if is_own && record.term == self.term {
            Shows::Me
        } else if record.term < self.term {
            // No agent writes an earlier term while this lease lasts, so the record is from the past (rule
            // `write-over-the-past`).
            Shows::Past
        } else {
            Shows::Another
        }
    }

    /// Orders the application to end its work, unless it already has this order.
    pub(super) fn drain(
        &mut self,
        core: &Core,
        now: Time,
        to: Option<AgentId>,
        cooldown: Duration,
        out: &mut Out,
    ) {
        let limit = core.config.drain();
        let handover = Handover::begin(now, self.term, to, limit, BullyTimer::Drain, out);
        self.leaving = Some(Leaving { handover, cooldown });
    }

    /// Returns the agent to hand over to (rule `released-for-whom-it-names`). The result is `wanted`, unless this
    /// process knows that `wanted` cannot lead. A fresh claim of `wanted` shows that it can lead, even if its link to
    /// this process is broken. Otherwise, the result is the highest-ranked agent among the members of this process, the
    /// agent that claims the lease, and the agent that the store lists.
    pub(super) fn successor(core: &Core, now: Time, wanted: Option<AgentId>) -> Option<AgentId> {
        let may = |wanted: &AgentId| {
            let is_elsewhere = *wanted != core.me.id && core.me.members.get(wanted).is_none();
            is_elsewhere || core.me.can_succeed(wanted) || core.is_claimed_by(now, wanted)
        };
        if let Some(wanted) = wanted.filter(may) {
            return Some(wanted);
        }
        let claimant = core.claims.claimant(now, &core.me.id, &core.config);
        let claimant = claimant.map(|(nonce, score)| Rank {
            score,
            id: nonce.id.clone(),
        });
        let known = core.me.successor(None);
        let known = known.and_then(|id| core.me.members.get(&id)?.rank());
        // The store's list counts only for agents of other processes: this process knows more about its own members.
        let is_no_member = |rank: &&Rank| core.me.members.get(&rank.id).is_none();
        let listed = core.contender.as_ref().filter(is_no_member).cloned();
        claimant.max(known).max(listed).map(|rank| rank.id)
    }

    /// Hands over to the agent that claims the lease, when the policy allows it (rule `heed-the-claim`).
    pub(super) fn heed(&mut self, core: &Core, now: Time, out: &mut Out) {
        let heeded = core
            .claims
            .heeded(now, (self.score, &core.me.id), &core.config);
        self.takeover_at = heeded.as_ref().map(|(_, due)| *due);
        if let Some((to, due)) = heeded
            && due <= now
            && self.leaving.is_none()
        {
            self.drain(core, now, Some(to), Duration::ZERO, out);
        }
    }

    /// Returns whether the time for the work has ended. If it has not ended, sets the timer to the remaining time.
    pub(super) fn has_drained(&self, now: Time, out: &mut Out) -> bool {
        let leaving = self.leaving.as_ref();
        leaving
            .is_some_and(|leaving| leaving.handover.on_due(now, BullyTimer::Drain, out) == Due::Now)
    }

    pub(super) fn chosen(&self) -> Option<AgentId> {
        self.leaving.as_ref()?.handover.to.clone()
    }
}
