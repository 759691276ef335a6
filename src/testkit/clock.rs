//! A clock for tests: of a runtime whose time is virtual, so that no host can suspend it.

use crate::{
    clock::{Clock, RuntimeClock},
    protocol::Time,
};

/// The time of a paused runtime, accepted where a clock has to count a suspended host.
///
/// Only a test knows that its runtime is paused. With a runtime that is not, leases are unsafe on
/// a host that may be suspended: use a [`BootClock`](crate::clock::BootClock).
#[derive(Clone, Copy, Debug, Default)]
pub struct VirtualClock(RuntimeClock);

impl VirtualClock {
    /// A clock that begins now.
    pub fn new() -> Self {
        Self::default()
    }
}

impl From<RuntimeClock> for VirtualClock {
    /// The same time, for a caller that knows that the runtime is paused.
    fn from(clock: RuntimeClock) -> Self {
        Self(clock)
    }
}

impl Clock for VirtualClock {
    fn now(&self) -> Time {
        self.0.now()
    }

    fn counts_suspend(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

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
            assert!(
                !begun_now.counts_suspend(),
                "only a test may say that it does"
            );
        });
    }
}
