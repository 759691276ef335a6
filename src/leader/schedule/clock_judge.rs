//! Compares the wall clock of a leader with the clocks of other contenders (agents that may take the lease). It is a
//! pure function.
//!
//! | known | compared with |
//! |---|---|
//! | the clocks of three contenders, the leader included | their median |
//! | fewer than three, and the store has a clock | the clock of the store |
//! | fewer than three, no clock of the store, and rows that may be of living agents | nothing yet: a living agent writes its row every 30 s |
//! | fewer than three, no clock of the store, and no such rows | nothing: the leader uses its own clock, and warns |
//!
//! Each contender writes the time of its clock into its row in the store. The row was written some time before it was
//! read, so each clock is known only as a span of time. A clock is wrong if it is outside of the compared span by more
//! than [`AHEAD`]. Not here: when clocks are read, and the reaction to a wrong clock (`clock_watch.rs`).

use std::time::Duration;

use crate::{
    clock::WallTime,
    protocol::AgentId,
    register::keeper::{ContenderClock, ReadStoreClock},
};

use super::register::AHEAD;

#[derive(Debug)]
pub(super) struct KnownClocks {
    pub(super) own: WallTime,
    pub(super) others: Vec<ContenderClock>,
    pub(super) store: Option<ReadStoreClock>,
    /// Time since the rows of the other contenders were first read.
    pub(super) watched: Duration,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum ClockVerdict {
    Fits,
    /// The rows of other agents that run now may not have been read yet.
    Unknown,
    /// There is no other clock for a comparison.
    Alone,
    Off {
        /// The time of the other clocks.
        others: WallTime,
        /// Whether `others` is the clock of the store.
        is_store: bool,
        /// The contender to hand over to, whose clock is right.
        successor: Option<AgentId>,
    },
}

/// Smallest number of clocks whose median is used: one wrong clock among three cannot change it much.
const LEAST: usize = 3;

/// Time within which a living agent has written its row, because it writes the row every 30 s.
const WRITTEN: Duration = Duration::from_secs(35);

impl KnownClocks {
    pub(super) fn judge(&self) -> ClockVerdict {
        let alive = || self.others.iter().filter(|other| other.is_alive);
        if let Some(median) = self.median(alive()) {
            return self.compare(median, false);
        }
        if let Some(ReadStoreClock { wall, within }) = self.store {
            let store = ClockSpan::new(wall, within);
            return self.compare(store, true);
        }
        let Some(all) = self.median(self.others.iter()) else {
            return ClockVerdict::Alone;
        };
        // The readings may be of agents that have ended. So a clock that fits the readings is accepted, but a clock
        // that does not fit is not refused.
        if all.fits(self.own) {
            ClockVerdict::Fits
        } else if self.watched < WRITTEN {
            ClockVerdict::Unknown
        } else {
            ClockVerdict::Alone
        }
    }

    /// Returns the median of the clocks `others` and the leader's clock; `None` if there are fewer than [`LEAST`]
    /// clocks.
    fn median<'a>(&self, others: impl Iterator<Item = &'a ContenderClock>) -> Option<ClockSpan> {
        let own = ClockSpan::new(self.own, Duration::ZERO);
        let spans: Vec<_> = others.map(ClockSpan::of).chain([own]).collect();
        let last = spans
            .len()
            .checked_sub(1)
            .filter(|_| spans.len() >= LEAST)?;
        let sorted = |bound: fn(&ClockSpan) -> WallTime| {
            let mut all: Vec<_> = spans.iter().map(bound).collect();
            all.sort_unstable();
            all
        };
        // With an even number of clocks, the span covers both middle clocks.
        Some(ClockSpan {
            from: *sorted(|span| span.from).get(last / 2)?,
            to: *sorted(|span| span.to).get(spans.len() / 2)?,
        })
    }

    fn compare(&self, others: ClockSpan, is_store: bool) -> ClockVerdict {
        if others.fits(self.own) {
            return ClockVerdict::Fits;
        }
        let may_lead = |other: &&ContenderClock| other.is_alive && other.score.is_some();
        let fits = |other: &&ContenderClock| {
            let clock = ClockSpan::of(other);
            others.fits(clock.from) || others.fits(clock.to) || clock.fits(others.from)
        };
        let fitting = self.others.iter().filter(may_lead).filter(fits);
        let successor = fitting.max_by_key(|other| other.score);
        ClockVerdict::Off {
            others: others.from,
            is_store,
            successor: successor.map(|other| other.id.clone()),
        }
    }
}

/// A span of time that contains the time of a clock, since its reading may be old.
#[derive(Clone, Copy, Debug)]
struct ClockSpan {
    from: WallTime,
    to: WallTime,
}

impl ClockSpan {
    fn new(from: WallTime, within: Duration) -> Self {
        let to = from.after(within);
        Self { from, to }
    }

    fn of(other: &ContenderClock) -> Self {
        Self::new(WallTime::from_millis(other.wall), other.within)
    }

