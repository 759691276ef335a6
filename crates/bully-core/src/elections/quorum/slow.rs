//! A voter with a slow disk leaves the leadership to other voters.
//!
//! Decided here: which voter is slow, and how it acts (rule `slow-waits`). A voter does nothing while it writes. A
//! voter is slow if the median of its last ten writes is longer than E. A slow voter cannot keep a leadership that it
//! gets by its rank: its lease ends at the next write, and the leadership would change again and again. So a slow voter
//! asks no live leader to hand over, takes a slot later by one step for each voter, and reports in its
//! [`Ack`](super::Ack) that it is slow. A leader that hands over chooses a voter that is not slow. A slow voter votes
//! and objects like any other voter: a different rule left groups without a leader for longer.
//!
//! The driver measures each write. It also writes one probe a minute while the voter outranks its leader or is slow.
//! So a voter whose disk becomes fast again takes part by its rank after five minutes.
//!
//! Not here: the length of a round when answers come late ([`pace`](super::pace)).

use std::{collections::VecDeque, time::Duration};

use super::core::Core;

/// Number of writes over which the median is taken: five slow writes make a voter slow. Chosen: with one or two writes,
/// a single long write would be enough; with 100, a repaired disk could count as slow for 50 minutes.
const MEASURED: usize = 10;

/// The times of a voter's last writes. A write that took no longer than a round E counts as zero.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Writes {
    took: VecDeque<Duration>,
}

impl Writes {
    fn median(&self) -> Duration {
        let mut took: Vec<Duration> = self.took.iter().copied().collect();
        took.sort_unstable();
        took.get(took.len() / 2).copied().unwrap_or_default()
    }
}

impl Core {
    pub(super) fn note_write(&mut self, took: Duration) {
        let made_difference = took > self.config.timings.round();
        let took = if made_difference {
            took
        } else {
            Duration::ZERO
        };
        match &mut self.writes {
            Some(writes) => {
                writes.took.pop_front();
                writes.took.push_back(took);
                if writes.took.iter().all(Duration::is_zero) {
                    self.writes = None;
                }
            }
            None if made_difference => {
                let mut all = VecDeque::from([Duration::ZERO; MEASURED]);
                all.pop_front();
                all.push_back(took);
                self.writes = Some(Box::new(Writes { took: all }));
            }
            None => {}
        }
    }

    /// Returns the median time of a write; `None` if it is not longer than a round E.
    pub(super) fn slow_writes(&self) -> Option<Duration> {
        let median = self.writes.as_ref().map(|writes| writes.median());
        median.filter(|median| !median.is_zero())
    }

    /// Returns whether this voter's disk is slow (rule `slow-waits`).
    pub(super) fn is_slow(&self) -> bool {
        self.slow_writes().is_some()
    }
}
