//! `lowest-clock`: the wall clocks of the other voters, as far as they are known to be apart from this agent's.
//!
//! A voter says the term by its clock when it consents, when it answers a voter that recovers, and when it refuses a
//! claim for the sake of its clock. A clock that differs by up to 10 s is right enough, and is not kept. A voter that says a
//! false time lowers the terms to the counted ones, and no further.
//!
//! Not here: the use of the lowest clock ([`term`](super::term), [`recovery`](super::recovery)).

use std::{collections::BTreeMap, time::Duration};

use super::term::AHEAD;
use crate::elections::{
    message::{ClaimReply, QuorumMessage},
    quorum::{Out, SenderIncarnation, core::Core},
};
use crate::protocol::{AgentId, ClockGap, Incarnation, Term, Time};

/// The voters whose clocks are more than 10 s apart from this agent's: the incarnation that read its clock, and by how many
/// milliseconds that one is ahead.
pub(in crate::elections::quorum) type ClocksApart = BTreeMap<AgentId, (Incarnation, i64)>;

impl Core {
    /// The term by this agent's wall clock, for others; `None` with a disk.
    pub(in crate::elections::quorum) fn clock(&self, now: Time) -> Option<Term> {
        let own = self.config.diskless();
        own.map(|_| self.config.clock_term(now))
    }

    /// A voter has said the term by its clock, in answer to a question that ends at `due`: late answers say nothing of a
    /// clock.
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

    /// Forgets that voter's clock, unless that incarnation has said it.
    pub(super) fn forget_clock(&mut self, of: &AgentId, but: Option<Incarnation>) {
        if let Some(apart) = &mut self.apart {
            apart.retain(|id, (of_whom, _)| id != of || Some(*of_whom) == but);
            self.apart.take_if(|apart| apart.is_empty());
        }
    }

    /// The term by the clocks: no higher than this agent's own, nor than the lowest that is known and 10 s.
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

    /// The clock that is furthest from this agent's, if any is too far.
    pub(in crate::elections::quorum) fn clock_gap(&self) -> Option<ClockGap> {
        let apart = self.apart.iter().flat_map(|apart| apart.iter());
        let (voter, (_, ahead)) = apart.max_by_key(|(_, (_, ahead))| ahead.unsigned_abs())?;
        Some(ClockGap {
            voter: voter.clone(),
            is_ahead: *ahead > 0,
            by: Duration::from_millis(ahead.unsigned_abs()),
        })
    }

    /// `refuse-by-the-clock`: a claim that is too far ahead is refused, and its candidate hears the clock.
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
            let refusal = claim.refusal(sender, self.voter.record.term);
            let clock = Some(clock);
            out.send(sender.0, ClaimReply { clock, ..refusal });
        }
    }
}
