//! A voter whose disk is slow leaves the leadership to others.
//!
//! Decided here: `slow-waits`. A voter does nothing while it writes. One that needs longer than a round of E for that, the
//! median of its last ten writes, cannot keep a leadership that it gets by its rank: its lease ends at the next write, and
//! the leadership would move for ever. So a slow voter asks no live leader to give way, waits for a vacant leadership as long
//! as all voters together, and says in its [`Ack`](super::Ack) that it is slow. A leader that hands over chooses one that
//! is not. A slow voter votes, and objects, like any other: another rule left groups without a leader for longer.
//!
//! Its driver measures: each write, and one probe a minute while the voter would take over, or is slow.
//! So one whose disk is fast again takes part by its rank after five minutes.
//!
//! Not here: how long a round lasts where answers come late ([`pace`](super::pace)).

use std::{collections::VecDeque, time::Duration};

use super::core::Core;

/// Number of writes whose median counts.
const MEASURED: usize = 10;

/// The last writes of a voter. One that made no difference counts as zero.
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
    /// The driver has measured a write.
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

    /// The time of a write, where it is longer than a round.
    pub(super) fn slow_writes(&self) -> Option<Duration> {
        let median = self.writes.as_ref().map(|writes| writes.median());
        median.filter(|median| !median.is_zero())
    }

    /// `slow-waits`: whether its disk is too slow for it to be preferred.
    pub(super) fn is_slow(&self) -> bool {
        self.slow_writes().is_some()
    }
}
