//! The length of a round (rule `adapt-the-round`), which grows while answers are late, up to the cap, and shrinks again
//! later.
//!
//! By the original rules, every late answer adds Δ for ever. So one slow voter makes the detection of a dead leader
//! slow for ever.

use std::time::Duration;

/// The present length of a round.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Pace {
    now: Duration,
    /// Number of rounds without a late answer since the length changed last.
    clean: u32,
    /// Whether an answer came late in this round.
    late: bool,
}

impl Pace {
    pub(super) const fn new(round: Duration) -> Self {
        Self {
            now: round,
            clean: 0,
            late: false,
        }
    }

    /// Notes that a late answer (to an earlier round) came in this round. Several late answers in a round count once.
    pub(super) fn is_late(&mut self) {
        self.late = true;
    }

    /// Sets the length of the next round, after a round has ended by its timer.
    pub(super) fn next(&mut self, step: Duration, cap: Duration) {
        if std::mem::take(&mut self.late) {
            self.now = self.now.saturating_add(step).min(cap);
            self.clean = 0;
            return;
        }
        self.clean = self.clean.saturating_add(1);
        if self.clean >= CLEAN {
            self.now = self.now.saturating_sub(step).max(step);
            self.clean = 0;
        }
    }

    pub(super) const fn span(self) -> Duration {
        self.now
    }
}

/// Number of rounds without a late answer after which rounds become shorter. With eight, a voter that is always slow is
/// late in one round of nine: the first round after each shortening.
pub(super) const CLEAN: u32 = 8;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_grows_once_a_round_up_to_the_cap_and_decays() {
        let ms = Duration::from_millis;
        let (step, cap) = (ms(10), ms(25));
        let mut pace = Pace::new(step);
        for expected in [20, 25, 25] {
            for _ in 0..9 {
                pace.is_late();
            }
            pace.next(step, cap);
            assert_eq!(pace.span(), ms(expected));
        }
        for expected in [15, 10, 10] {
            for _ in 1..CLEAN {
                pace.next(step, cap);
            }
            pace.next(step, cap);
            assert_eq!(pace.span(), ms(expected));
        }
    }
}
