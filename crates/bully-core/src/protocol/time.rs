//! A reading of one agent's own monotonic clock.
//!
//! Only the agent that read the clock may compare the reading: clocks of different agents have nothing in common.

use std::{fmt, time::Duration};

use serde::{Deserialize, Serialize};

/// A reading of an agent's clock: nanoseconds since a start that only this clock knows.
///
/// A message may contain a reading so that the answer returns it. The agent that answers does not use the reading.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Time(u64);

impl Time {
    /// The clock's start.
    pub const ZERO: Self = Self(0);
    /// The reading that is later than every other reading.
    pub const MAX: Self = Self(u64::MAX);

    /// Makes a reading from nanoseconds.
    pub const fn from_nanos(nanos: u64) -> Self {
        Self(nanos)
    }

    /// Makes a reading from milliseconds; saturates.
    pub const fn from_millis(millis: u64) -> Self {
        Self(millis.saturating_mul(1_000_000))
    }

    /// Returns the reading in nanoseconds.
    pub const fn as_nanos(self) -> u64 {
        self.0
    }

    /// Returns the reading that is this much later; saturates at [`Time::MAX`].
    #[must_use]
    pub fn after(self, span: Duration) -> Self {
        Self(
            self.0
                .saturating_add(u64::try_from(span.as_nanos()).unwrap_or(u64::MAX)),
        )
    }

    /// Returns the time since `earlier`; zero when `earlier` is later than this reading.
    #[must_use]
    pub fn since(self, earlier: Self) -> Duration {
        Duration::from_nanos(self.0.saturating_sub(earlier.0))
    }
}

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let micros = self.0 / 1_000;
        write!(f, "{}.{:03}", micros / 1_000, micros % 1_000)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn readings_saturate() {
        assert_eq!(Time::MAX.after(Duration::from_secs(1)), Time::MAX);
        assert_eq!(Time::ZERO.after(Duration::MAX), Time::MAX);
        assert_eq!(Time::ZERO.since(Time::MAX), Duration::ZERO);
        assert_eq!(
            Time::from_millis(5).since(Time::from_millis(2)),
            Duration::from_millis(3)
        );
        assert_eq!(Time::from_nanos(1_234_567).to_string(), "1.234");
    }
}
