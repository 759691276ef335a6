//! An agent that holds no election and does not lead: it follows a leader, or the leadership is vacant.
//!
//! Decided here: when a silent leader counts as gone, and how an agent acts on a vacant leadership. The *fast path*: an
//! agent that followed a leader and learns of its end announces itself without asking, if it ranks first in its own
//! snapshot. The other agents wait for their slots. At boot or after a restart an agent announces itself without asking
//! only in a closed group, where the snapshot contains all agents.

use super::{
    Elect, Step,
    change::{Attempt, Change, Followed, Next, SlotPlan},
};
use crate::protocol::{After, AgentId, Event, Incarnation, Leader, Score, Time};
use crate::{
    elections::{
        message::{Announcement, Resign},
        timer::BullyTimer,
    },
    parts::{Grace, slot},
};

/// The state of an agent that knows no leader and holds no election.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Vacant {
    /// `None`: this agent is not eligible, and waits for an announcement.
    pub(super) slot: Option<Slot>,
}

/// The time at which an agent may act on a vacant leadership.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Slot {
    due: Time,
    /// Number of agents whose slots are earlier.
    position: usize,
    attempt: Attempt,
}

impl Vacant {
    pub(super) fn enter(plan: Option<SlotPlan>, step: &mut Step<'_>) -> Self {
        let timings = &step.core.config.timings;
        let slot = plan.map(|plan| {
            let wait = slot::delay(timings.step(), plan.slot).saturating_add(plan.head_start);
            let after = After::jittered(wait, timings.jitter());
            step.out.set_timer(BullyTimer::Campaign, after);
            Slot {
                // This time is without the jitter, because the driver adds the jitter to the timer.
                due: step.now.after(wait),
                position: plan.slot,
                attempt: plan.attempt,
            }
        });
        Self { slot }
    }

    pub(super) fn acts_at(&self) -> Option<Time> {
        self.slot.map(|slot| slot.due)
    }

    pub(super) fn leave(&self, step: &mut Step<'_>) {
        if self.slot.is_some() {
            step.out.cancel_timer(BullyTimer::Campaign);
        }
    }

    pub(super) fn on_elect(&self, from: &AgentId, elect: &Elect, step: &mut Step<'_>) -> Next {
        if !step.competes_above(elect.score, from) {
            step.answer_yield(from, elect.round, None);
            // An agent that is not eligible never leads, so it need not wait in the role `Waiting`.
            let may_lead = step.core.may_lead();
            return if may_lead {
                Next::Become(Change::wait_for(from, step))
            } else {
                Next::Stay
            };
        }
        step.answer_ok(from, elect);
        // Only the agent that ranks first answers a question with its own question, because otherwise one question
        // would make all agents ask.
        match step.core.me.ahead(None, 1) {
            Some(0) => Next::Become(Change::AskVoters {
                outranked: [from.clone()].into(),
                grace: Grace::Unused,
            }),
            _ if self.slot.is_none() => Self::take_slot(),
            _ => Next::Stay,
        }
    }

    /// Takes a new slot, because the agent may have become eligible, or its position in the order may have changed.
    pub(super) const fn take_slot() -> Next {
        Next::Become(Change::TakeSlot {
            attempt: Attempt::Ask,
            gone: None,
        })
    }

    pub(super) fn on_announcement(&self, said: &Announcement<'_>, step: &mut Step<'_>) -> Next {
        let refused = step.refuse(said, None);
        let turn = |step: &Step<'_>| step.turn(said.from, self.acts_at());
        refused.unwrap_or_else(|| step.accept(said, None, turn))
    }

    /// Takes an earlier slot if fewer agents rank above this agent than when the slot was set.
    pub(super) fn on_members(&self, step: &Step<'_>) -> Next {
        let Some(slot) = self.slot else {
            return if step.core.may_lead() {
                Self::take_slot()
            } else {
                Next::Stay
            };
        };
        let ahead = step.core.me.ahead(None, slot.position);
        // Rule `rank-staggered-slots`. The rule does not apply in a cool-down: then the slot is eight slots later than
        // by rank, and a snapshot must not shorten this wait.
        if step.competes() && ahead.is_some_and(|ahead| ahead < slot.position) {
            return Next::Become(Change::TakeSlot {
                attempt: slot.attempt,
                gone: None,
            });
        }
        Next::Stay
    }

