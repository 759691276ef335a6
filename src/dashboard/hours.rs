//! The date and time at which the page's clock began.
//!
//! Decided here: the start is exact only to a tenth of a second, because it is calculated from two clocks; and the
//! start is corrected if the host's clock jumps, or if the page's clock stood still while the host was suspended. Not
//! here: the text of a time of day (`page/time.js`).

use std::time::Duration;

use crate::clock::{SystemWallClock, WallClock, WallTime};

/// The last time that was returned.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct WallBegin(Option<u64>);

impl WallBegin {
    /// Returns the start of the page's clock, in milliseconds since 1970. `at` is the present time by the page's clock.
    pub(crate) fn look(&mut self, at: Duration) -> u64 {
        self.keep(SystemWallClock.now(), at)
    }

    fn keep(&mut self, now: WallTime, at: Duration) -> u64 {
        let passed = u64::try_from(at.as_millis()).unwrap_or(u64::MAX);
        let began = now.as_millis().saturating_sub(passed);
        let kept = self.0.filter(|kept| kept.abs_diff(began) < GRAIN_MILLIS);
        *self.0.insert(kept.unwrap_or(began))
    }
}

/// Difference below which the last result is kept: the two clocks are not read at exactly the same moment.
const GRAIN_MILLIS: u64 = 100;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_that_jumps_is_followed_and_one_that_trembles_is_not() {
        let mut begin = WallBegin::default();
        let mut look =
            |wall, at| begin.keep(WallTime::from_millis(wall), Duration::from_millis(at));
        assert_eq!(look(5_000, 1_000), 4_000);
        assert_eq!(look(5_050, 1_000), 4_000);
        assert_eq!(look(9_000, 1_000), 8_000);
        assert_eq!(look(9_100, 1_100), 8_000);
    }
}
