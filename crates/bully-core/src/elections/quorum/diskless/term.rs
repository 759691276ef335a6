//! Terms by the clock, which remain when a majority has forgotten the counted terms.
//!
//! Decided here: the term of a claim, and which terms are too far ahead to be true. The term of an announcement is not
//! checked, because a quorum voted for it. The terms that other voters remember are not checked either: a voter that
//! knows nothing cannot judge them.
//!
//! Not here: how this agent learns the other voters' clocks ([`clocks`](super::clocks)).

use std::time::Duration;

use super::{Diskless, RULES, YEAR_2024};
use crate::elections::{
    message::QuorumMessage,
    quorum::{
        QuorumConfig,
        core::Core,
        epoch::{TERMS, first_term},
    },
};
use crate::protocol::{Term, Time};

/// Longest time by which another agent's clock may be ahead of this agent's clock. Chosen: a larger value lets a wrong
/// clock raise the terms further; with a smaller one, voters refuse more honest claims (rule `no-term-ahead`).
pub(super) const AHEAD: Duration = Duration::from_secs(10);

/// Returns the highest term that other agents may use, for a wall clock that shows `wall` milliseconds since the
/// start of 1970. Returns `None` for rules whose terms are only counted.
pub fn latest_term(rules: &str, epoch: u64, wall: u64) -> Option<Term> {
    let since = wall.saturating_sub(YEAR_2024.unsigned_abs());
    let ahead = u64::try_from(AHEAD.as_millis()).unwrap_or(u64::MAX);
    let latest = since.saturating_add(ahead).min(TERMS);
    let is_ours = rules == RULES.name();
    is_ours.then(|| Term(first_term(epoch).0.saturating_add(latest)))
}

impl QuorumConfig {
    /// Returns the term by the wall clock; with a disk, the first term of the epoch.
    pub(super) fn clock_term(&self, now: Time) -> Term {
        match self.diskless() {
            Some(own) => Term(self.first_term().0 + own.wall(now).min(TERMS)),
            None => self.first_term(),
        }
    }
}

impl Core {
    /// Returns the term to claim, above the term `seen`; `None` if the epoch has no such term. With a disk it is the
    /// next term. Without a disk it is at least the term by the clocks (rule `term-by-the-clock`).
    pub(in crate::elections::quorum) fn next_term(&self, now: Time, seen: Term) -> Option<Term> {
        let counted = self.config.term_above(seen)?;
        Some(self.by_the_clocks(now, counted))
    }

    /// Returns the given term, or the term by the clocks if that is higher.
    pub(in crate::elections::quorum) fn by_the_clocks(&self, now: Time, term: Term) -> Term {
        term.max(self.clocks_term(now))
    }

    /// Returns whether a message contains a term that no member can have reached.
    pub(in crate::elections::quorum) fn is_beyond(
        &self,
        now: Time,
        message: &QuorumMessage,
    ) -> bool {
        let (config, seen, term) = (&self.config, self.voter.seen, message.term());
        // An agent that adopted such a term would use up the numbers of this epoch.
        if term > config.last_term() {
            return true;
        }
        let next = seen.next().unwrap_or(seen);
        config.diskless().is_some()
            && !is_vouched_for(message)
            && term > next.max(config.clock_term(now.after(AHEAD)))
    }
}

impl Diskless {
    /// Returns the wall clock in milliseconds since the start of 2024, as this agent's own clock has counted it since
    /// the reading; 0 before 2024.
    fn wall(&self, now: Time) -> u64 {
        let passed = now.as_nanos() / 1_000_000;
        passed.saturating_add_signed(self.wall_at_zero)
    }
}

/// Returns whether the term of a message is accepted without a check against the clock.
const fn is_vouched_for(message: &QuorumMessage) -> bool {
    match message {
        // A quorum has voted for the terms of these messages.
        QuorumMessage::Elected(_)
        | QuorumMessage::Heartbeat(_)
        | QuorumMessage::Resign(_)
        | QuorumMessage::Ack(_)
        | QuorumMessage::Takeover(_)
        // A voter that asks for memory knows nothing with which it could check the term.
        | QuorumMessage::Recover(_)
        | QuorumMessage::Recovered(_)
        | QuorumMessage::Recall(_)
        | QuorumMessage::Recalled(_)
        // Voters without disks do not send these messages.
        | QuorumMessage::Seal(_)
        | QuorumMessage::Sealed(_)
        | QuorumMessage::Install(_)
        | QuorumMessage::AskChange(_)
        | QuorumMessage::Enlist(_)
        | QuorumMessage::ChangeAnswer(_) => true,
        QuorumMessage::Elect(_)
        | QuorumMessage::Behind(_)
        | QuorumMessage::Ok(_)
        | QuorumMessage::Yield(_)
        | QuorumMessage::Claim(_)
        | QuorumMessage::ClaimReply(_)
        | QuorumMessage::Nack(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bridge_measures_terms_by_the_same_clock_as_the_voters() {
        let wall = YEAR_2024.unsigned_abs() + 5_000;
        let latest = |rules, epoch, wall| latest_term(rules, epoch, wall);
        let of = |term| Some(Term(term));
        assert_eq!(latest("quorum-diskless", 0, wall), of(15_000));
        assert_eq!(latest("quorum-diskless", 1, wall), of((1 << 40) + 15_000));
        assert_eq!(latest("quorum-diskless", 0, 7), of(10_000), "before 2024");
        assert_eq!(latest("quorum-diskless", 0, u64::MAX), of(TERMS));
        assert_eq!(latest("quorum", 0, wall), None);
        assert_eq!(latest("available", 0, wall), None);
    }
}