    fn fits(self, own: WallTime) -> bool {
        own.since(self.to) <= AHEAD && self.from.since(own) <= AHEAD
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::Score;

    const NOW: u64 = 1_767_323_040_000;
    const DAY: i64 = 86_400_000;

    fn at(ahead: i64) -> WallTime {
        WallTime::from_millis(NOW.saturating_add_signed(ahead))
    }

    /// Returns a contender whose clock is `ahead` milliseconds ahead, and whose row was read within 5 s.
    fn other(name: &str, ahead: i64) -> ContenderClock {
        ContenderClock {
            id: AgentId::new(name).unwrap(),
            score: Some(Score::from(1)),
            wall: at(ahead).as_millis() - 5_000,
            within: Duration::from_secs(5),
            is_alive: true,
        }
    }

    fn found(name: &str, ahead: i64) -> ContenderClock {
        ContenderClock {
            is_alive: false,
            ..other(name, ahead)
        }
    }

    fn known(own: i64, others: &[ContenderClock]) -> KnownClocks {
        KnownClocks {
            own: at(own),
            others: others.to_vec(),
            store: None,
            watched: Duration::ZERO,
        }
    }

    fn store(ahead: i64) -> ReadStoreClock {
        ReadStoreClock {
            wall: at(ahead),
            within: Duration::from_millis(20),
        }
    }

    fn is_off(verdict: &ClockVerdict) -> bool {
        matches!(verdict, ClockVerdict::Off { .. })
    }

    #[test]
    fn a_clock_is_compared_with_the_median_of_three_contenders() {
        for (own, others, off) in [
            (0, [0, 0], false),
            (0, [DAY, -DAY], false),
            (0, [DAY, 500], false),
            (0, [DAY, DAY], true),
            (DAY, [0, 0], true),
            (-DAY, [0, 3_000], true),
            // The difference is more than 10 s at the latest moment at which the rows may have been written.
            (10_000, [0, 0], false),
            (10_001, [0, 0], true),
            (-15_000, [0, 0], false),
            (-15_001, [0, 0], true),
        ] {
            let [b, c] = others;
            let verdict = known(own, &[other("b", b), other("c", c)]).judge();
            assert_eq!(is_off(&verdict), off, "{own}, {others:?}: {verdict:?}");
        }
        // Two of four clocks agree with each other, and so do the other two.
        let two_and_two = known(DAY, &[other("b", DAY), other("c", 0), other("d", 0)]);
        assert_eq!(two_and_two.judge(), ClockVerdict::Fits);
    }

    #[test]
    fn the_successor_is_the_best_contender_whose_clock_fits() {
        let best = ContenderClock {
            score: Some(Score::from(9)),
            ..other("d", 2_000)
        };
        let withdrawn = ContenderClock {
            score: None,
            ..other("e", 0)
        };
        let others = [other("b", DAY), other("c", 0), best, withdrawn];
        let ClockVerdict::Off {
            successor, others, ..
        } = known(DAY, &others).judge()
        else {
            panic!("it fits");
        };
        assert_eq!(successor, AgentId::new("d").ok());
        assert!(at(0).since(others) <= Duration::from_secs(5), "{others}");
        let none = known(DAY, &[found("b", 0), found("c", 0)]);
        assert_eq!(none.judge(), ClockVerdict::Unknown);
    }

    #[test]
    fn each_condition_of_a_successor_counts_by_itself() {
        let [mut withdrawn, mut old] = [other("b", 0), other("b", -10_000)];
        withdrawn.score = None;
        old.within = Duration::from_secs(30); // its clock may be right
        for (b, is_successor) in [(found("b", 0), false), (withdrawn, false), (old, true)] {
            let mut clocks = known(DAY, &[b]);
            clocks.store = Some(store(0));
            let ClockVerdict::Off { successor, .. } = clocks.judge() else {
                panic!("it fits");
            };
            assert_eq!(successor.is_some(), is_successor, "{clocks:?}");
        }
    }

    #[test]
    fn with_fewer_than_three_the_clock_of_the_store_counts_where_it_has_one() {
        let two = |own, store| KnownClocks {
            store,
            ..known(own, &[other("b", 0)])
        };
        assert_eq!(two(0, Some(store(0))).judge(), ClockVerdict::Fits);
        assert_eq!(two(-DAY, None).judge(), ClockVerdict::Alone);
        let off = ClockVerdict::Off {
            others: at(0),
            is_store: true,
            successor: AgentId::new("b").ok(),
        };
        assert_eq!(two(-DAY, Some(store(0))).judge(), off);
        let ClockVerdict::Off { successor, .. } = two(0, Some(store(DAY))).judge() else {
            panic!("it fits");
        };
        assert_eq!(successor, None, "the other one fits no better");
        // Three contenders are a majority against the store.
        let mut three = known(0, &[other("b", 0), other("c", 0)]);
        three.store = Some(store(DAY));
        assert_eq!(three.judge(), ClockVerdict::Fits);
    }

    #[test]
    fn rows_that_were_found_count_once_they_are_written_again() {
        let rows = [found("b", -DAY), found("c", -DAY)];
        let mut clocks = known(0, &rows);
        assert_eq!(clocks.judge(), ClockVerdict::Unknown);
        clocks.watched = WRITTEN;
        assert_eq!(clocks.judge(), ClockVerdict::Alone, "no row is new");
        let fitting = known(0, &[found("b", 0), found("c", 0)]);
        assert_eq!(fitting.judge(), ClockVerdict::Fits);
    }
}
