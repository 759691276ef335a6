//! An agent that holds an election: ASTRA's belief `holding("election")`.
//!
//! The agent has asked every voter that may be up, except the voters in `failed_election`. It wins if no voter answers
//! `ok` before the deadline of 2 seconds. ASTRA's agent sleeps until the deadline.

use std::collections::BTreeSet;

use super::{
    BullyTimer, Elect, Ok, Resign, Step,
    change::{Change, Next},
};
use crate::elections::message::Announcement;
use crate::protocol::{AgentId, Leader, Member, Presence, Round, Score, Time};

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct HoldingElection {
    round: Round,
    /// ASTRA's beliefs `failed_election(X)`: the agents that asked this agent, and rank below its present score.
    failed_election: BTreeSet<AgentId>,
    deadline: Time,
    /// The present leader as it announced itself, and its score. Boxed, because a larger state would also enlarge
    /// every agent with the default rules.
    former: Option<Box<(Leader, Score)>>,
}

impl HoldingElection {
    /// Asks the other voters (rule `hold-election`). An agent without a voter to ask leads at once. An agent that does
    /// not compete gives up.
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
            return Err(Change::Lead); // alone: no other agent to wait for
        }
        // By these rules no agent answers that it ranks below, so this agent waits for the deadline in every case.
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

    /// Answers another agent that holds an election. Does not start a second election (rule `answer-from-above`).
    pub(super) fn on_elect(&mut self, from: &AgentId, elect: &Elect, step: &mut Step<'_>) -> Next {
        if step.competes_above(elect.score, from) {
            step.answer_ok(from, elect);
            self.failed_election.insert(from.clone());
            return Next::Stay;
        }
        // This agent need not wait for an `ok`, because the sender ranks above it and would answer `ok` (rule
        // `give-way-from-below`).
        self.defer(from)
    }

    pub(super) fn on_ok(&mut self, from: &AgentId, ok: &Ok, step: &Step<'_>) -> Next {
        self.failed_election.remove(from);
        if self.round == ok.round {
            self.defer(from)
        } else {
            // By ASTRA's original rules a late `ok` would end a later election (rule `defer-on-ok`).
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
        if step.competes_above(said.score, said.from) {
            let known = self.former.as_ref().map(|known| known.0.term);
            // An answer of an earlier leader may arrive after the announcement of the next leader. Such an answer
            // changes nothing.
            if !is_answer || known.is_none_or(|term| term <= said.term) {
                self.former = Some(Box::new((said.leader(), said.score)));
            }
            return Next::ignore(step, "it ranks below, and an election is under way");
        }
        Next::follow(said)
    }

    /// Forgets the leader that has resigned, unless its message names a successor. The successor may lead at once, so
    /// this agent must not lead without announcing itself first.
    pub(super) fn on_resign(&mut self, from: &AgentId, resign: &Resign) -> Next {
        if resign.successor.is_none() {
            let former = &mut self.former;
            former.take_if(|known| known.0.id == *from && known.0.term <= resign.term);
        }
        Next::Stay
    }

    /// Keeps the deadline, because otherwise no election would end if scores changed before each deadline. The agents
    /// in `failed_election` may rank above this agent now, so the next election asks them (rule `follow-score`).
    pub(super) fn on_score(&mut self, step: &Step<'_>) -> Next {
        self.failed_election.clear();
        match self.former.as_deref() {
            Some((leader, score))
                if !step.core.me.is_gone(leader) && !step.competes_above(*score, &leader.id) =>
            {
                Next::Become(Change::Follow(leader.clone(), *score))
            }
            Some(_) | None => Next::Stay,
        }
    }

    /// Leads, because no agent that ranks above this agent has answered (rule `win-at-deadline`).
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
