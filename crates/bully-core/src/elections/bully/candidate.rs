//! An agent that holds an election: it has sent `Elect`, and awaits answers.
//!
//! Decided here: which agents it asks, the meaning of their answers, and when it has won. An answer counts only for the
//! round that it echoes.

use std::collections::BTreeSet;

use tracing::debug;

use super::{
    Elect, Ok, Step,
    change::{Change, Deference, Next},
    follower,
    rules::{Attempt, Followed, Grace},
};
use crate::elections::{
    message::{Announcement, Resign, Yield},
    timer::BullyTimer,
};
use crate::protocol::{AgentId, Member, Presence, Round, Time};

/// An election that this agent holds.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Candidate {
    round: Round,
    pub(super) asked: Asked,
    /// Asked agents that have not answered this round.
    pending: BTreeSet<AgentId>,
    /// Agents that are known to rank below this agent while it has its score.
    outranked: BTreeSet<AgentId>,
    due: Time,
    grace: Grace,
}

/// Which agents a candidate asks.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Asked {
    /// The leader that it found, and no other agent; it is followed meanwhile if it was before.
    Leader {
        id: AgentId,
        following: Option<Followed>,
    },
    /// Every voter that may be there.
    Voters,
}

impl Asked {
    /// The timer that ends the round.
    pub(super) const fn timer(&self) -> BullyTimer {
        match self {
            Self::Leader { .. } => BullyTimer::Widen,
            Self::Voters => BullyTimer::Deadline,
        }
    }
}

impl Candidate {
    /// A leader that is well is left alone by all others: two messages in all.
    pub(super) fn ask_leader(
        id: AgentId,
        following: Option<Followed>,
        step: &mut Step<'_>,
    ) -> Self {
        // There and back: a leader that is there has answered by then.
        let wait = step.core.config.timings.delay_bound().saturating_mul(2);
        let round = step.next_round();
        if let Some(score) = step.core.me.score {
            let elect = Elect::plain(round, score, step.core.highest_term);
            step.out.send(&id, elect);
        }
        step.out.set_timer(BullyTimer::Widen, wait);
        Self {
            round,
            pending: BTreeSet::from([id.clone()]),
            asked: Asked::Leader { id, following },
            outranked: BTreeSet::new(),
            due: step.now.after(wait),
            grace: Grace::Unused,
        }
    }

    /// Asks every voter that may be there and is not known to rank below. Without any, it has won.
    pub(super) fn ask_voters(
        outranked: BTreeSet<AgentId>,
        grace: Grace,
        step: &mut Step<'_>,
    ) -> Result<Self, Change> {
        let Some(score) = step.core.me.score.filter(|_| step.competes()) else {
            step.ignore("it does not compete for the leadership");
            // An agent that cools down has the last slot.
            let (attempt, gone) = (Attempt::Ask, None);
            return Err(Change::TakeSlot { attempt, gone });
        };
        let me = &step.core.me;
        // A suspicion may be wrong, and a voter never seen may be there: both are asked.
        let is_asked = |voter: &&Member| {
            voter.id != me.id && voter.presence != Presence::Down && !outranked.contains(&voter.id)
        };
        let asked = me.members.voters().filter(is_asked);
        let pending: BTreeSet<_> = asked.map(|voter| voter.id.clone()).collect();
        let term = step.core.highest_term;
        debug!(target: "actix_bully", node = %me.id, %term, len = pending.len(), "election begins");
        let round = step.next_round();
        if pending.is_empty() {
            return Err(Change::Lead);
        }
        step.ask(&pending, round, score);
        let wait = step.core.config.timings.deadline();
        step.out.set_timer(BullyTimer::Deadline, wait);
        Ok(Self {
            round,
            asked: Asked::Voters,
            pending,
            outranked,
            due: step.now.after(wait),
            grace,
        })
    }

    pub(super) fn leave(&self, step: &mut Step<'_>) {
        step.out.cancel_timer(self.asked.timer());
    }

    pub(super) const fn following(&self) -> Option<&Followed> {
        match &self.asked {
            Asked::Leader { following, .. } => following.as_ref(),
            Asked::Voters => None,
        }
    }

    /// *Early decision*: no remaining agent might rank above this one, so it need not wait for the deadline.
    fn decide(&self) -> Next {
        if self.pending.is_empty() {
            Next::Become(Change::Lead)
        } else {
            Next::Stay
        }
    }

    /// The leader that was asked first is silent, gone, or no leader: every voter is asked.
    fn widen(&mut self) -> Next {
        Next::Become(Change::AskVoters {
            outranked: std::mem::take(&mut self.outranked),
            grace: Grace::Unused,
        })
    }

    fn wait_for(&mut self, to: &AgentId, step: &Step<'_>) -> Next {
        Next::Become(Change::WaitFor(Deference {
            to: to.clone(),
            wait: step.core.config.timings.victory_wait(),
            attempt: Attempt::Ask,
            round: Some(self.round),
        }))
    }

    /// *Election suppression*: another agent holds an election, too. This agent begins no other election, but it
    /// answers.
    pub(super) fn on_elect(&mut self, from: &AgentId, elect: &Elect, step: &mut Step<'_>) -> Next {
        if !step.outranks(elect.score, from) {
            step.answer_yield(from, elect.round);
            return self.wait_for(from, step);
        }
        step.answer_ok(from, elect);
        self.outranked.insert(from.clone());
        // The question from below is as good as an answer.
        if self.asked == Asked::Voters && self.pending.remove(from) {
            self.decide()
        } else {
            Next::Stay
        }
    }

