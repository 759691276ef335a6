//! Which due time is next, and what becomes of those that were missed.
//!
//! Decided here: what each choice of [`Misfire`] means at one moment. Not here: whether the group knows of it
//! (`machine/`).

use std::time::Duration;

use crate::clock::WallTime;

use super::due::{DueTimes, count, newest, next};

/// What becomes of a tick that cannot begin at its due time: none leads then, the work before it is still
/// running, or the group does not acknowledge it in time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Misfire {
    /// It is not run. "In time" is within a second. The default.
    #[default]
    Skip,
    /// It is run late, at most once, if it can begin within this span after its due time. Of several that were
    /// missed the last one is run, and the others are skipped.
    Late {
        /// The span; below a second it counts as one.
        within: Duration,
    },
    /// It is run in any case, however late, and so is each of several, in their order. One that was begun, and
    /// of which the group does not know that it ended, is run again: its work has to take
    /// [`Tick::key`](super::Tick::key) for what was done already.
    AtLeastOnce,
}

impl Misfire {
    /// So late a tick may begin; `None`: however late.
    pub(super) fn bound(self) -> Option<Duration> {
        match self {
            Self::Skip => Some(ON_TIME),
            Self::Late { within } => Some(within.max(ON_TIME)),
            Self::AtLeastOnce => None,
        }
    }

    /// Whether a tick of that due time may begin now.
    pub(super) fn admits(self, due: WallTime, now: WallTime) -> bool {
        self.bound().is_none_or(|bound| now.since(due) <= bound)
    }
}

/// A tick that begins within this span after its due time is not late.
pub(super) const ON_TIME: Duration = Duration::from_secs(1);

/// What follows at one moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TickPlan {
    /// So many due times are skipped by this.
    pub(super) skipped: u64,
    /// Due times up to this one are settled.
    pub(super) settled: WallTime,
    pub(super) next: NextTick,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NextTick {
    /// This one is to be run now.
    Now(WallTime),
    /// This one is the next.
    At(WallTime),
    Never,
}

/// Decides; due times up to `settled` are not considered again, whatever the clock says.
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
    fn what_is_on_time_is_run_by_every_choice() {
        let late = Misfire::Late {
            within: Duration::from_secs(25),
        };
        for misfire in [Misfire::Skip, late, Misfire::AtLeastOnce] {
            assert_eq!(plan_of(misfire, 10, 19), (0, NextTick::At(at(20))));
            assert_eq!(plan_of(misfire, 10, 20), (0, NextTick::Now(at(20))));
            assert_eq!(plan_of(misfire, 10, 21), (0, NextTick::Now(at(20))));
            // A clock that is behind repeats nothing.
            assert_eq!(plan_of(misfire, 50, 21), (0, NextTick::At(at(60))));
        }
    }

    #[test]
    fn what_was_missed_is_skipped_or_run_late_or_made_up_for() {
        let within = |seconds| Misfire::Late {
            within: Duration::from_secs(seconds),
        };
        assert_eq!(plan_of(Misfire::Skip, 10, 22), (1, NextTick::At(at(30))));
        assert_eq!(plan_of(Misfire::Skip, 10, 48), (3, NextTick::At(at(50))));
        assert_eq!(plan_of(within(5), 10, 25), (0, NextTick::Now(at(20))));
        assert_eq!(plan_of(within(5), 10, 26), (1, NextTick::At(at(30))));
        // The last of several.
        assert_eq!(plan_of(within(99), 10, 48), (2, NextTick::Now(at(40))));
        assert_eq!(
            plan_of(Misfire::AtLeastOnce, 10, 48),
            (0, NextTick::Now(at(20)))
        );
    }

    #[test]
    fn what_is_settled_is_counted_once() {
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
