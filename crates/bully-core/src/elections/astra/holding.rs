//! An agent that is holding an election, as ASTRA's belief `holding("election")` says.
//!
//! It has asked every voter that may be there, but for those of `failed_election`, and wins if none
//! answers `ok` before the deadline, which ASTRA's agent sleeps through: 2 seconds.

use std::collections::BTreeSet;

use super::{
    BullyTimer, Elect, Ok, Step,
    change::{Change, Next},
};
use crate::elections::message::Announcement;
use crate::protocol::{AgentId, Member, Presence, Round, Time};

/// An election that this agent is holding.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct HoldingElection {
    round: Round,
    /// ASTRA's beliefs of that name: those that asked, and rank below this agent while it has its
    /// score.
    failed_election: BTreeSet<AgentId>,
    deadline: Time,
}

impl HoldingElection {
    /// Asks, unless there is no agent to ask or the agent does not compete.
    pub(super) fn enter(
        failed_election: BTreeSet<AgentId>,
        step: &mut Step<'_>,
    ) -> Result<Self, Change> {
        let Some(score) = step.core.me.score.filter(|_| step.competes()) else {
            step.ignore("it does not compete for the leadership");
            return Err(Change::Vacant { gone: None }); // an agent that cools down has the last slot
        };
        let me = &step.core.me;
        let is_asked = |voter: &&Member| {
            voter.id != me.id
                && voter.presence != Presence::Down
                && !failed_election.contains(&voter.id)
        };
        let asked: BTreeSet<_> = me
            .members
            .voters()
            .filter(is_asked)
            .map(|m| m.id.clone())
            .collect();
        let round = step.next_round();
        let wait = step.core.config.timings.deadline();
        if !asked.is_empty() {
            step.ask(&asked, round, score);
        } else if failed_election.is_empty() {
            return Err(Change::Lead); // alone: there is no agent to wait for
        }
        // No agent yields by these rules, so the deadline is sat out even if all others rank below.
        step.out.set_timer(BullyTimer::Deadline, wait);
        Ok(Self {
            round,
            failed_election,
            deadline: step.now.after(wait),
        })
    }

    pub(super) fn leave(step: &mut Step<'_>) {
        step.out.cancel_timer(BullyTimer::Deadline);
    }

    /// Another agent holds an election, too. This one starts no second election, but it answers.
    pub(super) fn on_elect(&mut self, from: &AgentId, elect: &Elect, step: &mut Step<'_>) -> Next {
        if step.outranks(elect.score, from) {
            step.answer_ok(from, elect);
            self.failed_election.insert(from.clone());
            return Next::Stay;
        }
        // It would be answered `ok` there: it need not wait for that.
        self.defer(from)
    }

    pub(super) fn on_ok(&mut self, from: &AgentId, ok: &Ok, step: &Step<'_>) -> Next {
        if self.round == ok.round {
            self.defer(from)
        } else {
            // As written, ASTRA's late `ok` ends the next election.
            Next::ignore(step, "an answer to another round")
        }
    }

    fn defer(&mut self, to: &AgentId) -> Next {
        Next::defer(to, std::mem::take(&mut self.failed_election))
    }

    pub(super) fn on_elected(said: &Announcement<'_>, step: &Step<'_>) -> Next {
        if step.outranks(said.score, said.from) {
            return Next::ignore(step, "it ranks below, and an election is under way");
        }
        Next::follow(said)
    }

    pub(super) fn on_deadline(&self, step: &mut Step<'_>) -> Next {
        if step.now < self.deadline {
            step.out
                .set_timer(BullyTimer::Deadline, self.deadline.since(step.now));
            return Next::Stay;
        }
        Next::Become(Change::Lead)
    }
}
