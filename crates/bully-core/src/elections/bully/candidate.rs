//! An agent that holds an election: it has sent `Elect`, and awaits answers.
//!
//! Decided here: which agents it asks, what their answers mean, and when it has won: a voter that is silent until the
//! deadline counts as dead. An `Ok` or `Yield` counts only for the round whose number it repeats, because the score may
//! have changed since then. An `Elect` of an agent that ranks lower counts in any round.

use std::collections::BTreeSet;

use tracing::debug;

use super::{
    Elect, Ok, Step,
    change::{Attempt, Change, Deference, Followed, Next},
    follower,
};
use crate::elections::{
    message::{Announcement, Resign, Yield},
    timer::BullyTimer,
};
use crate::parts::Grace;
use crate::protocol::{AgentId, Member, Presence, Round, Time};

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Candidate {
    round: Round,
    pub(super) asked: Asked,
    /// Asked agents that have not answered this round.
    pending: BTreeSet<AgentId>,
    /// Agents that this agent outranks with its present score, as far as it knows. This agent does not ask them.
    outranked: BTreeSet<AgentId>,
    due: Time,
    grace: Grace,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Asked {
    /// Only the leader that the candidate knows. `following` is set if the candidate followed this leader before.
    Leader {
        id: AgentId,
        following: Option<Followed>,
    },
    /// Every voter that may be up.
    Voters,
}

impl Asked {
    /// Returns the timer that ends the round.
    pub(super) const fn timer(&self) -> BullyTimer {
        match self {
            Self::Leader { .. } => BullyTimer::Widen,
            Self::Voters => BullyTimer::Deadline,
        }
    }
}

impl Candidate {
    /// Asks only the leader that this agent knows. If that leader is up, the election costs only two messages (rule
    /// `ask-the-leader-first`).
    pub(super) fn ask_leader(
        id: AgentId,
        following: Option<Followed>,
        step: &mut Step<'_>,
    ) -> Self {
        // Time for the question and the answer, because a leader that is up has answered by then.
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

    /// Asks every voter that may be up, except the voters in `outranked`. If no voter is left to ask, this agent has
    /// won. An agent that does not compete takes its slot instead.
    pub(super) fn ask_voters(
        outranked: BTreeSet<AgentId>,
        grace: Grace,
        step: &mut Step<'_>,
    ) -> Result<Self, Change> {
        let Some(score) = step.core.me.score.filter(|_| step.competes()) else {
            step.ignore("it does not compete for the leadership");
            // An agent that cools down waits for the last slot, and asks then.
            let (attempt, gone) = (Attempt::Ask, None);
            return Err(Change::TakeSlot { attempt, gone });
        };
        let me = &step.core.me;
        // A suspected voter and a voter that was never seen are asked, because both may be up.
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

    /// Leads without waiting for the deadline if every asked agent has answered (rule `decide-early`).
    fn decide(&self) -> Next {
        if self.pending.is_empty() {
            Next::Become(Change::Lead)
        } else {
            Next::Stay
        }
    }

    /// Asks every voter, because the leader that was asked first is silent, has ended, or does not lead.
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

    /// Answers an agent that holds an election at the same time, and does not begin another election (rule
    /// `always-answer`; the textbook's *election suppression*).
    pub(super) fn on_elect(&mut self, from: &AgentId, elect: &Elect, step: &mut Step<'_>) -> Next {
        if !step.competes_above(elect.score, from) {
            step.answer_yield(from, elect.round, None);
            return self.wait_for(from, step);
        }
        step.answer_ok(from, elect);
        self.outranked.insert(from.clone());
        // The question of a lower-ranked agent also counts as its answer, because it shows that this agent outranks it.
        if self.asked == Asked::Voters && self.pending.remove(from) {
            self.decide()
        } else {
            Next::Stay
        }
    }

    /// Waits for the sender. Its `Ok` does not prove a higher rank, because a voter that follows a live leader also
    /// answers with `Ok` (rule `defer-on-ok`).
    pub(super) fn on_ok(&mut self, from: &AgentId, ok: &Ok, step: &Step<'_>) -> Next {
        if self.round == ok.round {
            return self.wait_for(from, step);
        }
        Next::ignore(step, "an answer to another round")
    }

    pub(super) fn on_yield(&mut self, from: &AgentId, yielded: &Yield, step: &Step<'_>) -> Next {
        // A release is checked first: once a leader has stopped for this agent, it does not matter which agents were
        // asked.
        if step.is_release(yielded, self.round) {
            return Next::Become(Change::Lead);
        }
        if self.round != yielded.round {
            return Next::ignore(step, "an answer to another round");
        }
        self.outranked.insert(from.clone());
        match &self.asked {
            // The asked agent no longer leads: a leader would have announced itself or released the leadership. Perhaps it
            // has left to another agent that asked at the same time, so only the first in rank asks all at once.
            Asked::Leader { id, .. } if id == from => match step.slot(Some(from)) {
                Some(0) | None => self.widen(),
                slot => Next::Become(Attempt::Ask.in_slot(slot)),
            },
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
            // At once: its round is open, and a follower would not notice a release.
            return step.accept(said, self.following(), |_| None);
        }
        if step.challenges(said.score, said.from) && answer != Some(self.round) {
            return Next::ignore(step, "it ranks below, and has not heard the question yet");
        }
        // The leader heard the question and continues to lead by its policy, or this agent may not challenge it.
        Next::Become(Change::follow(said))
    }

    pub(super) fn on_resign(
        &mut self,
        from: &AgentId,
        resign: &Resign,
        is_called: bool,
        step: &mut Step<'_>,
    ) -> Next {
        // The followed leader is taken out, because its end must be reported to the application only once.
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

    /// Handles a new snapshot. An agent that is certainly down, or no longer a voter of the group, counts as having
    /// answered.
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
                // This agent never followed that leader, so it must not announce itself without asking first.
            } if !me.is_up(id) => (Attempt::Ask, id),
            Asked::Leader { .. } => return Next::Stay,
        };
        Next::Become(Change::TakeSlot {
            attempt,
            gone: Some(gone.clone()),
        })
    }

    /// Begins another round, because a round belongs to one score. With the new score this agent may no longer outrank
    /// the agents that it outranked before, so it asks all (rule `ask-with-the-new-score`).
    pub(super) fn on_score(&mut self) -> Next {
        Next::Become(match &mut self.asked {
            Asked::Leader { id, following } => Change::AskLeader {
                id: id.clone(),
                following: following.take(),
            },
            Asked::Voters => Change::ask_voters(),
        })
    }

    /// Ends the candidacy of an agent that cannot be elected any more. If it followed a leader, it still follows.
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
            // A late timer does no harm here, because a question to all agents announces nothing.
            Asked::Leader { .. } => self.widen(),
            // This agent slept through its own deadline. It asks once more, because an agent that yielded to it may
            // lead by now (rule `grace-period`).
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
