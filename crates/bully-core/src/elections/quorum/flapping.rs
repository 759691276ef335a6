//! The number of times that each agent lost the leadership without a resignation (rule `wait-longer-for-flapping`).
//!
//! The host or the network of an agent may come and go, so that the agent loses the leadership again and again. Before
//! a leader hands over to it, it has to be heard without a gap, for a longer time after each loss. A count halves with
//! time.

use std::{collections::BTreeMap, time::Duration};

use super::Leadership;
use crate::protocol::{AgentId, Term, Time};

/// Number of grace periods after which a count halves. Chosen equal to the longest wait, 16 grace periods: by the end
/// of the longest wait the count has halved. With far fewer grace periods, a count is gone before the next loss.
const PERIODS: u32 = 16;

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Flapping {
    losses: BTreeMap<AgentId, Losses>,
    last: Option<Leadership>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Losses {
    count: u32,
    since: Time,
}

impl Losses {
    /// Largest count, chosen: from it a count falls to zero in four periods. Without a limit, a count of 1,000 losses
    /// would need ten periods. A count above 4 makes no wait longer; see `Flapping::grace_for`.
    const MOST: u32 = 8;

    /// Returns the count at `now`: it halves once in each `period`.
    fn count(self, now: Time, period: Duration) -> u32 {
        let nanos = period.as_nanos().max(1);
        let periods = now.since(self.since).as_nanos() / nanos;
        let periods = u32::try_from(periods).unwrap_or(u32::MAX);
        self.count.checked_shr(periods).unwrap_or(0)
    }
}

impl Flapping {
    /// Notes that an agent leads in `term`. `grace` is the time for which a leader makes a better agent wait; `None`
    /// if leaders do not hand over after such a time.
    pub(super) fn note_leader(
        &mut self,
        now: Time,
        id: &AgentId,
        term: Term,
        grace: Option<Duration>,
        has_resigned: impl FnOnce(&Leadership) -> bool,
    ) {
        let before = self.last.as_ref().filter(|last| last.id != *id);
        if let (Some(before), Some(grace)) = (before.filter(|last| !has_resigned(last)), grace) {
            let none = Losses {
                count: 0,
                since: now,
            };
            let losses = self.losses.entry(before.id.clone()).or_insert(none);
            let count = losses.count(now, grace.saturating_mul(PERIODS));
            losses.count = count.saturating_add(1).min(Losses::MOST);
            losses.since = now;
        }
        if !self.is_last(id, term) {
            let id = id.clone();
            self.last = Some(Leadership { id, term });
        }
    }

    pub(super) fn is_last(&self, id: &AgentId, term: Term) -> bool {
        let last = self.last.as_ref();
        last.is_some_and(|last| last.id == *id && last.term == term)
    }

    /// Returns the time for which the agent `id` has to wait, if an agent that has lost nothing waits for `grace`.
    pub(super) fn grace_for(&self, now: Time, id: &AgentId, grace: Duration) -> Duration {
        let period = grace.saturating_mul(PERIODS);
        let losses = self.losses.get(id).map_or(0, |l| l.count(now, period));
        // At most 16 times `grace`, 160 s by default. Chosen: with one doubling more, a repaired agent would wait for
        // twice as long. A count above 4 does not make the wait longer, but takes more time to halve.
        grace.saturating_mul(1 << losses.min(4))
    }
}
