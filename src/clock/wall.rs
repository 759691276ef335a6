//! Wall time, for tasks that are due at a time of day, and for terms that no disk keeps.
//!
//! Decided here: the precision and the text of wall time. Not here: leases and timers. Wall time jumps, so the number
//! of leaders never depends on it, and a schedule repeats no task after a jump.

use std::{
    fmt::{self, Debug},
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use serde::{Deserialize, Serialize};

/// A moment of wall time: whole milliseconds since 1970-01-01 UTC.
///
/// ```
/// use actix_bully::clock::WallTime;
/// let time = WallTime::from_millis(1_767_323_045_500);
/// assert_eq!(time.to_string(), "2026-01-02T03:04:05.500Z");
/// assert_eq!(WallTime::from(std::time::SystemTime::from(time)), time);
/// ```
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct WallTime(u64);

impl WallTime {
    /// Returns the moment at `millis` milliseconds after the beginning of 1970.
    pub const fn from_millis(millis: u64) -> Self {
        Self(millis)
    }

    /// Returns the milliseconds since the beginning of 1970.
    pub const fn as_millis(self) -> u64 {
        self.0
    }

    /// Returns the moment that is later by `span`, in whole milliseconds. Returns the last moment if the sum is too
    /// large.
    #[must_use]
    pub fn after(self, span: Duration) -> Self {
        let millis = u64::try_from(span.as_millis()).unwrap_or(u64::MAX);
        Self(self.0.saturating_add(millis))
    }

    /// Returns the time since `earlier`, or zero if `earlier` is in the future.
    #[must_use]
    pub const fn since(self, earlier: Self) -> Duration {
        Duration::from_millis(self.0.saturating_sub(earlier.0))
    }
}

/// A time before 1970 becomes the beginning of 1970. Fractions of a millisecond are cut off.
impl From<SystemTime> for WallTime {
    fn from(time: SystemTime) -> Self {
        let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
        Self::default().after(since)
    }
}

impl From<WallTime> for SystemTime {
    fn from(time: WallTime) -> Self {
        let span = Duration::from_millis(time.0);
        UNIX_EPOCH.checked_add(span).unwrap_or(UNIX_EPOCH)
    }
}

/// The text of RFC 3339, in UTC.
impl fmt::Display for WallTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (seconds, millis) = (self.0 / 1_000, self.0 % 1_000);
        let (days, second) = (seconds / 86_400, seconds % 86_400);
        let (year, month, day) = civil(days);
        let (hour, minute, second) = (second / 3_600, second / 60 % 60, second % 60);
        write!(
            f,
            "{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}"
        )?;
        if millis > 0 {
            write!(f, ".{millis:03}")?;
        }
        f.write_str("Z")
    }
}

/// Returns the date that is `days` days after 1970-01-01. In this calculation a year begins in March, in eras of 400
/// years, so that the leap day is the last day of a year.
const fn civil(days: u64) -> (u64, u64, u64) {
    let days = days + 719_468; // from 0000-03-01
    let (era, day_of_era) = (days / 146_097, days % 146_097);
    let year = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year + year / 4 - year / 100);
    let from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * from_march + 2) / 5 + 1;
    let month = if from_march < 10 {
        from_march + 3
    } else {
        from_march - 9
    };
    let year = year + era * 400;
    (if month <= 2 { year + 1 } else { year }, month, day)
}

/// A clock that shows the time of day. It may jump forwards and backwards, and differ between hosts.
pub trait WallClock: Debug + Send + Sync {
    /// Returns the time of day.
    fn now(&self) -> WallTime;
}

/// The host's clock.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemWallClock;

impl WallClock for SystemWallClock {
    #[expect(
        clippy::disallowed_methods,
        reason = "what is due at an hour of the day, and which term is later, can be told by no other clock"
    )]
    fn now(&self) -> WallTime {
        SystemTime::now().into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_those_of_the_calendar() {
        for (seconds, text) in [
            (0, "1970-01-01T00:00:00Z"),
            (951_782_399, "2000-02-28T23:59:59Z"),
            (951_782_400, "2000-02-29T00:00:00Z"),
            (1_709_251_199, "2024-02-29T23:59:59Z"),
            (1_735_689_600, "2025-01-01T00:00:00Z"),
            (4_107_542_400, "2100-03-01T00:00:00Z"),
        ] {
            assert_eq!(WallTime::from_millis(seconds * 1_000).to_string(), text);
        }
        assert_eq!(
            WallTime::from_millis(7).to_string(),
            "1970-01-01T00:00:00.007Z"
        );
        // Every moment has a text, and none panics.
        assert!(WallTime::from_millis(u64::MAX).to_string().ends_with('Z'));
    }

    #[test]
    fn spans_saturate() {
        let late = WallTime::from_millis(u64::MAX);
        assert_eq!(late.after(Duration::from_secs(1)), late);
        assert_eq!(WallTime::default().since(late), Duration::ZERO);
        let before = UNIX_EPOCH - Duration::from_secs(1);
        assert_eq!(WallTime::from(before), WallTime::default());
    }
}
