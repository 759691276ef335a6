//! The pace of virtual time for viewers.
//!
//! Decided here: how much virtual time has to pass. It is whole milliseconds, because timers have this resolution; the
//! remainder is kept for later. Time that was lost in a pause or in a long frame is not added later. Not here: how time
//! passes (`play.rs`).

use std::time::{Duration, Instant};

use crate::dashboard::moment::ClockFacts;

#[derive(Clone, Copy, Debug)]
pub(crate) struct StagePace {
    facts: ClockFacts,
    owed: Duration,
}

impl StagePace {
    pub(crate) fn virtual_time(speed: f64) -> Self {
        let mut pace = Self::real_time();
        (pace.facts.is_virtual, pace.facts.speed) = (true, speed);
        pace
    }

    pub(crate) fn real_time() -> Self {
        Self {
            facts: ClockFacts::default(),
            owed: Duration::ZERO,
        }
    }

    pub(crate) const fn is_virtual(&self) -> bool {
        self.facts.is_virtual
    }

    pub(crate) const fn facts(&self) -> ClockFacts {
        self.facts
    }

    pub(crate) fn pause(&mut self, paused: bool) {
        self.facts.paused = paused;
        self.owed = Duration::ZERO;
    }

    pub(crate) fn set_speed(&mut self, speed: f64) {
        self.facts.speed = speed;
    }

    /// Returns the virtual time that is due after this much real time.
    pub(crate) fn due(&mut self, passed: Duration) -> Duration {
        if self.facts.paused {
            return Duration::ZERO;
        }
        let share = passed.min(LONGEST).as_secs_f64() * self.facts.speed;
        self.owed += Duration::try_from_secs_f64(share).unwrap_or_default();
        let rest = Duration::from_nanos(u64::from(self.owed.subsec_nanos() % 1_000_000));
        let due = self.owed.saturating_sub(rest);
        self.owed = rest;
        due
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "people see real time; the agents' own is virtual"
)]
pub(super) fn now() -> Instant {
    Instant::now()
}

/// Longest real time that counts for one frame; on a busy host a frame may take longer.
const LONGEST: Duration = Duration::from_millis(250);

#[cfg(test)]
mod tests {
    use super::*;

    const MS: fn(u64) -> Duration = Duration::from_millis;

    #[test]
    fn a_part_of_a_millisecond_is_kept() {
        let mut pace = StagePace::virtual_time(0.02);
        let due: Vec<_> = (0..4).map(|_| pace.due(MS(25))).collect();
        assert_eq!(due, [MS(0), MS(1), MS(0), MS(1)]);
    }

    #[test]
    fn nothing_is_made_up_for() {
        let mut pace = StagePace::virtual_time(10.0);
        assert_eq!(pace.due(Duration::from_secs(60)), MS(2_500));
        pace.pause(true);
        assert_eq!(pace.due(MS(100)), MS(0));
        pace.pause(false);
        pace.set_speed(1.0);
        assert_eq!(pace.due(MS(7)), MS(7));
        assert_eq!(pace.facts().speed.to_bits(), 1.0_f64.to_bits());
        assert!(!StagePace::real_time().is_virtual());
    }
}
