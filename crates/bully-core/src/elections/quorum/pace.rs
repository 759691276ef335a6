//! The length of a round: E, or longer after answers that came too late.
//!
//! Decided here: when rounds get longer (rule `longer-after-late-answer`). If a voter's disk or network is slower than
//! the timings assume, each round may end before its answers come. If an answer arrives after the end of its round of
//! questions, the next round is twice as long, up to T. A round causes at most one doubling. After a minute under one
//! leader a round takes E again.
//!
//! Votes of voters without disks expire after E ([`diskless`](super::diskless)), so only their questions get more time.
//!
//! Not here: the next step of a candidate whose round has ended ([`candidate`](super::candidate)).

use std::time::Duration;

use super::core::Core;
use crate::protocol::{Round, Term};

/// Time for which one agent must have led before rounds have their configured length E again. Chosen: with a second,
/// the next election loses its first rounds again; with hours, elections stay slow after a repair.
const CALM: Duration = Duration::from_secs(60);

/// The length of an agent's rounds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct RoundPace {
    doublings: u8,
    /// Whether rounds were made longer since the last round of questions began.
    has_doubled: bool,
    /// The last round of questions that ended without success; `None` if no such round ended since an agent led.
    ran_out: Option<u64>,
}

impl Core {
    /// Returns the length of a round: E, doubled after late answers, but at most the deadline T.
    fn round(&self) -> Duration {
        let timings = &self.config.timings;
        let doubled = timings.round().saturating_mul(
            1_u32
                .checked_shl(self.pace.doublings.into())
                .unwrap_or(u32::MAX),
        );
        doubled.min(timings.deadline().max(timings.round()))
    }

    pub(super) fn begin_questions(&mut self) -> Duration {
        self.pace.has_doubled = false;
        self.round()
    }

    /// Returns the time to wait for the answers to a claim, or to the announcement after it.
    pub(super) fn claim_round(&self) -> Duration {
        match self.config.diskless() {
            None => self.round(),
            // Votes without disks expire after the configured round E, so a longer wait would be useless.
            Some(_) => self.config.timings.round(),
        }
    }

    /// Notes that the present round of questions has ended without success.
    pub(super) const fn note_unanswered(&mut self) {
        self.pace.ran_out = Some(self.rounds);
    }

    /// Notes an answer to the round `to`, from an agent that has seen `seen` (rule `longer-after-late-answer`).
    pub(super) fn hear_reply(&mut self, seen: Term, to: Round) {
        self.voter.hear(seen);
        let is_late = self.pace.ran_out >= Some(to.counter) && !self.pace.has_doubled;
        let may_double = self.round() < self.config.timings.deadline();
        if is_late && may_double {
            self.pace.has_doubled = true;
            self.pace.doublings = self.pace.doublings.saturating_add(1);
        }
    }

    /// Gives rounds their usual length E again, if one agent has led for a minute.
    pub(super) fn calm_down(&mut self, led_for: Duration) {
        if led_for >= CALM {
            self.pace = RoundPace::default();
        }
    }

    /// Forgets the rounds and the claim that ended without success before an agent led.
    pub(super) fn end_rounds(&mut self) {
        self.pace.ran_out = None;
        self.open_claim = None;
    }
}