    pub(super) fn on_slot_due(&self, step: &mut Step<'_>) -> Next {
        let Some(slot) = self.slot else {
            return Next::ignore(step, "it has no slot");
        };
        if step.now < slot.due {
            step.out
                .set_timer(BullyTimer::Campaign, slot.due.since(step.now));
            return Next::Stay;
        }
        let timings = &step.core.config.timings;
        let slack = timings.delay_bound().saturating_add(timings.jitter());
        let is_late = step.now.since(slot.due) > slack;
        // The cool-down ends, because an agent that cools down has the last slot: all other slots have passed.
        step.end_cooldown();
        Next::Become(match slot.attempt {
            Attempt::Announce if !is_late => Change::Lead,
            // A late agent asks first, because another agent may have acted in its own slot and lead by now.
            Attempt::Announce | Attempt::Ask => Change::ask_voters(),
        })
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Following {
    pub(super) followed: Followed,
    /// The agent's slot to ask this leader, which ranks below it (rule `ask-in-turn`).
    pub(super) asks_at: Option<Time>,
}

impl Following {
    /// Begins to follow a leader. `known` is the leader that was last reported to the application.
    pub(super) fn enter(
        leader: Leader,
        score: Score,
        known: Option<&Leader>,
        step: &mut Step<'_>,
    ) -> Self {
        step.core.raise_floor(leader.term);
        let due = watch(step);
        if known != Some(&leader) {
            step.out.notify(Event::NewLeader(leader.clone()));
        }
        let followed = Followed {
            leader,
            score,
            due,
            grace: Grace::Unused,
        };
        Self {
            followed,
            asks_at: None,
        }
    }

    /// Follows, and asks the leader at this time.
    pub(super) fn until(mut self, asks_at: Time, step: &mut Step<'_>) -> Self {
        self.set_slot(asks_at, step);
        self
    }

    fn set_slot(&mut self, asks_at: Time, step: &mut Step<'_>) {
        let wait = asks_at.since(step.now);
        let after = After::jittered(wait, step.core.config.timings.jitter());
        step.out.set_timer(BullyTimer::Campaign, after);
        self.asks_at = Some(asks_at);
    }

    pub(super) fn leave(&self, step: &mut Step<'_>) {
        step.out.cancel_timer(BullyTimer::Detect);
        if self.asks_at.is_some() {
            step.out.cancel_timer(BullyTimer::Campaign);
        }
    }

    /// Returns whether the announcement only repeats that the followed leader leads. If it only repeats that, the timer
    /// of the leader's silence restarts.
    pub(super) fn refresh(&mut self, said: &Announcement<'_>, step: &mut Step<'_>) -> bool {
        let Followed { leader, score, .. } = &self.followed;
        let is_same = leader.term == said.term
            && *score == said.score
            && leader.incarnation == said.incarnation
            && leader.id == *said.from;
        if is_same && step.core.config.timings.detector().is_some() {
            self.followed.due = watch(step);
            self.followed.grace = Grace::Unused;
        }
        is_same
    }

    pub(super) fn on_announcement(&self, said: &Announcement<'_>, step: &mut Step<'_>) -> Next {
        if let Some(refused) = step.refuse(said, Some(&self.followed)) {
            return refused;
        }
        let leader = &self.followed.leader;
        let is_leader = leader.id == *said.from && leader.incarnation == said.incarnation;
        let slot = self.asks_at.filter(|_| is_leader);
        // The leader that the agent followed is not counted, even if another leader announces itself: the followed
        // leader may have ended.
        let turn = |step: &Step<'_>| step.turn(&leader.id, slot);
        step.accept(said, Some(&self.followed), turn)
    }

    pub(super) fn on_elect(
        &self,
        from: &AgentId,
        incarnation: Incarnation,
        elect: &Elect,
        step: &mut Step<'_>,
    ) -> Next {
        let leader = &self.followed.leader;
        let is_leader =
            leader.id == *from && (incarnation, elect.seen) >= (leader.incarnation, leader.term);
        if is_leader {
            // A leader that asks for the leadership no longer leads. (A question that it sent before it led has a lower
            // `seen`, and does not count.)
            return Next::Again(Change::Vacant(None));
        }
        // This agent is about to ask the leader as well. The asker has found that the leader does not lead any more, or
        // is silent. An `Ok` would make the asker wait for this agent.
        let is_other = leader.id != *from;
        if self.asks_at.is_some() && is_other && !step.competes_above(elect.score, from) {
            step.answer_yield(from, elect.round, None);
            return Next::Become(Change::wait_for(from, step));
        }
        // This agent answers `Ok` to an asker of any rank, because only the live leader decides whether it leaves the
        // leadership to a better agent (rule `always-answer`).
        step.answer_ok(from, elect);
        Next::Stay
    }

    /// Acts on the leader's `Resign`. Unless this agent is the named successor, it waits for the successor's
    /// announcement first.
    pub(super) fn on_resign(
        from: &AgentId,
        resign: &Resign,
        is_called: bool,
        step: &mut Step<'_>,
    ) -> Next {
        if is_called {
            // The role `Vacant` comes first, because the leader's end must be reported before this agent leads.
            return Next::Again(Change::Vacant(None));
        }
        step.core.note_resigned(resign.term);
        Next::Become(after_resignation(from, resign, step))
    }

    pub(super) fn on_members(&mut self, step: &mut Step<'_>) -> Next {
        if step.core.me.is_gone(&self.followed.leader) {
            self.end()
        } else if self.asks_at.is_some() {
            self.challenge(step)
        } else {
            Next::Stay
        }
    }

    /// Takes a slot to announce itself without asking, because it followed the leader that has ended (rule
    /// `fast-path`).
    fn end(&self) -> Next {
        Next::Become(Change::TakeSlot {
            attempt: Attempt::Announce,
            gone: Some(self.followed.leader.id.clone()),
        })
    }

    /// Asks the leader for the leadership, and still follows this leader while it waits for the answer.
    pub(super) fn ask(self) -> Change {
        Change::AskLeader {
            id: self.followed.leader.id.clone(),
            following: Some(self.followed),
        }
    }

    /// Asks the leader if this agent may challenge it, but not before its slot if it has one. Called when the agent's
    /// score has changed or it competes again, and for a new snapshot while it has a slot.
    pub(super) fn challenge(&mut self, step: &mut Step<'_>) -> Next {
        let may_ask = step.challenges(self.followed.score, &self.followed.leader.id);
        let leader = &self.followed.leader.id;
        let slot = self.asks_at.and_then(|_| step.turn(leader, self.asks_at));
        match slot.filter(|_| may_ask) {
            Some(asks_at) => {
                if self.asks_at != Some(asks_at) {
                    self.set_slot(asks_at, step);
                }
            }
            None if may_ask => return Next::Become(self.clone().ask()),
            None => {
                if self.asks_at.take().is_some() {
                    step.out.cancel_timer(BullyTimer::Campaign);
                }
            }
        }
        Next::Stay
    }

    pub(super) fn on_slot_due(&mut self, step: &mut Step<'_>) -> Next {
        match self.asks_at {
            Some(asks_at) if step.now < asks_at => {
                self.set_slot(asks_at, step);
                Next::Stay
            }
            Some(_) => {
                self.asks_at = None;
                self.challenge(step)
            }
            None => Next::ignore(step, "it has no slot"),
        }
    }

    pub(super) fn on_detect_due(&mut self, step: &mut Step<'_>) -> Next {
        let timings = &step.core.config.timings;
        if timings.detector().is_none() {
            return Next::ignore(step, "no leader is watched");
        }
        if step.now < self.followed.due {
            let after = After::jittered(self.followed.due.since(step.now), timings.jitter());
            step.out.set_timer(BullyTimer::Detect, after);
            return Next::Stay;
        }
        let slack = timings.delay_bound().saturating_add(timings.jitter());
        let is_late = step.now.since(self.followed.due) > slack;
        // This agent was late itself, so heartbeats may wait in its mailbox. It waits for the leader a second time, but
        // only once (rule `grace-period`).
        if is_late && self.followed.grace == Grace::Unused {
            self.followed.grace = Grace::Used;
            self.followed.due = watch(step);
            return Next::Stay;
        }
        self.end()
    }
}

/// Sets the timer for the leader's silence. Returns the timer's end; [`Time::MAX`] without a failure detector.
fn watch(step: &mut Step<'_>) -> Time {
    let timings = &step.core.config.timings;
    let Some(detector) = timings.detector() else {
        return Time::MAX;
    };
    let after = After::jittered(detector.detection, timings.jitter());
    step.out.set_timer(BullyTimer::Detect, after);
    step.now.after(detector.detection)
}

/// Returns the action of an agent after its leader has resigned, with or without a named successor (rule `hand-over`).
pub(super) fn after_resignation(from: &AgentId, resign: &Resign, step: &Step<'_>) -> Change {
    let me = &step.core.me;
    let attempt = Attempt::Announce;
    let is_led = resign.successor.as_ref().is_some_and(|id| me.is_up(id));
    match me.ahead(Some(from), slot::LAST - 1) {
        // This agent acts one slot later than by its rank, because the named successor leads at once.
        Some(ahead) if is_led && step.competes() => attempt.in_slot(Some(ahead.saturating_add(1))),
        _ => Change::TakeSlot {
            attempt,
            gone: Some(from.clone()),
        },
    }
}
