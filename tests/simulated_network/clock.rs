//! The clocks of the simulation: each runs a little faster or slower than the simulated time.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    time::Duration,
};

use actix_bully::{clock::Clock, protocol::Time};

/// The clock of a host. While the host runs it is read to the instant; whoever looks on from
/// outside reads it as it was at the end of the last step.
#[derive(Clone, Debug)]
pub struct SimulatedClock {
    elapsed: Arc<AtomicU64>,
    percent: u64,
}

impl Default for SimulatedClock {
    fn default() -> Self {
        Self {
            elapsed: Arc::default(),
            percent: 100,
        }
    }
}

impl SimulatedClock {
    /// Says that a step has ended, to all clocks that were made from this one.
    pub fn set(&self, elapsed: Duration) {
        self.elapsed.store(nanos(elapsed), Relaxed);
    }

    /// One of the same simulation that runs at this rate, in percent.
    #[must_use]
    pub fn at_rate(&self, percent: u64) -> Self {
        let elapsed = Arc::clone(&self.elapsed);
        Self { elapsed, percent }
    }
}

impl Clock for SimulatedClock {
    fn now(&self) -> Time {
        let elapsed = match turmoil::sim_elapsed() {
            Some(elapsed) => nanos(elapsed),
            None => self.elapsed.load(Relaxed),
        };
        Time::from_nanos(elapsed / 100 * self.percent)
    }

    /// No host of a simulation is suspended.
    fn counts_suspend(&self) -> bool {
        true
    }
}

fn nanos(span: Duration) -> u64 {
    u64::try_from(span.as_nanos()).unwrap_or(u64::MAX)
}
