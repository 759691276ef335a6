//! The clock that continues while the host is suspended.
//!
//! Decided here: the system clock that is read. It has to count a suspend. By a clock that stops during a suspend, a
//! lease would still seem valid after the suspend, although another agent may have taken over long before.

use crate::protocol::Time;

use super::Clock;

/// Time since the host was booted. It includes the time in which the host was suspended.
///
/// Reads `CLOCK_BOOTTIME` on Linux, Android, Fuchsia and OpenBSD, and `CLOCK_MONOTONIC` on Apple's systems, where that
/// clock counts a suspend. A `BootClock` continues while a runtime is paused.
#[derive(Clone, Copy, Debug)]
pub struct BootClock {
    /// Only [`new`](Self::new) creates this value.
    _checked: (),
}

impl BootClock {
    /// Returns the host's clock.
    ///
    /// # Errors
    /// [`ClockError::NotAvailable`] if this system has no clock that counts a suspend, or if it is unknown whether the
    /// system's clock counts a suspend.
    pub fn new() -> Result<Self, ClockError> {
        match system::now() {
            Some(_) => Ok(Self { _checked: () }),
            None => Err(ClockError::NotAvailable),
        }
    }
}

impl Clock for BootClock {
    fn now(&self) -> Time {
        // A reading exists, because a clock is created only after a first reading succeeded.
        system::now().unwrap_or(Time::ZERO)
    }

    fn counts_suspend(&self) -> bool {
        true
    }

    fn is_boot_time(&self) -> bool {
        true
    }
}

/// Reason why the clock cannot be created.
#[derive(Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ClockError {
    /// The system has no clock that counts a suspend, or it is unknown whether the system's clock counts a suspend.
    #[error(
        "this system has no clock that runs while the host is suspended: elect without `quorum` and `lease`, where no such clock is needed but two agents may lead at a time"
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
