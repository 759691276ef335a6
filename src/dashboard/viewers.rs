//! Who looks at the page.
//!
//! Decided here: how many viewers there may be, and that one which takes nothing of what is new for five seconds loses
//! its seat to others. Times are given, so this needs no clock. Not here: what they are sent (`board.rs`).

use std::{collections::BTreeMap, time::Duration};

/// The viewers, each with a way to close its connection.
#[derive(Debug)]
pub(crate) struct Viewers<C> {
    most: usize,
    next: u64,
    seats: BTreeMap<u64, Seat<C>>,
}

/// One viewer.
#[derive(Debug)]
struct Seat<C> {
    /// Since when there has been something that it has not taken.
    owed: Option<Duration>,
    close: C,
}

/// Why there is no seat.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there are {most} viewers already: close another page, or raise the limit by `viewers`")]
pub(crate) struct NoSeat {
    most: usize,
}

impl<C> Viewers<C> {
    pub(crate) fn new(most: usize) -> Self {
        Self {
            most,
            next: 0,
            seats: BTreeMap::new(),
        }
    }

    pub(crate) fn set_most(&mut self, most: usize) {
        self.most = most;
    }

    /// Gives a seat to one more.
    pub(crate) fn admit(&mut self, close: C) -> Result<u64, NoSeat> {
        if self.seats.len() >= self.most {
            return Err(NoSeat { most: self.most });
        }
        let number = self.next;
        self.next += 1;
        self.seats.insert(number, Seat { owed: None, close });
        Ok(number)
    }

    /// There is something new for all of them.
    pub(crate) fn offer(&mut self, now: Duration) {
        for seat in self.seats.values_mut() {
            seat.owed.get_or_insert(now);
        }
    }

    /// That one has taken all that there is. Says whether it still has its seat.
    pub(crate) fn took(&mut self, number: u64) -> bool {
        match self.seats.get_mut(&number) {
            Some(seat) => {
                seat.owed = None;
                true
            }
            None => false,
        }
    }

    /// Takes the seats of those that take nothing; their connections are to be closed.
    pub(crate) fn dismiss(&mut self, now: Duration) -> Vec<C> {
        let is_slow = |seat: &Seat<C>| {
            let owed = seat.owed;
            owed.is_some_and(|since| now.saturating_sub(since) >= PATIENCE)
        };
        let slow = self.seats.iter().filter(|(_, seat)| is_slow(seat));
        let numbers: Vec<u64> = slow.map(|(number, _)| *number).collect();
        let seats = numbers
            .iter()
            .filter_map(|number| self.seats.remove(number));
        seats.map(|seat| seat.close).collect()
    }

    pub(crate) fn leave(&mut self, number: u64) {
        self.seats.remove(&number);
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.seats.is_empty()
    }
}

/// For so long a viewer may take nothing.
pub(super) const PATIENCE: Duration = Duration::from_secs(5);

#[cfg(test)]
mod tests {
    use super::*;

    const fn at(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    #[test]
    fn there_are_so_many_seats_and_no_more() {
        let mut viewers = Viewers::new(2);
        let first = viewers.admit("first").unwrap();
        viewers.admit("second").unwrap();
        let refused = viewers.admit("third").unwrap_err();
        assert_eq!(refused, NoSeat { most: 2 });
        assert!(
            refused
                .to_string()
                .starts_with("there are 2 viewers already")
        );
        viewers.leave(first);
        assert!(viewers.admit("third").is_ok());
        assert!(!viewers.is_empty());
    }

    #[test]
    fn a_viewer_that_takes_nothing_is_dismissed_and_others_stay() {
        let mut viewers = Viewers::new(3);
        let slow = viewers.admit("slow").unwrap();
        let quick = viewers.admit("quick").unwrap();
        viewers.offer(at(1));
        assert!(viewers.took(quick));
        viewers.offer(at(4));
        assert!(viewers.dismiss(at(5)).is_empty());
        // What is offered later does not prolong it.
        assert_eq!(viewers.dismiss(at(6)), ["slow"]);
        assert!(!viewers.took(slow), "its stream ends");
        assert!(viewers.took(quick));
    }

    #[test]
    fn a_viewer_to_which_nothing_is_owed_may_stay() {
        let mut viewers = Viewers::new(1);
        viewers.admit(()).unwrap();
        assert!(viewers.dismiss(at(1_000)).is_empty());
    }
}
