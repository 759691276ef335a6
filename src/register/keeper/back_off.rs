//! The pause between operations on a store that fails.
//!
//! Decided here: how long the pauses are. The pauses end only when an operation of the kind that failed, or of a later
//! kind in the order of [`Access`], succeeds. Not here: the messages for an operator (`health.rs`).

use std::time::Duration;

use super::Access;
use crate::protocol::Time;

/// Limits how often one kind of data, such as the marks of schedules, is read or written while the store fails.
#[derive(Debug, Default)]
pub(crate) struct BackOff {
    /// The kind of operation that fails. Other kinds may succeed: a store that became read-only still answers reads.
    failing: Option<Access>,
    /// Number of failures in a row.
    failures: u32,
    not_before: Time,
}

impl BackOff {
    pub(crate) fn fails(&mut self, access: Access, now: Time) {
        self.failing = self.failing.max(Some(access));
        self.not_before = now.after(pause(self.failures));
        self.failures = self.failures.saturating_add(1);
    }

    pub(crate) fn works(&mut self, access: Access) {
        // In the order of kinds, a write comes after its read. So a write that succeeds also ends the pause of reads,
        // but a read that succeeds does not end the pause of writes.
        if self.failing.is_some_and(|failing| failing <= access) {
            *self = Self::default();
        }
    }

    /// Returns the earliest time of the next operation; `None` if the store does not fail. While the store fails, only
    /// one operation may try it at a time.
    pub(crate) fn not_before(&self) -> Option<Time> {
        self.failing.map(|_| self.not_before)
    }
}

/// Returns the time from the beginning of an operation to the beginning of the next operation of its kind, after
/// `failures` failures in a row.
pub(crate) fn pause(failures: u32) -> Duration {
    PAUSE.saturating_mul(1 << failures.min(MOST_DOUBLINGS))
}

/// Shortest time between two reads: the store is read at most a hundred times a second, for any number of questions.
const PAUSE: Duration = Duration::from_millis(10);

/// Largest number of doublings of the pause: a store that goes on failing is tried every 640 ms.
const MOST_DOUBLINGS: u32 = 6;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_store_that_takes_no_writes_is_tried_ever_less_until_a_write_succeeds() {
        let mut back_off = BackOff::default();
        let now = Time::from_millis(1_000);
        assert_eq!(back_off.not_before(), None);
        let pauses = [(); 9].map(|()| {
            back_off.works(Access::MarkReads);
            back_off.fails(Access::MarkWrites, now);
            back_off.not_before().unwrap().since(now).as_millis()
        });
        assert_eq!(pauses, [10, 20, 40, 80, 160, 320, 640, 640, 640]);
        back_off.fails(Access::MarkReads, now);
        back_off.works(Access::MarkReads);
        assert!(back_off.not_before().is_some(), "writes fail still");
        back_off.works(Access::MarkWrites);
        assert_eq!(back_off.not_before(), None);
        back_off.fails(Access::MarkReads, now);
        let again = back_off.not_before().unwrap().since(now);
        assert_eq!(again, PAUSE, "it begins anew");
    }

    #[test]
    fn a_write_that_succeeds_ends_the_pause_of_reads_as_well() {
        let mut back_off = BackOff::default();
        back_off.fails(Access::MarkReads, Time::from_millis(1_000));
        back_off.works(Access::MarkWrites);
        assert_eq!(back_off.not_before(), None);
    }
}
