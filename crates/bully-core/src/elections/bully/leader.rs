//! An agent that leads.
//!
//! Decided here: when a leader gives the leadership up, and to which agent. A leader stops before it sends any message
//! that lets another agent lead. A leader that steps down leaves in this order: `Draining`, the end of the work, the
//! end of the leadership, `Resign`. The successor announces itself without waiting for a time-out. The former leader
//! then cools down. Otherwise the leadership would come back to it at once.

use std::time::Duration;

use super::{
    Elect, Elected, Preemption, Step,
    challengers::Challengers,
    change::{Attempt, Change, Deference, Next, SlotPlan},
};
use crate::protocol::{
    AgentId, Event, Incarnation, LeaderEnd, LostReason, Member, Score, Term, Time,
};
use crate::{
    elections::{
        message::{Announcement, Heartbeat, Resign},
        timer::BullyTimer,
    },
    parts::{Due, Handover},
};

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Tenure {
    pub(super) term: Term,
    /// The score that this leader announces. If it lost its score and steps down, this is its last score.
    score: Score,
    next_heartbeat: Time,
    pub(super) handover: Option<Handover>,
    /// Higher-ranked agents that asked for the leadership and have to wait by the policy.
    pub(super) challengers: Challengers,
}

impl Tenure {
    /// Announces itself in the next term, and leads.
    pub(super) fn enter(step: &mut Step<'_>) -> Result<Self, Change> {
        let score = step.core.me.score.filter(|_| step.core.may_lead());
        let (Some(term), Some(score)) = (step.core.highest_term.next(), score) else {
            step.ignore("it cannot be elected, or the terms have come to their end");
            return Err(Change::Vacant(None));
        };
        step.end_cooldown();
        step.core.note_term(term);
        step.out.send_all(Elected::plain(term, score, None));
        let mut next_heartbeat = Time::MAX;
        if let Some(detector) = step.core.config.timings.detector() {
            next_heartbeat = step.now.after(detector.heartbeat);
            step.out
                .set_timer(BullyTimer::Heartbeat, detector.heartbeat);
        }
        step.out.notify(Event::Acquired { term });
        Ok(Self {
            term,
            score,
            next_heartbeat,
            handover: None,
            challengers: Challengers::default(),
        })
    }

    pub(super) fn leave(&self, step: &mut Step<'_>) {
        step.out.cancel_timer(BullyTimer::Heartbeat);
        if self.handover.is_some() {
            step.out.cancel_timer(BullyTimer::Drain);
        }
        if !self.challengers.is_empty() {
            step.out.cancel_timer(BullyTimer::Preempt);
        }
    }

    /// Reports the end of the leadership. Called before any other message is sent, so that no other agent leads at
    /// the same time.
    fn lose(&self, reason: LostReason, step: &mut Step<'_>) {
        let term = self.term;
        // From now on, messages of earlier leaders are ignored, even while this agent follows no leader.
        step.core.raise_floor(term);
        step.out.notify(Event::Lost { term, reason });
    }

    // ---- messages of other agents ----

    /// Answers the asker, or leaves the leadership to it if it outranks this leader by the margin. The policy decides
    /// when such a challenger may lead (rule `always-answer`).
    pub(super) fn on_elect(
        &mut self,
        from: &AgentId,
        incarnation: Incarnation,
        elect: &Elect,
        step: &mut Step<'_>,
    ) -> Next {
        let config = &step.core.config;
        // `self.score` is the announced score, because a leader that has lost its own score leads with it while it
        // drains.
        let is_challenged = (elect.score, from) > (self.score, &step.core.me.id)
            && config.is_enough(elect.score, self.score);
        match config.preemption {
            Preemption::Immediately if is_challenged => {
                return self.release_to(from, elect, step);
            }
            Preemption::After(steady) if is_challenged => {
                self.challengers.add(from, incarnation, steady, step);
            }
            Preemption::Immediately | Preemption::After(_) | Preemption::Never => {}
        }
        // The term is raised first, because the asker would otherwise treat the answer as stale.
        self.renew_above(elect.seen, step);
        let elected = Elected::plain(self.term, self.score, Some(elect.round));
        step.out.send(from, elected);
        Next::Stay
    }

