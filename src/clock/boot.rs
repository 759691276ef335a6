//! The clock that goes on while the host sleeps.
//!
//! Decided here: which of the system's clocks that is. A lease that is measured by a clock which
//! stops during a suspend would still seem valid after it, long after another agent took over.

use crate::protocol::Time;

use super::Clock;

/// Time since the host was booted, suspended or not.
///
/// `CLOCK_BOOTTIME` on Linux, Android, Fuchsia and OpenBSD; `CLOCK_MONOTONIC` on Apple's systems,
/// where it counts a suspend. Readings do not follow a paused runtime.
#[derive(Clone, Copy, Debug)]
pub struct BootClock {
    /// Only [`new`](Self::new) makes one.
    _checked: (),
}

impl BootClock {
    /// The host's clock.
    ///
    /// # Errors
    /// [`ClockError::NotAvailable`] where no clock is known to count a suspend.
    pub fn new() -> Result<Self, ClockError> {
        match system::now() {
            Some(_) => Ok(Self { _checked: () }),
            None => Err(ClockError::NotAvailable),
        }
    }
}

impl Clock for BootClock {
    fn now(&self) -> Time {
        // There is a reading: a clock is made only after one was had.
        system::now().unwrap_or(Time::ZERO)
    }

    fn counts_suspend(&self) -> bool {
        true
    }

    fn is_boot_time(&self) -> bool {
        true
    }
}

/// Why there is no such clock.
#[derive(Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ClockError {
    /// The system has no clock that is known to count a suspend.
    #[error(
        "this system has no clock that counts a suspend: use the available mode with a RuntimeClock"
    )]
    NotAvailable,
}

debug_is_text!(ClockError);

#[cfg(any(
    target_os = "linux",
    target_os = "android",
    target_os = "fuchsia",
    target_os = "openbsd",
    target_vendor = "apple"
))]
mod system {
    use rustix::time::{ClockId, clock_gettime};

    use crate::protocol::Time;

    #[cfg(not(target_vendor = "apple"))]
    const CLOCK: ClockId = ClockId::Boottime;
    #[cfg(target_vendor = "apple")]
    const CLOCK: ClockId = ClockId::Monotonic;

    pub(super) fn now() -> Option<Time> {
        let reading = clock_gettime(CLOCK);
        let seconds = u64::try_from(reading.tv_sec).ok()?;
        let nanos = u64::try_from(reading.tv_nsec).ok()?;
        Some(Time::from_nanos(
            seconds.checked_mul(1_000_000_000)?.checked_add(nanos)?,
        ))
    }
}

#[cfg(not(any(
    target_os = "linux",
    target_os = "android",
    target_os = "fuchsia",
    target_os = "openbsd",
    target_vendor = "apple"
)))]
mod system {
    use crate::protocol::Time;

    pub(super) fn now() -> Option<Time> {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(target_os = "linux")]
    #[test]
    fn the_clock_runs_and_does_not_go_back() {
        let clock = BootClock::new().unwrap();
        let first = clock.now();
        assert!(first > Time::ZERO);
        while clock.now() == first {}
        assert!(clock.now() > first);
        assert!(clock.counts_suspend());
    }
}
