//! An agent that waits for the announcement of another agent.

use super::{
    Elect, Step,
    change::{Attempt, Change, Deference, Next},
};
use crate::elections::{
    message::{Announcement, Yield},
    timer::BullyTimer,
};
use crate::parts::Grace;
use crate::protocol::{AgentId, Round, Time};

/// The state of an agent that waits for the `Elected` of another agent. That agent holds an election, or this agent
/// has stopped leading for it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Waiting {
    to: AgentId,
    /// The action of this agent if no announcement comes.
    attempt: Attempt,
    /// The round that this agent gave up for the wait: a leader may still release the leadership in an answer to this
    /// round.
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

    /// Answers an asker of any rank (rule `always-answer`).
    pub(super) fn on_elect(&self, from: &AgentId, elect: &Elect, step: &mut Step<'_>) -> Next {
        if !step.competes_above(elect.score, from) {
            step.answer_yield(from, elect.round, None);
        } else if self.to == *from || step.now >= self.due {
            // This agent acts as if the leadership were vacant. Either the awaited agent itself asks and ranks below,
            // so it will not announce itself; or the wait has ended by the clock but its timer is late, because the
            // host was suspended. Otherwise the asker would have to wait although no agent holds an election.
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

    pub(super) fn on_announcement(&self, said: &Announcement<'_>, step: &mut Step<'_>) -> Next {
        let refused = step.refuse(said, None);
        // A follower does not notice that a leader has stopped for it, so an agent with an open round asks at once.
        let is_free = self.round.is_none();
        let turn = |step: &Step<'_>| step.turn(said.from, None).filter(|_| is_free);
        refused.unwrap_or_else(|| step.accept(said, None, turn))
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

    /// Called when the wait has ended (rules `ask-again` and `grace-period`).
    pub(super) fn on_victory_due(&mut self, step: &mut Step<'_>) -> Next {
        // A timer is only a hint: the clock decides whether the wait has ended.
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
        // This agent slept, so the announcement may be in its mailbox or on its way. It waits a second time and then
        // asks, because it does not know which agent leads. The question does not disturb a leader.
        let wait = timings.delay_bound().saturating_mul(2);
        step.out.set_timer(BullyTimer::Victory, wait);
        (self.grace, self.attempt) = (Grace::Used, Attempt::Ask);
        self.due = step.now.after(wait);
        Next::Stay
    }
}