    /// Stops leading, and leaves the leadership to a higher-ranked agent (rule `yield-on-outranked`).
    fn release_to(&self, from: &AgentId, elect: &Elect, step: &mut Step<'_>) -> Next {
        self.lose(LostReason::Outranked, step);
        step.answer_yield(from, elect.round, Some(self.term));
        // The release and the announcement take one delay bound each. If no announcement comes within two delay bounds
        // and one more slot, the leadership is vacant. Only this agent knows that, so it may announce itself.
        let timings = &step.core.config.timings;
        let wait = timings.delay_bound().saturating_mul(2);
        Next::Become(Change::WaitFor(Deference {
            to: from.clone(),
            wait: wait.saturating_add(timings.step()),
            attempt: Attempt::Announce,
            round: None,
        }))
    }

    /// Decides which of two leaders continues to lead: this agent, or the sender of the announcement.
    pub(super) fn on_announcement(&mut self, said: &Announcement<'_>, step: &mut Step<'_>) -> Next {
        let is_above = step.core.me.outranks(said.score, said.from);
        if said.term < self.term || said.term == self.term && is_above {
            // A stale announcement must not end this leadership. The answer makes the sender of the announcement stop.
            let elected = Elected::plain(self.term, self.score, None);
            step.out.send(said.from, elected);
            return Next::Stay;
        }
        let bullies = step.core.config.preemption == Preemption::Immediately;
        // The rank decides, because after a partition the lower-ranked leader may have the higher term.
        if said.term > self.term && bullies && step.competes_above(said.score, said.from) {
            self.renew_above(said.term, step);
            return Next::Stay;
        }
        self.lose(LostReason::Superseded, step);
        // The former leader handles the announcement again, as an agent without a leader: it follows the announcer, or
        // asks it.
        Next::Again(Change::Vacant(None))
    }

    /// Gives the leadership up, because most of the other agents know a later process with this agent's name (rule
    /// `later-process-leads`).
    pub(super) fn give_up_name(&self, step: &mut Step<'_>) -> Next {
        self.lose(LostReason::NameTwice, step);
        Next::Become(Change::Vacant(None))
    }

    /// If `seen` is above this leader's term, takes a term above `seen` and continues to lead, so that its followers
    /// accept it (rule `renew-above`).
    pub(super) fn renew_above(&mut self, seen: Term, step: &mut Step<'_>) {
        let above = step.core.highest_term.max(seen).next();
        let Some(term) = above.filter(|_| seen > self.term) else {
            return;
        };
        self.term = term;
        step.core.note_term(term);
        step.out.send_all(Elected::plain(term, self.score, None));
        step.out.notify(Event::Renewed { term });
    }

    // ---- requests of the application ----

    pub(super) fn announce(&self, step: &mut Step<'_>) {
        let elected = Elected::plain(self.term, self.score, None);
        step.out.send_all(elected);
    }

    /// Announces a changed score, so that an agent that now ranks higher asks. A leader without a score steps down.
    pub(super) fn on_score(&mut self, score: Option<Score>, step: &mut Step<'_>) {
        match score {
            Some(score) => {
                self.score = score;
                self.send_heartbeat(step);
            }
            None => self.drain(None, step),
        }
    }

    fn send_heartbeat(&self, step: &mut Step<'_>) {
        step.out.send_all(Heartbeat {
            term: self.term,
            score: self.score,
            sent_at: None,
        });
    }

    pub(super) fn drain(&mut self, to: Option<AgentId>, step: &mut Step<'_>) {
        if self.handover.is_some() {
            return step.ignore("it steps down already");
        }
        let to = step.core.me.successor(to);
        let limit = step.core.config.drain;
        let handover = Handover::begin(step.now, self.term, to, limit, BullyTimer::Drain, step.out);
        self.handover = Some(handover);
    }

    pub(super) fn hand_over(&self, step: &mut Step<'_>) -> Next {
        match &self.handover {
            Some(handover) => self.resign(handover.to.clone(), step),
            None => Next::ignore(step, "it does not step down"),
        }
    }

