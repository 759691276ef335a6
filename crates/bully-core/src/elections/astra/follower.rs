//! An agent that holds no election and does not lead: it follows a leader, or is idle.
//!
//! Decided here: the causes of an election. ASTRA's agent believes every `elected`. This agent holds an election
//! instead if the announcer ranks below the agent itself or below its leader.

use super::{
    BullyTimer, Elect, Resign, Step,
    change::{Change, Next},
};
use crate::protocol::{After, AgentId, Event, Leader, LeaderEnd, Score, Time};
use crate::{elections::message::Announcement, parts::slot};

/// The state of an agent without a leader and without an election of its own.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Idle {
    /// Time at which the slot of this agent begins; `None` if another agent has to start.
    slot: Option<Time>,
}

impl Idle {
    pub(super) fn enter(slot: Option<usize>, step: &mut Step<'_>) -> Self {
        let timings = &step.core.config.timings;
        let slot = slot.map(|slot| {
            let wait = slot::delay(timings.step(), slot);
            let after = After::jittered(wait, timings.jitter());
            step.out.set_timer(BullyTimer::Campaign, after);
            step.now.after(wait)
        });
        Self { slot }
    }

    #[cfg(test)]
    pub(super) const fn has_slot(&self) -> bool {
        self.slot.is_some()
    }

    pub(super) fn leave(&self, step: &mut Step<'_>) {
        if self.slot.is_some() {
            step.out.cancel_timer(BullyTimer::Campaign);
        }
    }

    /// Answers only if this agent ranks above the asker (rule `answer-from-above`).
    pub(super) fn on_elect(from: &AgentId, elect: &Elect, step: &mut Step<'_>) -> Next {
        if !step.competes_above(elect.score, from) {
            return Next::ignore(step, "only an agent that ranks above the asker answers");
        }
        step.answer_ok(from, elect);
        Next::hold_election_above(from)
    }

    pub(super) fn on_elected(said: &Announcement<'_>, step: &Step<'_>) -> Next {
        if step.competes_above(said.score, said.from) {
            Next::hold_election()
        } else {
            Next::follow(said)
        }
    }

    pub(super) fn on_slot_due(&self, step: &mut Step<'_>) -> Next {
        let Some(due) = self.slot else {
            return Next::ignore(step, "it has no slot");
        };
        if step.now < due {
            step.out
                .set_timer(BullyTimer::Campaign, due.since(step.now));
            return Next::Stay;
        }
        // An agent that cools down has the last slot. So the slots of all other agents have passed, and its cool-down
        // ends.
        step.end_cooldown();
        Next::hold_election()
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Following {
    pub leader: Leader,
    score: Score,
}

impl Following {
    pub(super) fn enter(leader: Leader, score: Score, step: &mut Step<'_>) -> Self {
        step.out.notify(Event::NewLeader(leader.clone()));
        Self { leader, score }
    }

    pub(super) fn on_elect(&self, from: &AgentId, elect: &Elect, step: &mut Step<'_>) -> Next {
        if !step.competes_above(elect.score, from) {
            return Next::ignore(step, "only an agent that ranks above the asker answers");
        }
        step.answer_ok(from, elect);
        self.end(step);
        Next::hold_election_above(from)
    }

    pub(super) fn on_elected(
        &mut self,
        said: &Announcement<'_>,
        is_answer: bool,
        step: &mut Step<'_>,
    ) -> Next {
        let is_other = self.leader.id != *said.from;
        let is_weaker = is_other && (said.score, said.from) < (self.score, &self.leader.id);
        if is_weaker && is_answer && said.term < self.leader.term {
            // The sender is a former leader, and stops when the next leader's announcement reaches it. No question is
            // needed.
            return Next::ignore(step, "an answer of the leader of before");
        }
        if is_weaker && !step.competes() {
            // The term decides, because this agent cannot hold an election.
            if said.term > self.leader.term {
                self.switch(said, step);
            }
        } else if is_weaker || step.competes_above(said.score, said.from) {
            // This agent asks instead of following, because the weaker agent may have won only because messages were
            // late (rule `follow-elected`).
            return self.on_end(step);
        } else {
            self.switch(said, step);
        }
        Next::Stay
    }

    fn switch(&mut self, said: &Announcement<'_>, step: &mut Step<'_>) {
        let leader = said.leader();
        self.score = said.score;
        // A repeated announcement of the same leader changes nothing for the application.
        if self.leader != leader {
            *self = Self::enter(leader, said.score, step);
        }
    }

    pub(super) fn on_members(&self, step: &mut Step<'_>) -> Next {
        if step.core.me.is_gone(&self.leader) {
            self.on_end(step)
        } else {
            Next::Stay
        }
    }

    /// Holds an election if this agent now outranks its leader, because its score has changed or it competes again.
    pub(super) fn challenge(&self, step: &mut Step<'_>) -> Next {
        if step.competes_above(self.score, &self.leader.id) {
            self.on_end(step)
        } else {
            Next::Stay
        }
    }

    /// Reports the end of the leadership to the application, and holds an election (rule `replace-ended`).
    pub(super) fn on_end(&self, step: &mut Step<'_>) -> Next {
        self.end(step);
        Next::hold_election()
    }

    fn end(&self, step: &mut Step<'_>) {
        // Without a failure detector a leader's end is reported, or another agent takes over.
        let end = if step.core.me.has_ended(&self.leader) {
            LeaderEnd::Ended
        } else {
            LeaderEnd::Replaced
        };
        step.core.me.note_end(&self.leader, end);
        step.notify_no_leader(self.leader.term);
    }

    pub(super) fn on_resign(
        &self,
        from: &AgentId,
        resign: &Resign,
        is_called: bool,
        step: &mut Step<'_>,
    ) -> Next {
        step.notify_no_leader(self.leader.term);
        if is_called {
            return Next::Become(Change::Lead);
        }
        let successor = resign.successor.as_ref();
        let gone = Some(from.clone());
        if !step.competes() || !successor.is_some_and(|id| step.core.me.is_up(id)) {
            return Next::Become(Change::Vacant { gone });
        }
        // The successor leads at once, so each other agent acts one slot later, but not later than in the last slot
        // (rule `hand-over`).
        let ahead = step.core.me.ahead(Some(from), slot::LAST - 1);
        let slot = ahead.map(|ahead| ahead.saturating_add(1));
        Next::Become(Change::Idle { slot })
    }

    /// Handles a `Resign` of an agent that this agent no longer follows. The message may name this agent as successor
    /// although this agent follows the next leader by now. Then this agent passes the message on to the next leader,
    /// which waits for it (rule `lead-after-the-former`).
    pub(super) fn on_resign_of_former(&self, resign: &Resign, step: &mut Step<'_>) -> Next {
        let is_named = resign.successor.as_ref() == Some(&step.core.me.id);
        if !is_named || resign.term < step.core.floor || !step.core.me.is_voter() {
            return Next::ignore(step, "not the leader that is followed");
        }
        step.core.note_resigned(resign.term);
        let (term, next) = (step.core.highest_term, &self.leader.id);
        step.out.send(next, Resign::plain(term, Some(next.clone())));
        Next::Stay
    }

    pub(super) fn is_resigned(&self, from: &AgentId, resign: &Resign) -> bool {
        self.leader.id == *from && self.leader.term <= resign.term
    }
}
