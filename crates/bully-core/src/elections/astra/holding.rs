//! An agent that is holding an election, as ASTRA's belief `holding("election")` says.
//!
//! It has asked every voter that may be there, but for those of `failed_election`, and wins if none
//! answers `ok` before the deadline, which ASTRA's agent sleeps through: 2 seconds.

use std::collections::BTreeSet;

use super::{
    BullyTimer, Elect, Ok, Resign, Step,
    change::{Change, Next},
};
use crate::elections::message::Announcement;
use crate::protocol::{AgentId, Leader, Member, Presence, Round, Score, Time};

/// An election that this agent is holding.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct HoldingElection {
    round: Round,
    /// ASTRA's beliefs of that name: those that asked, and rank below this agent while it has its
    /// score.
    failed_election: BTreeSet<AgentId>,
    deadline: Time,
    /// The agent that leads, as it says itself, and its score. Boxed: a larger state makes every agent of the default rules
    /// larger, too.
    former: Option<Box<(Leader, Score)>>,
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
            former: None,
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
        self.failed_election.remove(from);
        if self.round == ok.round {
            self.defer(from)
        } else {
            // As written, ASTRA's late `ok` ends the next election.
            Next::ignore(step, "an answer to another round")
        }
    }

    fn defer(&mut self, to: &AgentId) -> Next {
        self.failed_election.remove(to); // its score may have been lower when it asked
        Next::defer(to, std::mem::take(&mut self.failed_election))
    }

    pub(super) fn on_elected(
        &mut self,
        said: &Announcement<'_>,
        is_answer: bool,
        step: &Step<'_>,
    ) -> Next {
        if step.outranks(said.score, said.from) {
            let known = self.former.as_ref().map(|known| known.0.term);
            // The answer of an earlier leader may come after the announcement of the next one.
            if !is_answer || known.is_none_or(|term| term <= said.term) {
                self.former = Some(Box::new((said.leader(), said.score)));
            }
            return Next::ignore(step, "it ranks below, and an election is under way");
        }
        Next::follow(said)
    }

    /// A successor that the leader names may lead at once.
    pub(super) fn on_resign(&mut self, from: &AgentId, resign: &Resign) -> Next {
        if resign.successor.is_none() {
            let former = &mut self.former;
            former.take_if(|known| known.0.id == *from && known.0.term <= resign.term);
        }
        Next::Stay
    }

    /// The deadline stays: with scores that change more often than that, no election would ever end. Those that asked may
    /// rank above this agent now, and are asked the next time.
    pub(super) fn on_score(&mut self, step: &Step<'_>) -> Next {
        self.failed_election.clear();
        match self.former.as_deref() {
            Some((leader, score))
                if !step.core.me.is_gone(leader) && !step.outranks(*score, &leader.id) =>
            {
                Next::Become(Change::Follow(leader.clone(), *score))
            }
            Some(_) | None => Next::Stay,
        }
    }

    pub(super) fn on_deadline(&self, step: &mut Step<'_>) -> Next {
        if step.now < self.deadline {
            step.out
                .set_timer(BullyTimer::Deadline, self.deadline.since(step.now));
            return Next::Stay;
        }
        let former = self.former.as_ref().map(|known| known.0.clone());
        Next::Become(match former.filter(|it| !step.core.me.is_gone(it)) {
            Some(former) => Change::Announce { former },
            None => Change::Lead,
        })
    }
}
