//! The challengers: agents that asked a patient leader for the leadership
//! ([`Preemption::After`](super::Preemption::After)), and wait until they have been up for long enough.
//!
//! Decided here: the time for which each challenger waits. Every agent that asked is remembered with its own time: a
//! challenger asks a leader only once, so a forgotten challenger would never lead.

use std::{collections::BTreeMap, time::Duration};

use super::Step;
use crate::elections::timer::BullyTimer;
use crate::protocol::{AgentId, Incarnation, Members, Time};

/// Agents that rank above a leader, each with the time from which it may lead (rule `patient-leader`).
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Challengers(BTreeMap<AgentId, Challenger>);

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Challenger {
    incarnation: Incarnation,
    /// Time after which the leader may hand over to this challenger; `None` while the challenger may be gone.
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

    /// Adds a challenger. Its waiting time begins now, and a second question of the same incarnation does not begin
    /// it again.
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

    /// Handles the presence of the challengers in a new snapshot. A challenger that may be gone has to wait for the
    /// whole time again once it is up; it is kept, because it does not know of the suspicion and will not ask again.
    /// A challenger with a later incarnation is forgotten, because it will ask again.
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

    /// Sets the timer for the challenger that may lead first.
    pub(super) fn set_timer(&self, step: &mut Step<'_>) {
        match self.next() {
            Some(due) => step.out.set_timer(BullyTimer::Preempt, due.since(step.now)),
            None => step.out.cancel_timer(BullyTimer::Preempt),
        }
    }

    pub(super) fn next(&self) -> Option<Time> {
        self.0
            .values()
            .filter_map(|challenger| challenger.due)
            .min()
    }
}
