//! Signs of strain, which show before a leadership is lost: slow writes, late renewals of the lease, and standstills of
//! the agent.
//!
//! Decided here: how long a write and a standstill count, when a renewal is late, and when lateness is steady and worth
//! a warning. Not here: which timings would tolerate the strain (`diagnosis/timings.rs`).

use std::time::Duration;

use crate::protocol::Time;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Strain {
    /// One bit for each of the last eight renewals, the newest in the lowest bit. A bit is 1 if the renewal was late.
    late: u8,
    /// The last renewal that was late.
    renewal: Renewal,
    warned: Option<Time>,
    /// The longest standstill of the last minute, and the time when it ended.
    stall: Option<(Duration, Time)>,
    /// Time of the longest recent write. Each later write that is shorter reduces this value (`note_write`).
    longest_write: Duration,
    /// Time of the last measurement of the disk, or of the first request for one.
    probed: Option<Time>,
}

/// A renewal of a leader's lease.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Renewal {
    /// Rest of the lease before the renewal.
    pub(super) left: Duration,
    /// Rest of the lease after the renewal.
    pub(super) renewed: Duration,
}

impl Renewal {
    /// Returns whether more than half of the lease was gone when it was renewed. A lease lasts at least three
    /// heartbeats, so two thirds are left if each heartbeat is answered at once.
    pub(super) fn is_late(self) -> bool {
        self.left < self.renewed / 2
    }
}

/// Returns whether a timer was later than the resolution of timers and other actors of the same thread can explain.
pub(super) fn is_standstill(late: Duration) -> bool {
    late >= LEAST
}

impl Strain {
    /// Notes a renewal; returns whether a warning is due.
    pub(super) fn note_renewal(&mut self, renewal: Renewal, now: Time) -> bool {
        self.late <<= 1;
        if renewal.is_late() {
            self.late |= 1;
            self.renewal = renewal;
        }
        let is_said = |at| now.since(at) < AGAIN;
        let is_steady = renewal.is_late() && self.steadily_late().is_some();
        let is_due = is_steady && !self.warned.is_some_and(is_said);
        if is_due {
            self.warned = Some(now);
        }
        is_due
    }

    pub(super) fn note_stall(&mut self, stall: Duration, now: Time) {
        if stall >= self.stall(now) {
            self.stall = Some((stall, now));
        }
    }

    /// Returns the longest standstill of the last minute; zero if there was none.
    pub(super) fn stall(&self, now: Time) -> Duration {
        let stall = self.stall.filter(|(_, at)| now.since(*at) < KEPT);
        stall.map(|(stall, _)| stall).unwrap_or_default()
    }

    /// Returns the last late renewal, if at least half of the last eight renewals were late.
    pub(super) fn steadily_late(&self) -> Option<Renewal> {
        (self.late.count_ones() >= STEADY).then_some(self.renewal)
    }

    /// Notes the duration of a write. A longer time replaces the kept time at once; a shorter time reduces the kept
    /// time by a quarter at most. A quarter is chosen: one slow write counts less than half after three fast writes.
    pub(super) fn note_write(&mut self, took: Duration) {
        self.longest_write = took.max(self.longest_write.saturating_sub(self.longest_write / 4));
    }

    /// Returns whether a minute has passed since the last measurement of the disk. The first call only begins the
    /// minute.
    pub(super) fn is_probe_due(&mut self, now: Time) -> bool {
        let is_due = self.probed.is_some_and(|at| now.since(at) >= PROBED);
        if is_due || self.probed.is_none() {
            self.probed = Some(now);
        }
        is_due
    }

    /// Returns the longest recent time of a write until it was durable; zero if there was none.
    pub(super) const fn longest_write(&self) -> Duration {
        self.longest_write
    }

    /// Notes that the incarnation has ended: its renewals do not count any more.
    pub(super) fn note_end(&mut self) {
        (self.late, self.warned) = (0, None);
    }
}

/// Smallest number of late renewals among the last eight for a warning: a single late renewal says little.
const STEADY: u32 = 4;

/// Shortest standstill that is kept. The resolution of timers and other actors of the thread may explain a shorter
/// delay.
const LEAST: Duration = Duration::from_millis(5);

/// Shortest time between two measurements of the disk.
const PROBED: Duration = Duration::from_secs(60);

/// Time for which a standstill counts.
const KEPT: Duration = Duration::from_secs(60);

/// Shortest time between two warnings.
const AGAIN: Duration = Duration::from_secs(10);

#[cfg(test)]
mod tests {
    use std::ops::Range;

    use super::*;

    const MS: fn(u64) -> Duration = Duration::from_millis;

    const fn at(millis: u64) -> Time {
        Time::from_millis(millis)
    }

    const fn renewal(left: u64, renewed: u64) -> Renewal {
        Renewal {
            left: Duration::from_millis(left),
            renewed: Duration::from_millis(renewed),
        }
    }

    /// Returns the times at which a warning is due.
    fn warned(strain: &mut Strain, renewal: Renewal, times: Range<u64>) -> Vec<u64> {
        times
            .filter(|time| strain.note_renewal(renewal, at(*time)))
            .collect()
    }

    #[test]
    fn one_late_renewal_is_chance_and_four_of_eight_are_warned_of_every_ten_seconds() {
        let mut strain = Strain::default();
        let (late, timely) = (renewal(20, 240), renewal(180, 240));
        for n in 1..=3 {
            assert!(warned(&mut strain, late, n..n + 1).is_empty());
            assert!(warned(&mut strain, timely, n..n + 1).is_empty());
        }
        assert_eq!(strain.steadily_late(), None);
        assert_eq!(
            warned(&mut strain, late, 60..61),
            [60],
            "the fourth of seven"
        );
        assert_eq!(strain.steadily_late(), Some(late));
        assert_eq!(warned(&mut strain, late, 10_059..10_061), [10_060]);
        assert!(warned(&mut strain, timely, 30_000..30_005).is_empty());
        assert_eq!(strain.steadily_late(), None);
        let four = warned(&mut strain, late, 30_010..30_014);
        assert_eq!(four, [30_013], "three of eight may be chance");
        strain.note_end();
        assert_eq!(strain.steadily_late(), None);
    }

    #[test]
    fn a_slow_write_counts_at_once_and_is_forgotten_by_quicker_ones() {
        let mut strain = Strain::default();
        for (took, longest) in [
            (100, 100),
            (40, 75),
            (300, 300),
            (1, 225),
            (1, 168),
            (200, 200),
        ] {
            strain.note_write(MS(took));
            assert_eq!(strain.longest_write().as_millis(), longest);
        }
    }
}
