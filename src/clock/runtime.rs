//! The clock of the runtime that the agents run in.
//!
//! Decided here: that an agent's time is the time its timers go by, so that a paused runtime
//! pauses its leases as well.

use tokio::time::Instant;

use crate::protocol::Time;

use super::Clock;

/// Time since this clock was made, as the runtime's timers see it.
///
/// It does not count a suspended host. Under a paused runtime (tests) its readings mean something
/// on that runtime's own thread only.
#[derive(Clone, Copy, Debug)]
pub struct RuntimeClock {
    start: Instant,
}

impl RuntimeClock {
    /// A clock that begins now.
    pub fn new() -> Self {
        Self {
            start: Instant::now(),
        }
    }
}

impl Default for RuntimeClock {
    fn default() -> Self {
        Self::new()
    }
}

impl Clock for RuntimeClock {
    fn now(&self) -> Time {
        Time::ZERO.after(self.start.elapsed())
    }

    fn is_before(&self, at: Time) -> bool {
        // To compare two instants takes less than the span between them.
        let at = self.start.checked_add(at.since(Time::ZERO));
        at.is_none_or(|at| Instant::now() < at)
    }

    fn counts_suspend(&self) -> bool {
        false
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_paused_runtime_pauses_the_clock() {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .start_paused(true)
            .build()
            .unwrap();
        runtime.block_on(async {
            let clock = RuntimeClock::new();
            assert_eq!(clock.now(), Time::ZERO);
            tokio::time::sleep(Duration::from_millis(7)).await;
            assert_eq!(clock.now(), Time::from_millis(7));
        });
    }
}
