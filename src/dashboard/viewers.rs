//! The viewers of the page.
//!
//! Decided here: the largest number of viewers; and a viewer that does not read new frames for five seconds loses its
//! slot. The caller passes the time, so this file needs no clock. Not here: the frames for the viewers (`board.rs`).

use std::{collections::BTreeMap, time::Duration};

/// The viewers, each with a handle that closes its connection.
#[derive(Debug)]
pub(crate) struct Viewers<C> {
    most: usize,
    next: u64,
    admitted: BTreeMap<u64, Admitted<C>>,
}

/// A viewer and its handle.
#[derive(Debug)]
struct Admitted<C> {
    /// Time at which the oldest frame that the viewer has not read was published; `None` if the viewer has read all
    /// frames.
    owed: Option<Duration>,
    close: C,
}

/// The reason why a viewer is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{most} pages of the dashboard are open: close one, or raise the limit by `viewers`")]
pub(crate) struct TooManyViewers {
    most: usize,
}

impl<C> Viewers<C> {
    pub(crate) fn new(most: usize) -> Self {
        Self {
            most,
            next: 0,
            admitted: BTreeMap::new(),
        }
    }

    pub(crate) fn set_most(&mut self, most: usize) {
        self.most = most;
    }

    /// Admits a viewer and returns its number.
    pub(crate) fn admit(&mut self, close: C) -> Result<u64, TooManyViewers> {
        if self.admitted.len() >= self.most {
            return Err(TooManyViewers { most: self.most });
        }
        let number = self.next;
        self.next += 1;
        self.admitted.insert(number, Admitted { owed: None, close });
        Ok(number)
    }

    /// Notes that there is a new frame for all viewers.
    pub(crate) fn offer(&mut self, now: Duration) {
        for viewer in self.admitted.values_mut() {
            viewer.owed.get_or_insert(now);
        }
    }

    /// Notes that this viewer has read all frames. Returns `false` if it has lost its slot.
    pub(crate) fn took(&mut self, number: u64) -> bool {
        match self.admitted.get_mut(&number) {
            Some(viewer) => {
                viewer.owed = None;
                true
            }
            None => false,
        }
    }

    /// Removes the viewers that are too slow. Returns the handles that close their connections.
    pub(crate) fn dismiss(&mut self, now: Duration) -> Vec<C> {
        let is_slow = |viewer: &Admitted<C>| {
            let owed = viewer.owed;
            owed.is_some_and(|since| now.saturating_sub(since) >= PATIENCE)
        };
        let slow = self.admitted.iter().filter(|(_, viewer)| is_slow(viewer));
        let numbers: Vec<u64> = slow.map(|(number, _)| *number).collect();
        let viewers = numbers
            .iter()
            .filter_map(|number| self.admitted.remove(number));
        viewers.map(|viewer| viewer.close).collect()
    }

    pub(crate) fn leave(&mut self, number: u64) {
        self.admitted.remove(&number);
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.admitted.is_empty()
    }
}

/// Longest time for which a viewer may leave a frame unread.
pub(super) const PATIENCE: Duration = Duration::from_secs(5);

#[cfg(test)]
mod tests {
    use super::*;

    const fn at(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    #[test]
    fn the_number_of_viewers_is_limited() {
        let mut viewers = Viewers::new(2);
        let first = viewers.admit("first").unwrap();
        viewers.admit("second").unwrap();
        let refused = viewers.admit("third").unwrap_err();
        assert_eq!(refused, TooManyViewers { most: 2 });
        assert!(
            refused
                .to_string()
                .starts_with("2 pages of the dashboard are open")
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
        // A later frame does not prolong the time.
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
