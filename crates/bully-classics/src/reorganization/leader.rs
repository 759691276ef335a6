//! A leader: the coordinator of a group in which all members are *Normal* (they work).
//!
//! The leader asks all members again and again whether they work under it (rule `check-all-normal`). From this question
//! the members also learn that the leader is up. One "no" begins an election. By the original rules it has no effect,
//! so two coordinators never notice each other.

use super::{
    AgentId, ElectionId, Next, Out, Score,
    core::{Core, ELECT},
    message::{AreYouNormal, NotNormal},
    timer::ReorganizationTimer,
};
use bully_core::{
    parts::{Due, Handover},
    protocol::{LostReason, Time},
};

/// A coordinator's knowledge of its leadership.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Leading {
    pub election: ElectionId,
    /// The score with which it leads. A leader without a score of its own keeps this score while it drains (ends its
    /// work).
    score: Score,
    /// Time at which the leader next asks all members whether they work under it.
    check: Time,
    pub handover: Option<Handover>,
}

impl Leading {
    pub(super) fn begin(
        core: &mut Core,
        now: Time,
        (election, score): (ElectionId, Score),
        out: &mut Out,
    ) -> Self {
        let interval = core.config.detector().heartbeat;
        out.set_timer(ReorganizationTimer::Check, interval);
        core.end_cooldown(out);
        Self {
            election,
            score,
            check: now.after(interval),
            handover: None,
        }
    }

    pub(super) fn on_check_due(&mut self, core: &Core, now: Time, out: &mut Out) -> Next {
        let detector = core.config.detector();
        if now < self.check {
            out.set_timer(ReorganizationTimer::Check, self.check.since(now));
            return Next::Stay;
        }
        if now.since(self.check) > detector.detection {
            // This leader was stalled for longer than the members wait for it, so they may already have a successor.
            return Next::Elect(LostReason::Stalled);
        }
        self.check = now.after(detector.heartbeat);
        out.set_timer(ReorganizationTimer::Check, detector.heartbeat);
        self.check_all(out);
        Next::Stay
    }

    pub(super) fn check_all(&self, out: &mut Out) {
        let (election, score) = (self.election.clone(), self.score);
        out.send_all(AreYouNormal { election, score });
    }

    /// Handles the answer of a member that does not work under this agent.
    pub(super) fn on_not_normal(&self, answer: &NotNormal) -> Next {
        let is_leaving = self.handover.is_some();
        if self.election != answer.election || is_leaving {
            return Next::Ignore("an answer to an earlier check, or it leaves anyway");
        }
        ELECT
    }

    /// Sets the score. An agent that outranks the new score learns of it from the check. A leader
    /// without a score hands over.
    pub(super) fn set_score(
        &mut self,
        core: &Core,
        now: Time,
        score: Option<Score>,
        out: &mut Out,
    ) -> Next {
        let Some(score) = score else {
            return self.on_step_down(core, now, None, out);
        };
        self.score = score;
        self.check_all(out);
        Next::Stay
    }

    pub(super) fn on_step_down(
        &mut self,
        core: &Core,
        now: Time,
        to: Option<AgentId>,
        out: &mut Out,
    ) -> Next {
        if self.handover.is_some() {
            return Next::Ignore("it steps down already");
        }
        let (to, limit) = (core.me.successor(to), core.config.drain);
        let term = self.election.count;
        let handover = Handover::begin(now, term, to, limit, ReorganizationTimer::Drain, out);
        self.handover = Some(handover);
        Next::Stay
    }

    pub(super) fn on_drained(&self) -> Next {
        match &self.handover {
            Some(handover) => Next::Resign(handover.to.clone()),
            None => Next::Ignore("it does not step down"),
        }
    }

    pub(super) fn on_drain_due(&self, now: Time, out: &mut Out) -> Next {
        match &self.handover {
            Some(handover)
                if handover.on_due(now, ReorganizationTimer::Drain, out) == Due::Later =>
            {
                Next::Stay
            }
            _ => self.on_drained(),
        }
    }
}
