//! The due times from an agent's own stream that may still be run.
//!
//! Decided here: which due times are taken, how many are kept, and when reading continues. Not here: the reading
//! (`feed.rs`), and which due times are run (`planner.rs`, for which they are a rule like any other).

use std::collections::BTreeSet;

use crate::clock::WallTime;

use super::planner::Misfire;

/// See the [module](self).
#[derive(Debug, Default)]
pub(super) struct DueWindow {
    times: BTreeSet<WallTime>,
    /// The latest due time of the stream.
    latest: WallTime,
    frontier: Frontier,
    /// Whether the agent leads. A leader shows by the frontier which due times it does not need any more.
    leads: bool,
    misordered: u64,
    has_ended: bool,
}

/// The progress of a schedule at the leader.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Frontier {
    /// All due times up to this time are done, in the whole group.
    pub(super) known: WallTime,
    /// Due times up to this time are not considered again, unless the clock is set back.
    pub(super) settled: WallTime,
    /// The due time that is claimed or run now. When its tick ends, all earlier due times are done.
    pub(super) busy: Option<WallTime>,
}

/// The outcome of a due time from the stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Offer {
    Taken,
    /// Another leader has run this due time, or a later due time.
    Passed,
    /// The stream gave this due time before, or gave it after a later due time had begun or was skipped.
    Misordered,
}

/// Largest number of due times that are kept. While the window is full, the stream is not read.
pub(super) const MOST: usize = 1_024;

impl DueWindow {
    /// Takes a due time of the stream.
    pub(super) fn offer(&mut self, due: WallTime) -> Offer {
        let is_newest = due > self.latest;
        self.latest = self.latest.max(due);
        let Frontier { settled, busy, .. } = self.frontier;
        let is_open = due > settled && busy.is_none_or(|busy| due > busy);
        if is_open && self.times.insert(due) {
            return Offer::Taken;
        }
        if is_newest {
            return Offer::Passed;
        }
        self.misordered = self.misordered.saturating_add(1);
        Offer::Misordered
    }

    pub(super) fn end(&mut self) {
        self.has_ended = true;
    }

    /// Notes the progress of this agent, which leads. Returns whether the window was full before.
    pub(super) fn lead(&mut self, frontier: Frontier) -> bool {
        let was_full = self.is_full();
        self.frontier = frontier;
        self.leads = true;
        self.drop_until(frontier.known);
        was_full
    }

    /// Notes that the agent does not lead any more. The progress of other leaders is unknown, but it never goes back.
    pub(super) fn follow(&mut self) {
        self.leads = false;
        self.frontier.settled = self.frontier.known;
        self.frontier.busy = None;
    }

    /// Returns whether reading continues. If the window is full, the least needed due times are removed.
    pub(super) fn has_room(&mut self, misfire: Misfire, now: WallTime) -> bool {
        if self.is_full() {
            match misfire {
                // Due times that the leader skipped are forgotten, even if the clock is set back later.
                _ if self.leads => self.drop_until(self.frontier.settled),
                // No due time is removed, because perhaps all of them are still to be run. When this agent leads, it
                // learns the last due time that was run. Then it removes due times, and reading continues.
                Misfire::AtLeastOnce => {}
                // Of the missed due times, only the last is ever run.
                Misfire::Skip | Misfire::Late { .. } => {
                    let newest = self.times.range(..=now).next_back().copied();
                    self.times = self.times.split_off(&newest.unwrap_or_default());
                }
            }
        }
        !self.is_full()
    }

    /// Returns the due times, for use in place of a rule.
    pub(super) const fn times(&self) -> &BTreeSet<WallTime> {
        &self.times
    }

    /// Returns the number of due times that were repeated or too late.
    pub(super) const fn misordered(&self) -> u64 {
        self.misordered
    }

    pub(super) const fn has_ended(&self) -> bool {
        self.has_ended
    }

    fn is_full(&self) -> bool {
        self.times.len() >= MOST
    }

