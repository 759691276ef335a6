//! Clocks for tests in a runtime whose time is virtual: a suspended host does not change that time.

use std::{
    sync::{
        Arc,
        atomic::{AtomicI64, AtomicU64, Ordering::Relaxed},
    },
    time::Duration,
};

use crate::{
    clock::{Clock, RuntimeClock, WallClock, WallTime},
    protocol::Time,
};

/// A clock that shows the time of a paused runtime. It is accepted in places that need a clock which counts the time of
/// a suspended host.
///
/// Only a test knows that its runtime is paused. In a runtime that is not paused, leases by this clock are unsafe on a
/// host that may be suspended: use a [`BootClock`](crate::clock::BootClock).
///
/// Clones are the same clock.
#[derive(Clone, Debug, Default)]
pub struct VirtualClock {
    runtime: RuntimeClock,
    /// Time by which the clock was advanced, in nanoseconds.
    ahead: Arc<AtomicU64>,
}

impl VirtualClock {
    /// Returns a clock that begins now.
    pub fn new() -> Self {
        Self::default()
    }

    /// Advances this clock, as if its host had been suspended for the time `by`: by this clock every span shorter than
    /// `by` has ended, but no timer has fired. The runtime's time and other clocks do not change.
    pub fn skip(&self, by: Duration) {
        let by = u64::try_from(by.as_nanos()).unwrap_or(u64::MAX);
        // The clock stops at the last instant. It does not start at zero again.
        let turned = |ahead: u64| Some(ahead.saturating_add(by));
        self.ahead.fetch_update(Relaxed, Relaxed, turned).ok();
    }
}

impl From<RuntimeClock> for VirtualClock {
    /// Returns a clock that shows the time of the given clock until it is advanced, for a caller that knows that the
    /// runtime is paused.
    fn from(clock: RuntimeClock) -> Self {
        Self {
            runtime: clock,
            ahead: Arc::default(),
        }
    }
}

impl Clock for VirtualClock {
    fn now(&self) -> Time {
        let ahead = Duration::from_nanos(self.ahead.load(Relaxed));
        self.runtime.now().after(ahead)
    }

    fn counts_suspend(&self) -> bool {
        true
    }
}

/// A wall clock that passes with the time of a paused runtime, and that a test can set. Clones are the same clock.
#[derive(Clone, Debug)]
pub struct VirtualWallClock {
    began: WallTime,
    passed: RuntimeClock,
    /// Time by which the clock was set ahead, in milliseconds.
    ahead: Arc<AtomicI64>,
}

impl VirtualWallClock {
    /// Returns a clock that shows the time `now` at present.
    pub fn new(now: WallTime) -> Self {
        Self {
            began: now,
            passed: RuntimeClock::new(),
            ahead: Arc::default(),
        }
    }

    /// Returns the clock of another host: it shows the same time at present, and is set separately.
    #[must_use]
    pub fn another(&self) -> Self {
        let ahead = AtomicI64::new(self.ahead.load(Relaxed));
        Self {
            ahead: Arc::new(ahead),
            ..self.clone()
        }
    }

    /// Sets the clock to `millis` ahead of the time that it would show if it had never been set; a negative number sets
    /// the clock back.
    pub fn set_ahead(&self, millis: i64) {
        self.ahead.store(millis, Relaxed);
    }
}

impl WallClock for VirtualWallClock {
    fn now(&self) -> WallTime {
        let passed = Duration::from_nanos(self.passed.now().as_nanos());
        let time = self.began.after(passed).as_millis();
        WallTime::from_millis(time.saturating_add_signed(self.ahead.load(Relaxed)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_clock_follows_a_paused_runtime_and_counts_a_suspend() {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .start_paused(true)
            .build()
            .unwrap();
        runtime.block_on(async {
            let clock = VirtualClock::new();
            tokio::time::sleep(Duration::from_millis(7)).await;
            assert_eq!(clock.now(), Time::from_millis(7));
            let begun_now = RuntimeClock::new();
            assert_eq!(VirtualClock::from(begun_now).now(), Time::ZERO);
            assert!(clock.counts_suspend());
            let other = VirtualClock::new();
            clock.clone().skip(Duration::from_millis(5));
            assert_eq!(clock.now(), Time::from_millis(12));
            assert_eq!(other.now(), Time::ZERO);
            clock.skip(Duration::MAX);
            clock.skip(Duration::MAX);
            assert!(
                clock.now() > Time::from_millis(1 << 40),
                "it never begins anew"
            );
            assert!(
                !begun_now.counts_suspend(),
                "only a test may accept this clock"
            );
        });
    }
}
