//! Two small counters over time: the bytes that a peer may send, and the mistakes that are tolerated.

use std::{collections::VecDeque, time::Duration};

use crate::{protocol::Time, remote::Limits};

/// A bucket of bytes that fills steadily: a peer may send in bursts, but not for long.
#[derive(Debug)]
pub(crate) struct Bucket {
    /// Bytes per second.
    rate: u64,
    /// Capacity in billionths of a byte, so that a nanosecond adds a whole number of them.
    size: u128,
    level: u128,
    at: Time,
}

const BILLION: u128 = 1_000_000_000;

impl Bucket {
    pub(crate) fn new(limits: &Limits, now: Time) -> Self {
        let bytes = |bytes: usize| u64::try_from(bytes).unwrap_or(u64::MAX);
        let size = u128::from(bytes(limits.burst())).saturating_mul(BILLION);
        Self {
            rate: bytes(limits.rate()),
            size,
            level: size,
            at: now,
        }
    }

    /// Takes bytes out. Returns whether there were enough.
    pub(crate) fn take(&mut self, now: Time, bytes: usize) -> bool {
        let nanos = now.since(self.at).as_nanos();
        // If a clock goes back, the same time must not fill the bucket twice.
        self.at = self.at.max(now);
        let filled = u128::from(self.rate).saturating_mul(nanos);
        self.level = self.level.saturating_add(filled).min(self.size);
        let bytes = u128::try_from(bytes).unwrap_or(u128::MAX);
        match self.level.checked_sub(bytes.saturating_mul(BILLION)) {
            Some(rest) => {
                self.level = rest;
                true
            }
            None => false,
        }
    }
}

/// A limit for mistakes within a window.
#[derive(Debug)]
pub(super) struct Forgiveness {
    most: usize,
    window: Duration,
    recent: VecDeque<Time>,
}

impl Forgiveness {
    pub(super) fn new(most: usize, window: Duration) -> Self {
        Self {
            most,
            window,
            recent: VecDeque::new(),
        }
    }

    /// Adds a mistake. Returns whether it is tolerated.
    pub(super) fn forgives(&mut self, now: Time) -> bool {
        let (window, recent) = (self.window, &mut self.recent);
        while recent.front().is_some_and(|at| now.since(*at) >= window) {
            recent.pop_front();
        }
        if recent.len() >= self.most {
            // The mistake is not noted, so that the list is never longer than the limit, even if a peer makes many
            // mistakes.
            return false;
        }
        recent.push_back(now);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bucket_fills_as_time_goes_by() {
        let limits = Limits::default();
        let (rate, burst) = (limits.rate(), limits.burst());
        let mut bucket = Bucket::new(&limits, Time::ZERO);
        assert!(bucket.take(Time::ZERO, burst));
        assert!(!bucket.take(Time::ZERO, 1));
        assert!(!bucket.take(Time::from_millis(500), rate / 2 + 1));
        assert!(bucket.take(Time::from_millis(500), rate / 2));
        assert!(bucket.take(Time::from_millis(3_600_000), burst));
        assert!(
            !bucket.take(Time::from_millis(3_600_000), 1),
            "no more than it holds"
        );
        assert!(
            !bucket.take(Time::ZERO, 1),
            "a clock that goes back adds nothing"
        );
    }

    #[test]
    fn as_many_mistakes_as_the_limit_are_forgiven_in_any_window() {
        let mut forgiveness = Forgiveness::new(2, Duration::from_secs(10));
        let at = |seconds: u64| Time::from_millis(seconds * 1_000);
        assert!(forgiveness.forgives(at(0)));
        assert!(forgiveness.forgives(at(9)));
        assert!(!forgiveness.forgives(at(9)));
        assert!(forgiveness.forgives(at(10)), "the first one is forgotten");
        assert!(!forgiveness.forgives(at(18)));
    }
}
