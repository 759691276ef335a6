//! The clock of one agent. The clock started some time ago, and runs a little fast or slow.

use std::time::Duration;

use bully_core::protocol::Time;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SkewedClock {
    /// Time at which the rate was last set, by the world's time and by this clock.
    set_at: Time,
    set_to: Time,
    /// Deviation of its rate in parts in a million; -1,000,000 stops it.
    ppm: i32,
}

const MILLION: u64 = 1_000_000;
const FASTEST: i32 = 9_000_000;
const STOPPED: i32 = -1_000_000;

impl SkewedClock {
    pub(super) fn new(now: Time, offset: Duration, ppm: i32) -> Self {
        Self {
            set_at: now,
            set_to: now.after(offset),
            ppm: ppm.clamp(STOPPED, FASTEST),
        }
    }

    /// Sets the rate from now on.
    pub(super) fn set_rate(&mut self, now: Time, ppm: i32) {
        *self = Self {
            set_at: now,
            set_to: self.read(now),
            ppm: ppm.clamp(STOPPED, FASTEST),
        };
    }

    pub(super) fn read(&self, now: Time) -> Time {
        let passed = now.since(self.set_at);
        if self.ppm == 0 {
            return self.set_to.after(passed);
        }
        // The product is computed in 64 bits if it fits, which is usual: a 64-bit division is cheap.
        let short = nanos(passed).and_then(|nanos| nanos.checked_mul(self.speed()));
        self.set_to.after(match short {
            Some(product) => Duration::from_nanos(product / MILLION),
            None => span(passed.as_nanos() * u128::from(self.speed()) / u128::from(MILLION)),
        })
    }

    /// Returns the first moment at which the clock reads `reading` or later; [`Time::MAX`] if a stopped clock never
    /// reads it.
    pub(super) fn when(&self, reading: Time) -> Time {
        let missing = reading.since(self.set_to);
        if self.ppm == 0 || missing.is_zero() {
            return self.set_at.after(missing);
        }
        let speed = self.speed();
        if speed == 0 {
            return Time::MAX;
        }
        let short = nanos(missing).and_then(|nanos| nanos.checked_mul(MILLION));
        self.set_at.after(match short {
            // The time is rounded up, because a timer must not be early by its own clock.
            Some(product) => Duration::from_nanos(product.div_ceil(speed)),
            None => span((missing.as_nanos() * u128::from(MILLION)).div_ceil(speed.into())),
        })
    }

    fn speed(&self) -> u64 {
        u64::try_from(i64::from(self.ppm) + 1_000_000).unwrap_or(0)
    }
}

fn nanos(span: Duration) -> Option<u64> {
    u64::try_from(span.as_nanos()).ok()
}

fn span(nanos: u128) -> Duration {
    Duration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_timer_is_never_early_on_any_clock() {
        for ppm in [-900_000, -110_000, -333, -1, 0, 1, 333, 110_000, 9_000_000] {
            let mut clock = SkewedClock::new(Time::from_nanos(17), Duration::from_nanos(5), 0);
            clock.set_rate(Time::from_nanos(1_000_003), ppm);
            for due in [0, 23, 1_000_009, 1_000_010, 7_777_777_777] {
                let due = Time::from_nanos(due);
                let at = clock.when(due);
                assert!(clock.read(at) >= due, "{ppm} {due}");
            }
        }
    }

    #[test]
    fn centuries_are_read_as_exactly_as_moments() {
        let clock = SkewedClock::new(Time::ZERO, Duration::ZERO, 110_000);
        let (century, late) = (3_155_760_000, 10_000_000_000);
        let at = Time::from_millis(century * 1_000);
        assert_eq!(clock.read(at), Time::from_millis(century * 1_110));
        assert_eq!(clock.when(Time::from_millis(century * 1_110)), at);
        assert_eq!(
            clock.when(Time::from_millis(late * 1_110)),
            Time::from_millis(late * 1_000)
        );
    }

    #[test]
    fn a_stopped_clock_goes_on_where_it_stood() {
        let mut clock = SkewedClock::new(Time::ZERO, Duration::ZERO, STOPPED);
        assert_eq!(clock.when(Time::from_millis(1)), Time::MAX);
        clock.set_rate(Time::from_millis(500), 0);
        assert_eq!(clock.read(Time::from_millis(503)), Time::from_millis(3));
    }

    #[test]
    fn a_fast_clock_reads_more() {
        let clock = SkewedClock::new(Time::ZERO, Duration::from_millis(50), 110_000);
        assert_eq!(clock.read(Time::from_millis(100)), Time::from_millis(161));
    }
}
