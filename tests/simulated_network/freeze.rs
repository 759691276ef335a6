//! A process that stands still: no part of it runs, while the world around it goes on.
//!
//! Decided here: the timers of the process go on, as the timers of a stopped process do. The timers of a suspended
//! host stand still as well, so its boot clock has counted more than its timers have. A history adds this difference
//! when it wakes the host.

use std::{
    cell::{Cell, RefCell},
    future::{Future, poll_fn},
    pin::pin,
    task::{Poll, Waker},
    time::Duration,
};

use turmoil::Sim;

use crate::faults::Faults;

/// Stops and resumes one process.
#[derive(Debug, Default)]
pub struct Freezer {
    is_frozen: Cell<bool>,
    waker: RefCell<Option<Waker>>,
}

impl Freezer {
    /// Stops the process.
    pub fn freeze(&self) {
        self.is_frozen.set(true);
    }

    /// Resumes the process.
    pub fn thaw(&self) {
        self.is_frozen.set(false);
        if let Some(waker) = self.waker.take() {
            waker.wake();
        }
    }

    /// Runs a process, except while it is frozen.
    pub async fn run<T>(&self, process: impl Future<Output = T>) -> T {
        let mut process = pin!(process);
        poll_fn(|cx| {
            if self.is_frozen.get() {
                self.waker.replace(Some(cx.waker().clone()));
                return Poll::Pending;
            }
            process.as_mut().poll(cx)
        })
        .await
    }
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Frozen {
    since: Duration,
    pub(crate) until: Duration,
    /// Time that the boot clock of the host counts and its timers do not.
    suspended: Duration,
}

impl Faults {
    pub(crate) fn freeze(&mut self, sim: &Sim<'_>, k: usize, millis: u64, suspended: u64) {
        self.hosts[k].freezer.freeze();
        if self.setting.plan.is_pause_told {
            self.tell_end(sim, k);
        }
        let frozen = Frozen {
            since: sim.elapsed(),
            until: sim.elapsed() + Duration::from_millis(millis),
            suspended: Duration::from_millis(suspended),
        };
        self.frozen.insert(k, frozen);
    }

    /// Resumes a process, and adds the time of a suspend to the clock of its host. The time is added at the end, and
    /// only if every promise from before the suspend is over by any clock, because real time has passed for the other
    /// hosts as well.
    pub(crate) fn thaw(&mut self, sim: &Sim<'_>, k: usize) {
        if let Some(frozen) = self.frozen.remove(&k) {
            if sim.elapsed() >= frozen.since + PROMISED {
                self.hosts[k].clock.suspend(frozen.suspended);
            }
            self.hosts[k].freezer.thaw();
        }
    }
}

/// Longest promise of a host, by any clock.
const PROMISED: Duration = Duration::from_millis(1_150);