    fn drop_until(&mut self, time: WallTime) {
        if self.times.first().is_some_and(|first| *first <= time) {
            self.times = self.times.split_off(&time);
            self.times.remove(&time);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::leader::schedule::planner::{NextTick, plan};

    const LATE: Misfire = Misfire::Late {
        within: Duration::from_secs(3_600),
    };

    const fn at(seconds: u64) -> WallTime {
        WallTime::from_millis(seconds * 1_000)
    }

    fn seconds(window: &DueWindow) -> Vec<u64> {
        let times = window.times().iter();
        times.map(|due| due.as_millis() / 1_000).collect()
    }

    /// Returns the progress of a leader.
    fn front(known: u64, settled: u64) -> Frontier {
        Frontier {
            known: at(known),
            settled: at(settled),
            busy: None,
        }
    }

    fn offer_all(window: &mut DueWindow, times: impl IntoIterator<Item = u64>) -> Vec<Offer> {
        times.into_iter().map(|due| window.offer(at(due))).collect()
    }

    #[test]
    fn a_due_time_before_a_tick_that_has_begun_is_not_run() {
        let mut window = DueWindow::default();
        offer_all(&mut window, [10, 40]);
        window.lead(front(10, 20));
        assert_eq!(seconds(&window), [40], "the group is past 10");
        assert_eq!(window.offer(at(15)), Offer::Misordered, "it was skipped");
        assert_eq!(window.offer(at(30)), Offer::Taken, "it is still to come");
        window.lead(Frontier {
            busy: Some(at(30)),
            ..front(10, 20)
        });
        assert_eq!(window.offer(at(25)), Offer::Misordered, "30 runs");
        assert_eq!(seconds(&window), [30, 40], "and may have to run again");
        // The next leadership asks the group again, and a due time that was only skipped counts again.
        window.follow();
        assert_eq!(window.offer(at(15)), Offer::Taken);
    }

    #[test]
    fn a_tick_of_another_leader_is_passed_over_and_not_counted_as_disorder() {
        let mut window = DueWindow::default();
        window.lead(front(500, 500));
        let offers = offer_all(&mut window, (1..=600).step_by(100));
        assert_eq!(offers[..5], [Offer::Passed; 5]);
        assert_eq!(offers[5], Offer::Taken);
        assert_eq!((seconds(&window), window.misordered()), (vec![501], 0));
    }

    #[test]
    fn a_stream_without_an_end_fills_a_window_up_to_its_limit() {
        let most = u64::try_from(MOST).unwrap();
        for misfire in [Misfire::Skip, LATE, Misfire::AtLeastOnce] {
            let mut window = DueWindow::default();
            for now in 1..10 * most {
                if window.has_room(misfire, at(now)) {
                    window.offer(at(now));
                }
                assert!(window.times().len() <= MOST);
            }
            let newest = 10 * most - 1;
            if misfire == Misfire::AtLeastOnce {
                // No due time may be lost: the window keeps the oldest ones, and the rest of the stream waits.
                assert_eq!(seconds(&window), (1..=most).collect::<Vec<_>>());
                window.lead(front(newest, newest));
                assert!(window.has_room(misfire, at(newest)));
                assert!(window.times().is_empty());
            } else {
                let plan = plan(window.times(), misfire, at(1), at(newest));
                assert_eq!(plan.next, NextTick::Now(at(newest)));
            }
        }
    }

    #[test]
    fn due_times_ahead_are_kept_and_the_rest_of_the_stream_waits() {
        let mut window = DueWindow::default();
        offer_all(&mut window, 1..=u64::try_from(MOST).unwrap());
        assert!(!window.has_room(Misfire::Skip, at(1)));
        assert!(window.has_room(Misfire::Skip, at(3)));
        assert_eq!(seconds(&window)[0], 3, "the last missed tick");
    }

    #[test]
    fn a_leader_keeps_what_a_clock_set_back_would_ask_for_until_the_room_is_needed() {
        let most = u64::try_from(MOST).unwrap();
        let mut window = DueWindow::default();
        offer_all(&mut window, 1..most);
        assert!(!window.lead(front(1, 500)));
        assert_eq!(seconds(&window)[0], 2);
        offer_all(&mut window, [most, most + 1]);
        assert!(window.has_room(Misfire::AtLeastOnce, at(500)));
        assert_eq!(seconds(&window)[0], 501);
        offer_all(&mut window, most + 2..most + 502);
        assert!(!window.has_room(Misfire::AtLeastOnce, at(500)));
        assert!(window.lead(front(600, 600)), "it has room again");
    }
}
