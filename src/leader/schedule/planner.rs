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

    const fn at(seconds: u64) -> WallTime {
        WallTime::from_millis(seconds * 1_000)
    }

    fn plan_of(misfire: Misfire, settled: u64, now: u64) -> (u64, NextTick) {
        let every = Every::new(Duration::from_secs(10)).unwrap();
        let plan = plan(&every, misfire, at(settled), at(now));
        (plan.skipped, plan.next)
    }

    #[test]
    fn a_tick_on_time_runs_by_every_choice() {
        let late = Misfire::Late {
            within: Duration::from_secs(25),
        };
        for misfire in [Misfire::Skip, late, Misfire::AtLeastOnce] {
            assert_eq!(plan_of(misfire, 10, 19), (0, NextTick::At(at(20))));
            assert_eq!(plan_of(misfire, 10, 20), (0, NextTick::Now(at(20))));
            assert_eq!(plan_of(misfire, 10, 21), (0, NextTick::Now(at(20))));
            // A clock that is behind repeats no tick.
            assert_eq!(plan_of(misfire, 50, 21), (0, NextTick::At(at(60))));
        }
    }

    #[test]
    fn a_missed_tick_is_skipped_or_run_late_or_caught_up() {
        let within = |seconds| Misfire::Late {
            within: Duration::from_secs(seconds),
        };
        assert_eq!(plan_of(Misfire::Skip, 10, 22), (1, NextTick::At(at(30))));
        assert_eq!(plan_of(Misfire::Skip, 10, 48), (3, NextTick::At(at(50))));
        assert_eq!(plan_of(within(5), 10, 25), (0, NextTick::Now(at(20))));
        assert_eq!(plan_of(within(5), 10, 26), (1, NextTick::At(at(30))));
        // Several ticks were missed. Only the last one is run.
        assert_eq!(plan_of(within(99), 10, 48), (2, NextTick::Now(at(40))));
        assert_eq!(
            plan_of(Misfire::AtLeastOnce, 10, 48),
            (0, NextTick::Now(at(20)))
        );
    }

    #[test]
    fn a_settled_due_time_is_counted_once() {
        let every = Every::new(Duration::from_secs(10)).unwrap();
        let mut settled = at(0);
        let mut skipped = 0;
        for now in 0..1_000 {
            let plan = plan(&every, Misfire::Skip, settled, at(now * 7));
            skipped += plan.skipped;
            settled = plan.settled;
            if let NextTick::Now(due) = plan.next {
                settled = due;
                skipped += 1;
            }
        }
        assert_eq!(skipped, 999 * 7 / 10);
    }

    #[test]
    fn a_schedule_that_has_ended_never_comes_again() {
        let once = std::collections::BTreeSet::from([at(20)]);
        let of = |settled, now| plan(&once, Misfire::Skip, at(settled), at(now)).next;
        assert_eq!(of(0, 20), NextTick::Now(at(20)));
        assert_eq!(of(20, 20), NextTick::Never);
        assert_eq!(of(0, 22), NextTick::Never);
    }
}