    pub(super) fn on_ok(&mut self, from: &AgentId, ok: &Ok, step: &Step<'_>) -> Next {
        if self.round == ok.round {
            return self.wait_for(from, step);
        }
        Next::ignore(step, "an answer to another round")
    }

    pub(super) fn on_yield(&mut self, from: &AgentId, yielded: &Yield, step: &Step<'_>) -> Next {
        // First: which agents were asked does not matter once a leader has stopped for this agent.
        if step.is_release(yielded, self.round) {
            return Next::Become(Change::Lead);
        }
        if self.round != yielded.round {
            return Next::ignore(step, "an answer to another round");
        }
        self.outranked.insert(from.clone());
        match &self.asked {
            // A leader announces itself, or releases. A leader that only yields leads no longer.
            Asked::Leader { id, .. } if id == from => self.widen(),
            Asked::Leader { .. } => Next::ignore(step, "it was not asked"),
            Asked::Voters => {
                self.pending.remove(from);
                self.decide()
            }
        }
    }

    pub(super) fn on_announcement(
        &self,
        said: &Announcement<'_>,
        answer: Option<Round>,
        step: &mut Step<'_>,
    ) -> Next {
        if let Some(next) = step.refuse(said, self.following()) {
            return next;
        }
        let has_asked = match &self.asked {
            Asked::Leader { id, .. } => id == said.from,
            Asked::Voters => true,
        };
        if !has_asked {
            return step.accept(said, self.following());
        }
        if step.challenges(said.score, said.from) && answer != Some(self.round) {
            return Next::ignore(step, "it ranks below, and has not heard the question yet");
        }
        // It has heard the question and leads on: its policy decides, not this agent's rank.
        Next::Become(Change::follow(said))
    }

    pub(super) fn on_resign(
        &mut self,
        from: &AgentId,
        resign: &Resign,
        is_called: bool,
        step: &mut Step<'_>,
    ) -> Next {
        // Taken out: the application learns of the end below, and must not learn of it twice.
        let resigned = match &mut self.asked {
            Asked::Leader { following, .. } => following.take(),
            Asked::Voters => None,
        };
        step.core.note_resigned(resign.term);
        if let Some(resigned) = &resigned {
            step.notify_no_leader(resigned.leader.term);
        }
        match resigned {
            _ if is_called => Next::Become(Change::Lead),
            Some(_) => Next::Become(follower::after_resignation(from, resign, step)),
            None => Next::Stay,
        }
    }

    /// An agent that is certainly down, or a member no longer, counts as having answered.
    pub(super) fn on_members(&mut self, step: &Step<'_>) -> Next {
        let me = &step.core.me;
        let (attempt, gone) = match &self.asked {
            Asked::Voters => {
                let may_answer =
                    |voter: &Member| voter.is_voter() && voter.presence != Presence::Down;
                self.pending
                    .retain(|id| me.members.get(id).is_some_and(may_answer));
                return self.decide();
            }
            Asked::Leader {
                following: Some(followed),
                ..
            } if me.is_gone(&followed.leader) => (Attempt::Announce, &followed.leader.id),
            Asked::Leader {
                id,
                following: None,
                // It never followed that leader, so it must not announce itself unasked.
            } if !me.is_up(id) => (Attempt::Ask, id),
            Asked::Leader { .. } => return Next::Stay,
        };
        Next::Become(Change::TakeSlot {
            attempt,
            gone: Some(gone.clone()),
        })
    }

    /// A round belongs to one score: another score begins another round, in which no agent is known to rank below.
    pub(super) fn on_score(&mut self) -> Next {
        Next::Become(match &mut self.asked {
            Asked::Leader { id, following } => Change::AskLeader {
                id: id.clone(),
                following: following.take(),
            },
            Asked::Voters => Change::ask_voters(),
        })
    }

    /// It cannot be elected any more: if it followed a leader, it still follows.
    pub(super) fn withdraw(&self) -> Next {
        Next::Become(match self.following() {
            Some(followed) => Change::Follow(followed.leader.clone(), followed.score),
            None => Change::Vacant(None),
        })
    }

    pub(super) fn on_due(&mut self, timer: BullyTimer, step: &mut Step<'_>) -> Next {
        if timer != self.asked.timer() {
            return Next::ignore(step, "left over from an earlier question");
        }
        if step.now < self.due {
            step.out.set_timer(timer, self.due.since(step.now));
            return Next::Stay;
        }
        let is_late = step.now.since(self.due) > step.core.config.timings.delay_bound();
        match self.asked {
            // Late or not: to ask all agents announces nothing yet.
            Asked::Leader { .. } => self.widen(),
            // It slept through its own deadline: an agent that gave way may lead by now.
            Asked::Voters if is_late && self.grace == Grace::Unused => {
                Next::Become(Change::AskVoters {
                    outranked: BTreeSet::new(),
                    grace: Grace::Used,
                })
            }
            Asked::Voters => Next::Become(Change::Lead),
        }
    }
}
