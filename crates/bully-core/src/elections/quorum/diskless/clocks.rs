//! The wall clocks of the other voters that differ from this agent's clock (rule `lowest-clock`).
//!
//! Decided here: which clocks are kept, and the term by the clocks. A voter reports the term by its clock when it
//! consents, when it answers a voter that recovers, and when it refuses a claim because of its clock. A clock that
//! differs by up to 10 s counts as correct, and is not kept. A voter that reports a wrong time cannot lower the terms
//! below the terms that the voters have counted.
//!
//! Not here: the use of the lowest clock ([`term`](super::term), [`recovery`](super::recovery)).

use std::{collections::BTreeMap, time::Duration};

use super::term::AHEAD;
use crate::elections::{
    message::QuorumMessage,
    quorum::{Out, SenderIncarnation, core::Core},
};
use crate::protocol::{AgentId, ClockGap, Incarnation, Term, Time};

/// The voters whose clocks differ by more than 10 s from this agent's clock. Each entry has the incarnation that read
/// the clock, and the lead of the voter's clock in milliseconds; the number is negative if the voter's clock is behind.
pub(in crate::elections::quorum) type ClocksApart = BTreeMap<AgentId, (Incarnation, i64)>;

impl Core {
    /// Returns the term by this agent's wall clock, for messages to other agents; `None` with a disk.
    pub(in crate::elections::quorum) fn clock(&self, now: Time) -> Option<Term> {
        let own = self.config.diskless();
        own.map(|_| self.config.clock_term(now))
    }

    /// Notes the term by a voter's clock, from the answer to a question whose time ends at `due`. A late answer does
    /// not count, because its clock was read too long ago.
    pub(in crate::elections::quorum) fn hear_clock(
        &mut self,
        now: Time,
        due: Time,
        (from, incarnation): SenderIncarnation<'_>,
        said: Option<Term>,
    ) {
        let (Some(theirs), Some(own)) = (said, self.clock(now)) else {
            return;
        };
        if now >= due {
            return;
        }
        let ahead = i64::try_from(i128::from(theirs.0) - i128::from(own.0));
        let ahead = ahead.unwrap_or(if theirs < own { i64::MIN } else { i64::MAX });
        if Duration::from_millis(ahead.unsigned_abs()) > AHEAD {
            let apart = self.apart.get_or_insert_default();
            apart.insert(from.clone(), (incarnation, ahead));
        } else {
            self.forget_clock(from, None);
        }
    }

    /// Forgets this voter's clock, unless exactly the incarnation `but` reported it.
    pub(super) fn forget_clock(&mut self, of: &AgentId, but: Option<Incarnation>) {
        if let Some(apart) = &mut self.apart {
            apart.retain(|id, (of_whom, _)| id != of || Some(*of_whom) == but);
            self.apart.take_if(|apart| apart.is_empty());
        }
    }

    /// Returns the term by the clocks: the term by this agent's own clock, but at most 10 s above the lowest known
    /// clock.
    pub(super) fn clocks_term(&self, now: Time) -> Term {
        let own = self.config.clock_term(now);
        let apart = self.apart.iter().flat_map(|apart| apart.values());
        let apart = apart.map(|(_, ahead)| ahead);
        let Some(lowest) = apart.min().filter(|lowest| **lowest < 0) else {
            return own;
        };
        let behind = Duration::from_millis(lowest.unsigned_abs()).saturating_sub(AHEAD);
        let behind = u64::try_from(behind.as_millis()).unwrap_or(u64::MAX);
        Term(own.0.saturating_sub(behind)).max(self.config.first_term())
    }

    /// Returns the clock that differs most from this agent's clock, if a clock differs by more than 10 s.
    pub(in crate::elections::quorum) fn clock_gap(&self) -> Option<ClockGap> {
        let apart = self.apart.iter().flat_map(|apart| apart.iter());
        let (voter, (_, ahead)) = apart.max_by_key(|(_, (_, ahead))| ahead.unsigned_abs())?;
        Some(ClockGap {
            voter: voter.clone(),
            is_ahead: *ahead > 0,
            by: Duration::from_millis(ahead.unsigned_abs()),
        })
    }

    /// Refuses a claim too far ahead of this voter's clock, and reports that clock (rule `refuse-by-the-clock`).
    pub(in crate::elections::quorum) fn refuse_by_clock(
        &self,
        now: Time,
        sender: SenderIncarnation<'_>,
        message: &QuorumMessage,
        out: &mut Out,
    ) {
        if let QuorumMessage::Claim(claim) = message
            && let Some(clock) = self.clock(now)
            && self.me.is_voter()
        {
            let refusal = claim.refusal(self, sender, Duration::ZERO, Some(clock));
            out.send(sender.0, refusal);
        }
    }
}
