//! The next due time, and the handling of missed due times.
//!
//! Decided here: the meaning of each choice of [`Misfire`] at one moment. Not here: whether the group knows of the tick
//! (`machine/`).

use std::time::Duration;

use crate::clock::WallTime;

use super::due::{DueTimes, count, newest, next};

/// Handling of a tick that cannot begin at its due time: because there is no leader then, the work of the tick before
/// still runs, or the group does not acknowledge the tick in time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Misfire {
    /// The tick is not run. "In time" means within a second after its due time. The default.
    #[default]
    Skip,
    /// The tick is run late, at most once, if it can begin within this span after its due time. Of several missed ticks
    /// only the last is run.
    Late {
        /// The span; less than a second counts as one second.
        within: Duration,
    },
    /// The tick is run in any case, at any later time. Several missed ticks are run in their order. A tick that was
    /// begun is run again if the group does not know that it ended: its work must use [`Tick::key`](super::Tick::key)
    /// to find out which work was done already.
    AtLeastOnce,
}

impl Misfire {
    /// Returns the longest time after the due time at which a tick may begin; `None` without a limit.
    pub(super) fn bound(self) -> Option<Duration> {
        match self {
            Self::Skip => Some(ON_TIME),
            Self::Late { within } => Some(within.max(ON_TIME)),
            Self::AtLeastOnce => None,
        }
    }

    /// Returns whether a tick with the due time `due` may begin now.
    pub(super) fn admits(self, due: WallTime, now: WallTime) -> bool {
        self.bound().is_none_or(|bound| now.since(due) <= bound)
    }
}

/// Longest time after the due time at which a tick that begins is not late.
pub(super) const ON_TIME: Duration = Duration::from_secs(1);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TickPlan {
    /// Number of due times that the plan skips.
    pub(super) skipped: u64,
    /// Due times up to this time are not planned again: this plan skips them, or they were settled before.
    pub(super) settled: WallTime,
    pub(super) next: NextTick,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NextTick {
    /// The tick of this due time is run now.
    Now(WallTime),
    /// The tick of this due time is the next, and is not due yet.
    At(WallTime),
    Never,
}

/// Makes the plan. Due times up to `settled` are not considered again, whatever the clock shows.
pub(super) fn plan(
    times: &dyn DueTimes,
    misfire: Misfire,
    settled: WallTime,
    now: WallTime,
) -> TickPlan {
    let wait = |settled| next(times, settled).map_or(NextTick::Never, NextTick::At);
    if misfire == Misfire::AtLeastOnce {
        let next = match wait(settled) {
            NextTick::At(due) if due <= now => NextTick::Now(due),
            other @ (NextTick::Now(_) | NextTick::At(_) | NextTick::Never) => other,
        };
        return TickPlan {
            skipped: 0,
            settled,
            next,
        };
    }
    let Some(due) = newest(times, settled, now) else {
        return TickPlan {
            skipped: 0,
            settled,
            next: wait(settled),
        };
    };
    if misfire.admits(due, now) {
        let before = WallTime::from_millis(due.as_millis().saturating_sub(1));
        return TickPlan {
            skipped: count(times, settled, before),
            settled: before,
            next: NextTick::Now(due),
        };
    }
    TickPlan {
        skipped: count(times, settled, due),
        settled: due,
        next: wait(due),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::leader::schedule::due::Every;

    #[test]
    fn a_missed_tick_is_skipped_or_run_late_or_caught_up() {
        let at = |seconds: u64| WallTime::from_millis(seconds * 1_000);
        let within = |seconds| Misfire::Late {
            within: Duration::from_secs(seconds),
        };
        let every = Every::new(Duration::from_secs(10)).unwrap();
        for (misfire, now, skipped, next) in [
            (Misfire::Skip, 22, 1, NextTick::At(at(30))),
            (Misfire::Skip, 48, 3, NextTick::At(at(50))),
            (within(5), 25, 0, NextTick::Now(at(20))),
            (within(5), 26, 1, NextTick::At(at(30))),
            // Several ticks were missed. Only the last one is run.
            (within(99), 48, 2, NextTick::Now(at(40))),
            (Misfire::AtLeastOnce, 48, 0, NextTick::Now(at(20))),
        ] {
            let plan = plan(&every, misfire, at(10), at(now));
            assert_eq!((plan.skipped, plan.next), (skipped, next), "{misfire:?}");
        }
        // A tick on time runs by every choice, and a clock that is behind repeats no tick.
        for misfire in [Misfire::Skip, within(25), Misfire::AtLeastOnce] {
            for (settled, now, next) in [
                (10, 19, NextTick::At(at(20))),
                (10, 20, NextTick::Now(at(20))),
                (10, 21, NextTick::Now(at(20))),
                (50, 21, NextTick::At(at(60))),
            ] {
                let plan = plan(&every, misfire, at(settled), at(now));
                assert_eq!((plan.skipped, plan.next), (0, next), "{misfire:?} {now}");
            }
        }
    }
}