    /// Ends the leadership, then sends `Resign`. The end is final for the term of the leadership (rule `hand-over`).
    fn resign(&self, to: Option<AgentId>, step: &mut Step<'_>) -> Next {
        let term = self.term;
        // The successor is chosen a second time, because the first choice may have ended while the work ended.
        let successor = step.core.me.successor(to);
        self.lose(LostReason::Resigned, step);
        step.core.note_resigned(term);
        let (now, cooldown) = (step.now, step.core.config.cooldown);
        step.core
            .cooldown
            .begin(now, cooldown, BullyTimer::Cooldown, step.out);
        let is_left = successor.is_some();
        step.out.send_all(Resign::plain(term, successor));
        let attempt = Attempt::Ask;
        if !is_left {
            // No other agent is up. So this agent waits for the last slot, and leads again if no agent appears before.
            return Next::Become(Change::TakeSlot {
                attempt,
                gone: None,
            });
        }
        // The other agents act first: if the `Resign` is lost, they act only when they have missed heartbeats for the
        // detection time.
        let timings = &step.core.config.timings;
        let head_start = timings.detector().map_or(Duration::ZERO, |detector| {
            detector.detection.saturating_add(timings.jitter())
        });
        let plan = |slot| SlotPlan {
            slot,
            attempt,
            head_start,
        };
        Next::Become(Change::Vacant(step.slot(None).map(plan)))
    }

    // ---- time ----

    pub(super) fn on_heartbeat_due(&mut self, step: &mut Step<'_>) -> Next {
        // Timings without a detector set no such timer, because then no agent waits for heartbeats.
        let Some(detector) = step.core.config.timings.detector() else {
            return Next::Stay;
        };
        // A timer is only a hint, so the clock decides whether a heartbeat is due.
        if step.now < self.next_heartbeat {
            let left = self.next_heartbeat.since(step.now);
            step.out.set_timer(BullyTimer::Heartbeat, left);
            return Next::Stay;
        }
        if step.now.since(self.next_heartbeat) > detector.detection {
            return self.wake_from_stall(step);
        }
        self.next_heartbeat = step.now.after(detector.heartbeat);
        self.send_heartbeat(step);
        step.out
            .set_timer(BullyTimer::Heartbeat, detector.heartbeat);
        Next::Stay
    }

    /// Gives up after a stall. This leader slept for longer than the other agents wait for a silent leader, so they may
    /// follow another leader already.
    fn wake_from_stall(&self, step: &mut Step<'_>) -> Next {
        if self.handover.is_some() {
            return self.hand_over(step); // because it was stepping down already, and must not lead again
        }
        let detection = step.core.config.timings.detector().map(|d| d.detection);
        let since = self.next_heartbeat.after(detection.unwrap_or_default());
        let own = step.core.me.as_leader(self.term);
        step.core.me.note_end(&own, LeaderEnd::Silent { since });
        self.lose(LostReason::Stalled, step);
        Next::Become(Change::TakeSlot {
            attempt: Attempt::Ask,
            gone: None,
        })
    }

    pub(super) fn on_drain_due(&self, step: &mut Step<'_>) -> Next {
        match &self.handover {
            Some(handover)
                if handover.on_due(step.now, BullyTimer::Drain, step.out) == Due::Later =>
            {
                Next::Stay
            }
            _ => self.hand_over(step),
        }
    }

    /// Updates the waiting times of the challengers from the new snapshot.
    pub(super) fn on_members(&mut self, step: &mut Step<'_>) {
        if !self.challengers.is_empty() {
            self.drop_unsteady(step);
            self.challengers.set_timer(step);
        }
    }

    fn drop_unsteady(&mut self, step: &Step<'_>) {
        if let Preemption::After(steady) = step.core.config.preemption {
            let members = &step.core.me.members;
            self.challengers.drop_unsteady(members, steady, step.now);
        }
    }

    /// Hands over to a challenger that has been up for long enough (rule `patient-leader`).
    pub(super) fn on_preempt_due(&mut self, step: &mut Step<'_>) {
        // Challengers that may be gone are no longer due, because the leadership must not go to them.
        self.drop_unsteady(step);
        let due = self.challengers.take_due(step.now);
        self.challengers.set_timer(step);
        let members = &step.core.me.members;
        let better = due.iter().filter_map(|id| members.get(id));
        let best = better
            .filter(|member| is_better(member, step))
            .max_by_key(|member| (member.score, &member.id))
            .map(|member| member.id.clone());
        if best.is_some() && self.handover.is_none() {
            self.drain(best, step);
        }
    }
}

/// Returns whether this member is better than the leader by the margin, as far as is known.
fn is_better(member: &Member, step: &Step<'_>) -> bool {
    let me = &step.core.me;
    match (member.score, me.score) {
        (Some(theirs), Some(own)) => {
            step.core.config.is_enough(theirs, own) && !me.outranks(theirs, &member.id)
        }
        (Some(_), None) => true,
        (None, _) => false,
    }
}
