//! The agents that asked a patient leader for the leadership, and that wait until they were up for long enough
//! ([`Preemption::After`](super::Preemption::After)).
//!
//! Decided here: the time that each of them waits. All that asked are remembered, each with its own time: a challenger
//! asks a leader once, so a forgotten challenger would never lead.

use std::{collections::BTreeMap, time::Duration};

use super::Step;
use crate::elections::timer::BullyTimer;
use crate::protocol::{AgentId, Incarnation, Members, Time};

/// Agents that rank above a leader, each with the time from which on it may lead.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Challengers(BTreeMap<AgentId, Challenger>);

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Challenger {
    incarnation: Incarnation,
    /// Time from which it has been up for long enough; `None` while it may be gone.
    due: Option<Time>,
}

impl Challengers {
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    #[cfg(test)]
    pub(super) fn is_awaited(&self) -> bool {
        self.next().is_some()
    }

    /// The time of a challenger runs from its first question in an incarnation.
    pub(super) fn add(
        &mut self,
        id: &AgentId,
        incarnation: Incarnation,
        steady: Duration,
        step: &mut Step<'_>,
    ) {
        let known = self.0.get(id);
        if known.is_some_and(|known| known.incarnation == incarnation) {
            return;
        }
        let due = Some(step.now.after(steady));
        let challenger = Challenger { incarnation, due };
        self.0.insert(id.clone(), challenger);
        self.set_timer(step);
    }

    /// A challenger that may be gone begins anew when it is there again: it has to be steady. It is not forgotten,
    /// because it knows nothing of the suspicion and will not ask again. A later incarnation will ask.
    pub(super) fn drop_unsteady(&mut self, members: &Members, steady: Duration, now: Time) {
        self.0.retain(|id, challenger| {
            let Some(member) = members.get(id) else {
                return false;
            };
            challenger.due = if member.is_up() {
                challenger.due.or_else(|| Some(now.after(steady)))
            } else {
                None
            };
            !member.is_stale(challenger.incarnation)
        });
    }

    /// Returns and forgets the challengers that have waited for long enough.
    pub(super) fn take_due(&mut self, now: Time) -> Vec<AgentId> {
        let is_due = |challenger: &Challenger| challenger.due.is_some_and(|due| due <= now);
        let due = self.0.iter().filter(|(_, challenger)| is_due(challenger));
        let due: Vec<_> = due.map(|(id, _)| id.clone()).collect();
        self.0.retain(|_, challenger| !is_due(challenger));
        due
    }

    /// The timer is for the first of them.
    pub(super) fn set_timer(&self, step: &mut Step<'_>) {
        match self.next() {
            Some(due) => step.out.set_timer(BullyTimer::Preempt, due.since(step.now)),
            None => step.out.cancel_timer(BullyTimer::Preempt),
        }
    }

    /// Returns the time at which the first of them may lead.
    pub(super) fn next(&self) -> Option<Time> {
        self.0
            .values()
            .filter_map(|challenger| challenger.due)
            .min()
    }
}
