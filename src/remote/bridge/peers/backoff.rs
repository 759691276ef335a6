//! The wait before the next attempt: exponential, with full jitter.
//!
//! With full jitter, the wait is a random time from zero up to its limit. If many nodes lose the same peer at the same
//! moment, this spreads their attempts over the whole time.

use std::time::Duration;

use crate::remote::Limits;

/// The bounds of the waits between attempts to reach a peer.
///
/// The k-th wait is a random time from 0 up to `base × 2^k`, at most `max`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Backoff {
    /// Longest first wait.
    pub(crate) base: Duration,
    /// Longest of all waits.
    pub(crate) max: Duration,
}

impl Backoff {
    /// Shortest wait after a side has broken a rule.
    pub(super) const PENALTY_MIN: Duration = Duration::from_secs(1);
    /// Longest wait after a side has broken many rules.
    pub(super) const PENALTY_MAX: Duration = Duration::from_secs(60);

    pub(crate) fn of(limits: &Limits) -> Self {
        Self {
            base: limits.dial_min(),
            max: limits.dial_max(),
        }
    }

    /// Returns the longest wait after this number of failures in a row.
    pub(super) fn longest(self, failures: u32) -> Duration {
        let factor = 1u32.checked_shl(failures).unwrap_or(u32::MAX);
        self.base.saturating_mul(factor).min(self.max)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_double_up_to_the_longest_and_never_overflow() {
        let backoff = Backoff::of(&Limits::default());
        let longest: Vec<_> = (0..9).map(|k| backoff.longest(k).as_millis()).collect();
        assert_eq!(
            longest,
            [100, 200, 400, 800, 1_600, 3_200, 6_400, 10_000, 10_000]
        );
        assert_eq!(backoff.longest(u32::MAX), backoff.max);
    }
}
