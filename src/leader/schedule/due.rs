//! Due times of a schedule.
//!
//! Decided here: due times are moments of wall time. Every agent computes the same times from the rule alone, never
//! from the moment at which it began to lead. Not here: which due times are run (`planner.rs`).

use std::{
    collections::BTreeSet,
    ops::Bound::{Excluded, Unbounded},
    time::Duration,
};

use crate::clock::WallTime;

use super::ScheduleError;

/// The due times of a schedule, the same at every agent of the group.
///
/// A closure implements this trait, if the closure is a rule without state. A set of moments implements it as well:
///
/// ```
/// use std::{collections::BTreeSet, time::Duration};
/// use actix_bully::{clock::WallTime, leader::schedule::DueTimes};
/// const HOUR: Duration = Duration::from_secs(3_600);
/// // Five minutes past each hour.
/// let past_the_hour = |time: WallTime| {
///     let hours = (time.as_millis() + 3_300_000) / 3_600_000;
///     Some(WallTime::from_millis(hours * 3_600_000 + 300_000))
/// };
/// let first = past_the_hour.next_after(WallTime::default()).unwrap();
/// assert_eq!(first.to_string(), "1970-01-01T00:05:00Z");
/// assert_eq!(past_the_hour.next_after(first), Some(first.after(HOUR)));
/// let launches = BTreeSet::from([first]);
/// assert_eq!(launches.next_after(first), None);
/// ```
pub trait DueTimes: Send + 'static {
    /// Returns the first due time that is later than `time`, or `None` if there is none. A later `time` never gives an
    /// earlier result. A result that is not later than `time` counts as `None`.
    fn next_after(&self, time: WallTime) -> Option<WallTime>;
}

impl<F: Fn(WallTime) -> Option<WallTime> + Send + 'static> DueTimes for F {
    fn next_after(&self, time: WallTime) -> Option<WallTime> {
        self(time)
    }
}

impl DueTimes for BTreeSet<WallTime> {
    fn next_after(&self, time: WallTime) -> Option<WallTime> {
        self.range((Excluded(time), Unbounded)).next().copied()
    }
}

/// The multiples of an interval since the beginning of 1970.
#[derive(Clone, Copy, Debug)]
pub(super) struct Every {
    millis: u64,
}

/// Shortest interval between two ticks. It has a limit because a tick costs a round trip and a write at each voter.
pub(super) const SHORTEST: Duration = Duration::from_millis(100);

impl Every {
    pub(super) fn new(interval: Duration) -> Result<Self, ScheduleError> {
        let millis = u64::try_from(interval.as_millis()).unwrap_or(u64::MAX);
        let is_whole = Duration::from_millis(millis) == interval;
        if interval < SHORTEST || !is_whole {
            return Err(ScheduleError::Interval { interval });
        }
        Ok(Self { millis })
    }
}

impl DueTimes for Every {
    fn next_after(&self, time: WallTime) -> Option<WallTime> {
        let passed = time.as_millis().checked_div(self.millis)?;
        let next = passed.checked_add(1)?.checked_mul(self.millis)?;
        Some(WallTime::from_millis(next))
    }
}

/// Returns the rule's first due time later than `time`. An invalid result of the rule counts as `None`.
pub(super) fn next(times: &dyn DueTimes, time: WallTime) -> Option<WallTime> {
    times.next_after(time).filter(|next| *next > time)
}

/// Returns the last due time that is later than `after`, and not later than `now`.
///
/// The search halves the span in each step, because a schedule of every second has 31 million due times in a year.
pub(super) fn newest(times: &dyn DueTimes, after: WallTime, now: WallTime) -> Option<WallTime> {
    let until_now = |time| next(times, time).filter(|due| *due <= now);
    let mut found = until_now(after)?;
    // The last due time is never before `low`, and never after `high`.
    let (mut low, mut high) = (found.as_millis(), now.as_millis());
    while low < high {
        let middle = low + (high - low) / 2;
        match until_now(WallTime::from_millis(middle)) {
            Some(due) => {
                found = due;
                low = due.as_millis();
            }
            None => high = middle,
        }
    }
    Some(found)
}

/// Returns the number of due times later than `after` and not later than `until`, at most [`MOST`].
pub(super) fn count(times: &dyn DueTimes, after: WallTime, until: WallTime) -> u64 {
    let mut counted = 0;
    let mut time = after;
    while let Some(due) = next(times, time).filter(|due| *due <= until) {
        if counted >= MOST {
            break;
        }
        counted += 1;
        time = due;
    }
    counted
}

/// Largest number of missed ticks that are counted at a time, because a count must not keep an arbiter busy.
pub(super) const MOST: u64 = 1_000;

#[cfg(test)]
mod tests {
    use super::*;

    const fn at(millis: u64) -> WallTime {
        WallTime::from_millis(millis)
    }

    #[test]
    fn the_newest_due_time_is_found_wherever_it_lies() {
        let mut random = fastrand::Rng::with_seed(3);
        for _ in 0..2_000 {
            let moments: BTreeSet<_> = (0..random.usize(..30))
                .map(|_| at(random.u64(..1_000)))
                .collect();
            let (after, now) = (at(random.u64(..1_000)), at(random.u64(..1_000)));
            let within = || moments.iter().filter(|due| **due > after && **due <= now);
            assert_eq!(newest(&moments, after, now), within().max().copied());
            let counted = usize::try_from(count(&moments, after, now)).unwrap();
            assert_eq!(counted, within().count());
        }
        let every = Every::new(SHORTEST).unwrap();
        let now = at(1 << 50);
        assert_eq!(newest(&every, at(0), now), Some(at((1 << 50) / 100 * 100)));
        assert_eq!(count(&every, at(0), now), MOST);
    }

    #[test]
    fn a_rule_that_goes_back_has_no_due_time() {
        let stuck = |time: WallTime| Some(time);
        assert_eq!(next(&stuck, at(5)), None);
        assert_eq!(newest(&stuck, at(5), at(9)), None);
    }
}
