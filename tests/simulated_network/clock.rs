//! The clocks of the simulation. Each clock runs a little faster or slower than the simulated time. It also counts
//! the time for which its host was suspended, which the host's timers do not count.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    time::Duration,
};

use actix_bully::{clock::Clock, protocol::Time};

/// The clock of a host. While the host runs, the host reads the exact time. A reader outside of the host reads the
/// time at the end of the last step.
#[derive(Clone, Debug)]
pub struct SimulatedClock {
    elapsed: Arc<AtomicU64>,
    percent: u64,
    /// Time that the timers of the host did not count, in nanoseconds.
    suspended: Arc<AtomicU64>,
}

impl Default for SimulatedClock {
    fn default() -> Self {
        Self {
            elapsed: Arc::default(),
            percent: 100,
            suspended: Arc::default(),
        }
    }
}

impl SimulatedClock {
    /// Sets the time at the end of a step, for this clock and all clocks that were made from it.
    pub fn set(&self, elapsed: Duration) {
        self.elapsed.store(nanos(elapsed), Relaxed);
    }

    /// Returns another clock of the same simulation, which runs at this rate in percent.
    pub fn at_rate(&self, percent: u64) -> Self {
        Self {
            elapsed: Arc::clone(&self.elapsed),
            percent,
            suspended: Arc::default(),
        }
    }

    pub fn suspended(&self) -> Duration {
        Duration::from_nanos(self.suspended.load(Relaxed))
    }

    /// Adds the time for which the host was suspended. No timer has counted this time.
    pub fn suspend(&self, span: Duration) {
        self.suspended.fetch_add(nanos(span), Relaxed);
    }
}

impl Clock for SimulatedClock {
    fn now(&self) -> Time {
        let elapsed = match turmoil::sim_elapsed() {
            Some(elapsed) => nanos(elapsed),
            None => self.elapsed.load(Relaxed),
        };
        let all = elapsed + self.suspended.load(Relaxed);
        Time::from_nanos(all / 100 * self.percent)
    }

    fn counts_suspend(&self) -> bool {
        true
    }
}

fn nanos(span: Duration) -> u64 {
    u64::try_from(span.as_nanos()).unwrap_or(u64::MAX)
}
