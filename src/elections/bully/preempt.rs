//! A patient leader: whoever asked for its seat is made to wait until it was there for long enough
//! ([`Preemption::After`]), and then gets it by a clean hand-over.
//!
//! All who asked are remembered, each with its own time: a challenger asks a leader once, so one
//! that was forgotten for the sake of another would never lead.

use std::time::Duration;

use super::{
    Bully, Out, Preemption, Timer,
    state::{Challenger, State},
};
use crate::protocol::{AgentId, Incarnation, Member, Time};

impl Bully {
    /// Its time runs from its first question in this life.
    pub(super) fn let_wait(
        &mut self,
        now: Time,
        id: &AgentId,
        incarnation: Incarnation,
        steady: Duration,
        out: &mut Out,
    ) {
        let State::Leader(reign) = &mut self.state else {
            return;
        };
        let known = reign.challengers.get(id);
        if known.is_some_and(|c| c.incarnation == incarnation) {
            return;
        }
        let due = Some(now.after(steady));
        let challenger = Challenger { incarnation, due };
        reign.challengers.insert(id.clone(), challenger);
        self.await_challengers(now, out);
    }

    /// The snapshot may tell of their ends.
    pub(super) fn check_challengers(&mut self, now: Time, out: &mut Out) {
        if self.reign().is_some_and(|r| !r.challengers.is_empty()) {
            self.drop_unsteady(now);
            self.await_challengers(now, out);
        }
    }

    /// Who may be gone begins anew when it is there again: it has to be steady. It is not forgotten,
    /// because it knows nothing of the suspicion and will not ask again; a later life will.
    fn drop_unsteady(&mut self, now: Time) {
        let (State::Leader(reign), Preemption::After(steady)) =
            (&mut self.state, self.config.preemption)
        else {
            return;
        };
        let members = &self.me.members;
        reign.challengers.retain(|id, challenger| {
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

    pub(super) fn on_preempt_due(&mut self, now: Time, out: &mut Out) {
        self.drop_unsteady(now);
        let State::Leader(reign) = &mut self.state else {
            return self.ignore("it does not lead");
        };
        let mut waited = reign.challengers.clone();
        waited.retain(|_, challenger| challenger.due.is_some_and(|due| due <= now));
        reign.challengers.retain(|id, _| !waited.contains_key(id));
        let draining = reign.handover.is_some();
        let best = waited
            .keys()
            .filter_map(|id| self.me.members.get(id).filter(|m| self.is_better(m)))
            .max_by_key(|m| (m.score, &m.id))
            .map(|m| m.id.clone());
        self.await_challengers(now, out);
        if best.is_some() && !draining {
            self.begin_drain(now, best, out);
        }
    }

    /// Whether that member, as far as is known, is enough better than this leader.
    fn is_better(&self, member: &Member) -> bool {
        match (member.score, self.me.score) {
            (Some(theirs), Some(mine)) => {
                self.is_enough(theirs, mine) && !self.me.outranks(theirs, &member.id)
            }
            (Some(_), None) => true,
            (None, _) => false,
        }
    }

    /// The timer is for the first of them.
    fn await_challengers(&self, now: Time, out: &mut Out) {
        let due = self
            .reign()
            .and_then(|reign| reign.challengers.values().filter_map(|c| c.due).min());
        match due {
            Some(due) => out.set_timer(Timer::Preempt, due.since(now)),
            None => out.cancel_timer(Timer::Preempt),
        }
    }
}
