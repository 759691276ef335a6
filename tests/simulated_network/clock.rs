//! The clocks of the simulation: each runs a little faster or slower than the simulated time, and
//! counts what its host's timers do not: that the host was suspended.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    time::Duration,
};

use actix_bully::{clock::Clock, protocol::Time};

/// The clock of a host. While the host runs it is read to the instant; a reader from
/// outside reads it as it was at the end of the last step.
#[derive(Clone, Debug)]
pub struct SimulatedClock {
    elapsed: Arc<AtomicU64>,
    percent: u64,
    /// What no timer of its host has counted, in nanoseconds.
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
    /// Says that a step has ended, to all clocks that were made from this one.
    pub fn set(&self, elapsed: Duration) {
        self.elapsed.store(nanos(elapsed), Relaxed);
    }

    /// One of the same simulation that runs at this rate, in percent.
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

    /// The host was suspended for so long, and no timer has counted it.
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
