//! An agent that lets another one go first, and awaits its `Elected`.

use super::{
    Elect, Step,
    change::{Change, Deference, Next},
    rules::{Attempt, Grace},
};
use crate::elections::{
    message::{Announcement, Yield},
    timer::BullyTimer,
};
use crate::protocol::{AgentId, Round, Time};

/// Waits for the announcement of an agent that holds an election, or to which the leadership was left.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Waiting {
    to: AgentId,
    /// The action of this agent if no announcement comes.
    attempt: Attempt,
    /// The round that it gave up for this: a leader's release may still arrive.
    round: Option<Round>,
    due: Time,
    grace: Grace,
}

impl Waiting {
    pub(super) fn enter(deference: Deference, step: &mut Step<'_>) -> Self {
        step.out.set_timer(BullyTimer::Victory, deference.wait);
        Self {
            to: deference.to,
            attempt: deference.attempt,
            round: deference.round,
            due: step.now.after(deference.wait),
            grace: Grace::Unused,
        }
    }

    pub(super) fn leave(step: &mut Step<'_>) {
        step.out.cancel_timer(BullyTimer::Victory);
    }

    pub(super) fn on_elect(&self, from: &AgentId, elect: &Elect, step: &mut Step<'_>) -> Next {
        if !step.outranks(elect.score, from) {
            step.answer_yield(from, elect.round);
        } else if self.to == *from || step.now >= self.due {
            // The other agent asks, and ranks below: there is nothing to wait for. The same holds once the wait is over
            // by the clock. Its timer is late where the host was suspended, and without this the asker would have to
            // wait although no agent holds an election.
            return Next::Again(Change::Vacant(None));
        } else {
            step.answer_ok(from, elect);
        }
        Next::Stay
    }

    pub(super) fn on_yield(&self, yielded: &Yield, step: &Step<'_>) -> Next {
        if self
            .round
            .is_some_and(|open| step.is_release(yielded, open))
        {
            return Next::Become(Change::Lead);
        }
        Next::ignore(step, "this round was given up")
    }

    pub(super) fn on_announcement(said: &Announcement<'_>, step: &mut Step<'_>) -> Next {
        let refused = step.refuse(said, None);
        refused.unwrap_or_else(|| step.accept(said, None))
    }

    pub(super) fn on_members(&self, step: &Step<'_>) -> Next {
        if step.core.me.is_up(&self.to) {
            Next::Stay
        } else {
            self.give_up()
        }
    }

    fn give_up(&self) -> Next {
        Next::Become(Change::TakeSlot {
            attempt: self.attempt,
            gone: Some(self.to.clone()),
        })
    }

    pub(super) fn on_victory_due(&mut self, step: &mut Step<'_>) -> Next {
        // Timers are hints: only the clock decides that the wait is over.
        if step.now < self.due {
            step.out
                .set_timer(BullyTimer::Victory, self.due.since(step.now));
            return Next::Stay;
        }
        let timings = &step.core.config.timings;
        let is_late = step.now.since(self.due) > timings.delay_bound();
        if !is_late || self.grace == Grace::Used {
            return self.give_up();
        }
        // It slept: the announcement may be in its mailbox, or under way. No agent can know which one leads by now, so
        // this agent asks afterwards; the question does no harm to a leader.
        let wait = timings.delay_bound().saturating_mul(2);
        step.out.set_timer(BullyTimer::Victory, wait);
        (self.grace, self.attempt) = (Grace::Used, Attempt::Ask);
        self.due = step.now.after(wait);
        Next::Stay
    }
}
