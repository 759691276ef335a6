//! The pace of writing: no peer has to close a link because this side is too fast.
//!
//! Decided here: a writer stays below the [rate](Limits::rate) and the [burst](Limits::burst) that the peer announced,
//! and below the rate and the burst of this side's own limits.
//!
//! The writer stays below the rate by an eighth, because the two clocks may differ. The writer uses half of the burst,
//! so that bytes that were delayed for a second may arrive at once.

use std::time::Duration;

use crate::protocol::Time;

use crate::remote::{Limits, wire::Allowance};

/// The time at which the next bytes of one link may be written.
#[derive(Debug)]
pub(crate) struct WritePace {
    rate: u64,
    /// Time by which the writer may be ahead of the rate.
    ahead: Duration,
    /// Time at which all bytes so far would have been written at this rate.
    due: Time,
}

impl WritePace {
    /// Returns the pace for a peer with this allowance.
    pub(crate) fn new(limits: &Limits, theirs: Allowance, now: Time) -> Self {
        let Allowance { rate, burst, .. } = Allowance::of(limits).and(theirs);
        let (rate, burst) = (below(rate), burst.checked_div(2).unwrap_or_default());
        Self {
            rate,
            ahead: span(usize::try_from(burst).unwrap_or(usize::MAX), rate),
            due: now,
        }
    }

    /// Adds bytes that are to be written. Returns the wait before they are written.
    pub(crate) fn take(&mut self, now: Time, bytes: usize) -> Duration {
        // Idle time does not count as saved time: after an idle time a peer still accepts only its burst at once.
        self.due = self.due.max(now).after(span(bytes, self.rate));
        self.due.since(now).saturating_sub(self.ahead)
    }
}

/// Returns the number of bytes that are written within a span towards a peer with this allowance.
pub(crate) fn within(limits: &Limits, theirs: Allowance, span: Duration) -> usize {
    let rate = below(Allowance::of(limits).and(theirs).rate);
    let bytes = u128::from(rate).saturating_mul(span.as_nanos());
    let bytes = bytes.checked_div(BILLION).unwrap_or_default();
    usize::try_from(bytes).unwrap_or(usize::MAX)
}

/// Returns the rate less an eighth, in bytes per second.
fn below(rate: u64) -> u64 {
    rate.saturating_sub(rate.checked_div(8).unwrap_or_default())
}

/// Returns the time that these bytes take, rounded up.
fn span(bytes: usize, rate: u64) -> Duration {
    let bytes = u128::try_from(bytes).unwrap_or(u128::MAX);
    let nanos = bytes
        .saturating_mul(BILLION)
        .div_ceil(u128::from(rate.max(1)));
    Duration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX))
}

const BILLION: u128 = 1_000_000_000;

#[cfg(test)]
mod tests {
    use fastrand::Rng;

    use super::*;
    use crate::remote::link::inbound::Bucket;

    fn ms(millis: u64) -> Duration {
        Duration::from_millis(millis)
    }

    /// A request for too much waits as long as the bytes take, and no longer.
    #[test]
    fn a_burst_is_free_and_then_every_byte_takes_its_time() {
        let limits = Limits::default();
        let mut pace = WritePace::new(&limits, Allowance::of(&limits), Time::ZERO);
        assert_eq!(pace.take(Time::ZERO, limits.burst() / 2), Duration::ZERO);
        let rate = limits.rate() / 8 * 7;
        assert_eq!(pace.take(Time::ZERO, rate), ms(1_000));
        assert_eq!(pace.take(Time::from_millis(1_000), rate / 2), ms(500));
        let later = Time::from_millis(3_600_000);
        assert_eq!(pace.take(later, limits.burst() / 2), Duration::ZERO);
        assert!(
            pace.take(later, 1_000) > Duration::ZERO,
            "no more than that"
        );
        assert_eq!(within(&limits, Allowance::of(&limits), ms(500)), rate / 2);
    }

    #[test]
    fn nothing_overflows() {
        let most = Limits::builder().rate(1 << 30).burst(1 << 30);
        for limits in [Limits::default(), most.build().unwrap()] {
            let mut pace = WritePace::new(&limits, Allowance::of(&limits), Time::MAX);
            assert_eq!(pace.take(Time::MAX, usize::MAX), Duration::ZERO);
            let mut pace = WritePace::new(&limits, Allowance::of(&limits), Time::ZERO);
            assert!(pace.take(Time::ZERO, usize::MAX) > Duration::from_secs(1_000));
            assert!(within(&limits, Allowance::of(&limits), Duration::MAX) > limits.rate());
        }
    }

    /// The peer's own count, for any traffic, although the network holds bytes up to a second.
    #[test]
    fn a_peer_with_the_same_limits_never_closes_a_link_for_it() {
        let small = Limits::builder()
            .rate(64 << 10)
            .burst(128 << 10)
            .frame(4 << 10);
        let wide = Limits::builder().rate(1 << 20).burst(64 << 20);
        for (seed, limits) in [
            Limits::default(),
            small.build().unwrap(),
            wide.build().unwrap(),
        ]
        .iter()
        .enumerate()
        {
            let mut rng = Rng::with_seed(seed.try_into().unwrap());
            let mut pace = WritePace::new(limits, Allowance::of(limits), Time::ZERO);
            let mut bucket = Bucket::new(limits, Time::ZERO);
            let (mut now, mut arrival) = (Time::ZERO, Time::ZERO);
            let mut said = 0;
            for _ in 0..20_000 {
                now = now.after(Duration::from_micros(rng.u64(0..=2_000)));
                let bytes = rng.usize(1..=64 << 10);
                said += bytes;
                now = now.after(pace.take(now, bytes));
                // In order; now and then nothing arrives for a second.
                let held = if rng.u8(..) == 0 {
                    1_000
                } else {
                    rng.u64(0..5)
                };
                arrival = arrival.max(now.after(ms(held)));
                assert!(bucket.take(arrival, bytes), "{limits:?} at {now}");
            }
            let held_up = span(said - limits.burst() / 2, below(Allowance::of(limits).rate));
            assert!(now.since(Time::ZERO) >= held_up, "{limits:?}: {now}");
        }
    }
}
