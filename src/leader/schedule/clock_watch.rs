//! Notices that the wall clock was set, once for all schedules of an agent.
//!
//! Decided here: how often the clock is looked at, and that it was set if it went otherwise than the time that passes.
//! After a suspend the clock counts as set, since the runtime's timers stood still. Not here: the reaction of a schedule
//! (`machine.rs`).

use std::{
    sync::{
        Arc,
        atomic::{
            AtomicBool, AtomicUsize,
            Ordering::{AcqRel, Acquire},
        },
    },
    time::Duration,
};

use actix::clock::sleep;
use tokio::sync::{Notify, futures::Notified};

use crate::clock::{Clock, RuntimeClock, WallClock, WallTime};

use super::interface::Now;

/// Time between two looks at the wall clock while a schedule leads.
pub(super) const LOOK: Duration = Duration::from_millis(250);

/// Longest step of a clock that does not count as set. Slewing moves a clock by less between two looks, and a shorter
/// step makes no tick late.
const TOLERANCE: Duration = Duration::from_millis(20);

/// See the [module](self).
#[derive(Debug)]
pub(super) struct ClockWatch {
    clock: Arc<dyn WallClock>,
    set: Notify,
    /// Number of schedules that lead.
    leading: AtomicUsize,
    is_watched: AtomicBool,
}

/// A schedule that leads, as long as it is kept.
#[derive(Debug)]
pub(super) struct WatchedClock(Arc<ClockWatch>);

impl ClockWatch {
    pub(super) fn new(clock: Arc<dyn WallClock>) -> Arc<Self> {
        Arc::new(Self {
            clock,
            set: Notify::new(),
            leading: AtomicUsize::new(0),
            is_watched: AtomicBool::new(false),
        })
    }

    /// Watches for one schedule more, in a task of this thread.
    pub(super) fn watch(self: &Arc<Self>) -> WatchedClock {
        self.leading.fetch_add(1, AcqRel);
        if !self.is_watched.swap(true, AcqRel) {
            drop(actix::spawn(Arc::clone(self).run()));
        }
        WatchedClock(Arc::clone(self))
    }

    async fn run(self: Arc<Self>) {
        let time = RuntimeClock::new();
        let read = || Now {
            wall: self.clock.now(),
            time: time.now(),
        };
        let mut last = read();
        loop {
            sleep(LOOK).await;
            let now = read();
            if is_set(last, now) {
                self.set.notify_waiters();
            }
            last = now;
            if self.leading.load(Acquire) == 0 {
                // A swap, because a store may be seen by another thread only after the next line has read.
                self.is_watched.swap(false, AcqRel);
                // A schedule that began just before that has found a watch, and started none.
                let is_wanted = self.leading.load(Acquire) > 0;
                if !is_wanted || self.is_watched.swap(true, AcqRel) {
                    return;
                }
            }
        }
    }
}

impl WatchedClock {
    /// Ends when the clock is set, from now on.
    pub(super) fn set(&self) -> Notified<'_> {
        self.0.set.notified()
    }
}

impl Drop for WatchedClock {
    fn drop(&mut self) {
        self.0.leading.fetch_sub(1, AcqRel);
    }
}

/// Whether the wall clock went otherwise than the time that passed.
fn is_set(last: Now, now: Now) -> bool {
    let expected = last.wall.after(now.time.since(last.time));
    let off = |a: WallTime, b: WallTime| a.since(b);
    off(now.wall, expected).max(off(expected, now.wall)) > TOLERANCE
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::Time;

    #[test]
    fn a_clock_is_set_when_it_goes_otherwise_than_the_time_that_passes() {
        let at = |wall, time| Now {
            wall: WallTime::from_millis(wall),
            time: Time::from_millis(time),
        };
        let last = at(1_000_000, 500);
        for (wall, time, expected) in [
            (1_000_250, 750, false),
            (1_000_251, 750, false),
            (1_000_230, 750, false),
            (1_000_220, 750, true),
            (1_000_280, 750, true),
            (0, 750, true),
            // The host was suspended for an hour.
            (4_600_250, 750, true),
            // The thread was busy.
            (1_060_000, 60_500, false),
        ] {
            assert_eq!(is_set(last, at(wall, time)), expected, "{wall}, {time}");
        }
    }
}
