//! An agent that received `ok`, or was asked by an agent that ranks above it: it awaits `elected`.
//!
//! ASTRA's agent waits without an end. Here an announcement that does not come starts another
//! election, because the agent that was deferred to may have crashed.

use std::collections::BTreeSet;

use super::{
    BullyTimer, Elect, Step,
    change::{Change, Next},
};
use crate::elections::message::Announcement;
use crate::protocol::{AgentId, Time};

/// Lets an agent go first that ranks above it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Deferring {
    to: AgentId,
    /// Agents that need not be asked in another election.
    failed_election: BTreeSet<AgentId>,
    due: Time,
}

impl Deferring {
    pub(super) fn enter(
        to: AgentId,
        failed_election: BTreeSet<AgentId>,
        step: &mut Step<'_>,
    ) -> Self {
        let wait = step.core.config.timings.victory_wait();
        step.out.set_timer(BullyTimer::Victory, wait);
        Self {
            to,
            failed_election,
            due: step.now.after(wait),
        }
    }

    pub(super) fn leave(step: &mut Step<'_>) {
        step.out.cancel_timer(BullyTimer::Victory);
    }

    /// As written, ASTRA's agent starts another election each time it is asked while it waits: up to 2^k of them. This
    /// agent answers, and goes on waiting.
    pub(super) fn on_elect(&mut self, from: &AgentId, elect: &Elect, step: &mut Step<'_>) -> Next {
        if !step.outranks(elect.score, from) {
            self.failed_election.remove(from);
            return Next::ignore(step, "it defers already");
        }
        step.answer_ok(from, elect);
        self.failed_election.insert(from.clone());
        Next::Stay
    }

    /// Its score may have been lower when it asked.
    pub(super) fn on_ok(&mut self, from: &AgentId, step: &Step<'_>) -> Next {
        self.failed_election.remove(from);
        Next::ignore(step, "it defers already")
    }

    pub(super) fn on_elected(said: &Announcement<'_>, step: &Step<'_>) -> Next {
        if step.outranks(said.score, said.from) {
            return Next::ignore(step, "it ranks below, and an election is under way");
        }
        Next::follow(said)
    }

    /// Agents that asked may rank above this agent now.
    pub(super) fn on_score(&mut self) -> Next {
        self.failed_election.clear();
        Next::Stay
    }

    pub(super) fn on_members(&self, step: &Step<'_>) -> Next {
        if step.core.me.is_up(&self.to) {
            Next::Stay
        } else {
            Next::hold_election()
        }
    }

    pub(super) fn on_victory_due(&mut self, step: &mut Step<'_>) -> Next {
        if step.now < self.due {
            step.out
                .set_timer(BullyTimer::Victory, self.due.since(step.now));
            return Next::Stay;
        }
        // Its score is the same since, or there would be none: those rank below still.
        let failed_election = std::mem::take(&mut self.failed_election);
        Next::Become(Change::HoldElection { failed_election })
    }
}
