//! Terms by the clock: what is left of them when a majority has forgotten.
//!
//! Decided here: which term a claim is for, and which terms are too far ahead to be true. An announcement
//! is not measured: a quorum voted for it. Nor is what others remember: a voter that knows nothing has no measure.

use std::time::Duration;

use super::{Defect, Diskless};
use crate::elections::{
    message::BullyMessage,
    quorum::{QuorumConfig, core::Core, epoch::TERMS},
};
use crate::protocol::{Term, Time};

/// `no-term-ahead`: so far ahead of this agent's clock another's may be.
const AHEAD: Duration = Duration::from_secs(10);

impl QuorumConfig {
    /// The term to claim, above those seen; with a disk the next one. `term-by-the-clock`: without one, what
    /// the clock says if that is more.
    pub(in crate::elections::quorum) fn next_term(&self, now: Time, seen: Term) -> Option<Term> {
        let counted = self.term_above(seen)?;
        Some(counted.max(self.clock_term(now)))
    }

    /// The term that the wall clock says; before all others with a disk.
    pub(super) fn clock_term(&self, now: Time) -> Term {
        match self.diskless() {
            Some(own) if !own.has(Defect::CountedTerms) => {
                Term(self.first_term().0 + own.wall(now).min(TERMS))
            }
            Some(_) | None => self.first_term(),
        }
    }
}

impl Core {
    /// Whether such a message names a term that no member can know.
    pub(in crate::elections::quorum) fn is_beyond(
        &self,
        now: Time,
        message: &BullyMessage,
    ) -> bool {
        let (config, seen, term) = (&self.config, self.voter.seen, message.term());
        // To adopt it would use up the numbers of this epoch.
        if term > config.last_term() {
            return true;
        }
        let is_free = config.diskless().is_none() || config.forgoes(Defect::AnyTerm);
        let next = seen.next().unwrap_or(seen);
        !is_free && !is_vouched_for(message) && term > next.max(config.clock_term(now.after(AHEAD)))
    }
}

impl Diskless {
    /// The wall clock, as this agent's own clock has counted it since it was read.
    fn wall(&self, now: Time) -> u64 {
        self.wall_at_zero.saturating_add(now.as_nanos() / 1_000_000)
    }
}

/// Whether a term is more than hearsay.
const fn is_vouched_for(message: &BullyMessage) -> bool {
    match message {
        // A quorum has voted for these.
        BullyMessage::Elected(_)
        | BullyMessage::Heartbeat(_)
        | BullyMessage::Resign(_)
        | BullyMessage::Ack(_)
        | BullyMessage::Takeover(_)
        // Who recovers asks because it knows nothing.
        | BullyMessage::Recover(_)
        | BullyMessage::Recovered(_) => true,
        BullyMessage::Elect(_)
        | BullyMessage::Ok(_)
        | BullyMessage::Yield(_)
        | BullyMessage::Claim(_)
        | BullyMessage::ClaimReply(_)
        | BullyMessage::Nack(_) => false,
    }
}
