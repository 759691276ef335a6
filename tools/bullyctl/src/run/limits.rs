//! The times at which a command is asked to end, and must have ended.
//!
//! Decided here, without a clock: the margin before the end of a lease, and the deadlines from the readings of a
//! clock. All times are nanoseconds of the clock that counts a suspend.

use std::time::Duration;

/// No deadline: the leadership does not run out by itself.
pub(crate) const NEVER: u64 = u64::MAX;

/// Time between the kill of the command and its deadline, and time to end after a step-down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Limits {
    /// Time between the kill and the end of the lease.
    pub(crate) margin: Duration,
    /// The drain of the node: time for which the command may end its work after a step-down.
    pub(crate) drain: Duration,
}

impl Limits {
    /// Makes limits with a margin of an eighth of the lease. A kill takes some milliseconds. Renewals come four times
    /// per lease, so at each renewal much more than the margin is left of the lease.
    pub(crate) fn new(lease: Duration, drain: Duration) -> Self {
        let margin = (lease / 8).clamp(LEAST_MARGIN, MOST_MARGIN);
        Self { margin, drain }
    }

    /// Makes the limits of a guard. The limits of a guard need no drain: `bullyctl` puts the end of the drain into the
    /// deadline.
    pub(crate) fn of_guard(margin: Duration) -> Self {
        let drain = Duration::ZERO;
        Self { margin, drain }
    }

    /// Returns the time until which the leader may rely on its leadership. `now` was read before `holds_for`, so the
    /// result is never too late.
    pub(crate) fn deadline(now: u64, holds_for: Option<Duration>, drained_at: Option<u64>) -> u64 {
        let lease = holds_for.map_or(NEVER, |left| after(now, left));
        lease.min(drained_at.unwrap_or(NEVER))
    }

    /// Returns the time at which the guard kills the command.
    pub(crate) fn kill_at(&self, deadline: u64) -> u64 {
        before(deadline, self.margin)
    }

    /// Returns the time at which the guard is killed too, because it has not ended the command. The second half of the
    /// margin is left for `Guarded::finish`, which waits for the guard, kills it and ends the orphans.
    pub(crate) fn give_up_at(&self, deadline: u64) -> u64 {
        before(deadline, self.margin / 2)
    }

    /// Returns whether the lease is too short to start a command. Chosen: two margins must be left until the kill of
    /// the command.
    pub(crate) fn is_short(&self, holds_for: Option<Duration>) -> bool {
        holds_for.is_some_and(|left| left < self.margin * 3)
    }

    /// Returns the longest wait for a guard that must end at once; a quarter of the margin is left for the orphans.
    pub(crate) fn patience(&self) -> Duration {
        self.margin / 4
    }

    /// Returns the time until the next check: an eighth of the time until the deadline, so that a renewal reaches the
    /// guard in time.
    pub(crate) fn look_after(&self, now: u64, deadline: u64) -> Duration {
        if deadline == NEVER {
            return LONGEST_LOOK;
        }
        let left = |until: u64| Duration::from_nanos(until.saturating_sub(now));
        let look = (left(deadline) / 8).clamp(SHORTEST_LOOK, LONGEST_LOOK);
        look.min(left(self.give_up_at(deadline)).max(Duration::from_millis(1)))
    }
}

pub(crate) fn after(moment: u64, span: Duration) -> u64 {
    let nanos = u64::try_from(span.as_nanos()).unwrap_or(NEVER);
    moment.saturating_add(nanos)
}

fn before(deadline: u64, span: Duration) -> u64 {
    if deadline == NEVER {
        return NEVER;
    }
    let nanos = u64::try_from(span.as_nanos()).unwrap_or(NEVER);
    deadline.saturating_sub(nanos)
}

/// Limits of the margin, chosen: a kill takes some milliseconds, whether the lease is short or long.
const LEAST_MARGIN: Duration = Duration::from_millis(5);
const MOST_MARGIN: Duration = Duration::from_secs(1);
/// Shortest time between two checks, chosen. Without this limit, checks near a deadline would follow each other without
/// a pause.
const SHORTEST_LOOK: Duration = Duration::from_millis(5);
/// Longest time between two checks, chosen. A suspend stops the timer of a check. With a longer time, a hanging guard
/// is killed later after a suspend.
const LONGEST_LOOK: Duration = Duration::from_secs(1);

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    fn ms(millis: u64) -> Duration {
        Duration::from_millis(millis)
    }

    #[test]
    fn the_margin_is_an_eighth_of_the_lease_within_bounds() {
        for (lease, margin) in [(240, 30), (720, 90), (4_000, 500), (16, 5), (60_000, 1_000)] {
            assert_eq!(Limits::new(ms(lease), ms(1)).margin, ms(margin), "{lease}");
        }
    }

    #[test]
    fn the_command_is_killed_before_the_deadline_and_the_guard_soon_after() {
        let limits = Limits::new(ms(240), ms(222));
        let deadline = Limits::deadline(1_000 * MS, Some(ms(240)), None);
        assert_eq!(deadline, 1_240 * MS);
        assert_eq!(limits.kill_at(deadline), 1_210 * MS);
        assert_eq!(limits.give_up_at(deadline), 1_225 * MS);
        assert!(limits.is_short(Some(ms(89))) && !limits.is_short(Some(ms(90))));
    }

    #[test]
    fn the_earlier_of_lease_and_drain_counts() {
        let lease = Some(ms(240));
        assert_eq!(Limits::deadline(0, lease, Some(100 * MS)), 100 * MS);
        assert_eq!(Limits::deadline(0, lease, Some(300 * MS)), 240 * MS);
        assert_eq!(Limits::deadline(0, None, Some(300 * MS)), 300 * MS);
        assert_eq!(Limits::deadline(7, Some(Duration::ZERO), None), 7);
    }

    #[test]
    fn a_leadership_that_nothing_limits_has_no_deadline() {
        let limits = Limits::new(ms(240), ms(222));
        let deadline = Limits::deadline(5, None, None);
        assert_eq!(deadline, NEVER);
        assert_eq!(limits.kill_at(deadline), NEVER);
        assert_eq!(limits.give_up_at(deadline), NEVER);
        assert_eq!(limits.look_after(5, deadline), LONGEST_LOOK);
        assert!(!limits.is_short(None));
    }

    #[test]
    fn a_deadline_is_looked_at_again_well_before_the_command_would_be_killed() {
        let limits = Limits::new(ms(240), ms(222));
        assert_eq!(limits.look_after(0, 240 * MS), ms(30));
        assert_eq!(limits.look_after(0, 16 * MS), ms(1), "it is over at once");
        assert_eq!(limits.look_after(300 * MS, 240 * MS), ms(1));
        assert_eq!(limits.look_after(0, 60_000 * MS), LONGEST_LOOK);
    }
}
