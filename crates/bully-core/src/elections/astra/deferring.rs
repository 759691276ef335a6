//! An agent that awaits `elected`, because it received `ok` or was asked by an agent that ranks above it.
//!
//! ASTRA's agent waits without a limit. This agent starts another election if the announcement does not come, because
//! the agent that it waits for may have crashed.

use std::collections::BTreeSet;

use super::{
    BullyTimer, Elect, Step,
    change::{Change, Next},
};
use crate::elections::message::Announcement;
use crate::protocol::{AgentId, Time};

/// The state of an agent that waits for an agent of a higher rank.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Deferring {
    to: AgentId,
    /// Agents that rank below this agent, so that another election need not ask them.
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

    /// Answers, and continues to wait (rule `answer-from-above`). By ASTRA's original rules, each question to a waiting
    /// agent starts another election of the waiting agent: up to 2^k elections if it ranks above k other agents.
    pub(super) fn on_elect(&mut self, from: &AgentId, elect: &Elect, step: &mut Step<'_>) -> Next {
        if !step.competes_above(elect.score, from) {
            self.failed_election.remove(from);
            return Next::ignore(step, "it defers already");
        }
        step.answer_ok(from, elect);
        self.failed_election.insert(from.clone());
        Next::Stay
    }

    /// Removes the sender from `failed_election`: now the sender ranks above this agent, even if the sender's score was
    /// lower when it asked (rule `defer-on-ok`).
    pub(super) fn on_ok(&mut self, from: &AgentId, step: &Step<'_>) -> Next {
        self.failed_election.remove(from);
        Next::ignore(step, "it defers already")
    }

    pub(super) fn on_elected(said: &Announcement<'_>, step: &Step<'_>) -> Next {
        if step.competes_above(said.score, said.from) {
            return Next::ignore(step, "it ranks below, and an election is under way");
        }
        Next::follow(said)
    }

    /// Empties `failed_election`, because the agents in it may rank above this agent now.
    pub(super) fn on_score(&mut self) -> Next {
        self.failed_election.clear();
        Next::Stay
    }

    /// Holds an election if the awaited agent has ended (rule `replace-ended`).
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
        // These agents still rank below this agent, because a new score would have emptied the set.
        let failed_election = std::mem::take(&mut self.failed_election);
        Next::Become(Change::HoldElection { failed_election })
    }
}
