//! The clock of the runtime in which the agents run.
//!
//! Decided here: the agent's clock is the clock of its timers. A paused runtime pauses the agent's leases as well.

use tokio::time::Instant;

use crate::protocol::Time;

use super::Clock;

/// Time since this clock was created, by the runtime's timers.
///
/// The clock stops while the host is suspended. Under a paused runtime (in tests) its readings are valid only on the
/// thread of that runtime.
#[derive(Clone, Copy, Debug)]
pub struct RuntimeClock {
    start: Instant,
}

impl RuntimeClock {
    /// Returns a clock that begins now.
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
        // Comparing two instants is faster than computing the time between them.
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
