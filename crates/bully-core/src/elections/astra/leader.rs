//! An agent that leads.
//!
//! Decided here: when a leader stops. It stops when a better agent announces itself, not when the better agent asks
//! (rule `lead-on`). A leader stops before it sends any message that lets another agent lead. So two agents never lead
//! at the same time, as long as the deadline exceeds twice the delay ([`announced`](super::announced)).

use super::{
    BullyTimer, Elect, Elected, Resign, Step,
    announced::{announce, answer},
    change::{Change, Next},
};
use crate::protocol::{AgentId, Event, LostReason, Score, Term};
use crate::{
    elections::message::Announcement,
    parts::{Due, Handover},
};

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Tenure {
    pub term: Term,
    /// The score that this leader announces. If it lost its score and steps down, this is its last score.
    score: Score,
    handover: Option<Handover>,
}

impl Tenure {
    /// Announces itself in the next term, and leads (rule `win-at-deadline`).
    pub(super) fn enter(step: &mut Step<'_>) -> Result<Self, Change> {
        let (term, score) = announce(step)?;
        Ok(Self::begin(term, score, step))
    }

    pub(super) fn begin(term: Term, score: Score, step: &mut Step<'_>) -> Self {
        step.out.notify(Event::Acquired { term });
        Self {
            term,
            score,
            handover: None,
        }
    }

    #[cfg(test)]
    pub(super) const fn steps_down(&self) -> bool {
        self.handover.is_some()
    }

    pub(super) fn leave(&self, step: &mut Step<'_>) {
        if self.handover.is_some() {
            step.out.cancel_timer(BullyTimer::Drain);
        }
    }

    /// Reports the end of the leadership. Called before any other message is sent, so that no other agent leads at
    /// the same time.
    fn lose(&self, reason: LostReason, step: &mut Step<'_>) {
        let term = self.term;
        step.out.notify(Event::Lost { term, reason });
    }

    pub(super) fn on_elect(&self, from: &AgentId, elect: &Elect, step: &mut Step<'_>) -> Next {
        answer(self.term, self.score, from, elect, step)
    }

    pub(super) fn on_elected(&self, said: &Announcement<'_>, step: &mut Step<'_>) -> Next {
        if step.competes_above(said.score, said.from) {
            // A late message of a weaker agent does not stop this leader. Others may follow that agent by now.
            return self.announce_again(step);
        }
        self.lose(LostReason::Superseded, step);
        // The announcer may be waiting for this message (rule `lead-after-the-former`).
        let successor = Some(said.from.clone());
        step.out
            .send(said.from, Resign::plain(self.term, successor));
        Next::follow(said)
    }

    pub(super) fn announce_again(&self, step: &mut Step<'_>) -> Next {
        step.out
            .send_all(Elected::plain(self.term, self.score, None));
        Next::Stay
    }

    pub(super) fn on_score(&mut self, score: Option<Score>, step: &mut Step<'_>) -> Next {
        let Some(score) = score else {
            return self.drain(None, step);
        };
        let before = std::mem::replace(&mut self.score, score);
        // A higher score needs no announcement, because every agent that ranked below still ranks below. With a lower
        // score, another agent may outrank this leader. That agent learns of the score and asks (rule `follow-score`).
        if score < before {
            return self.announce_again(step);
        }
        Next::Stay
    }

    pub(super) fn drain(&mut self, to: Option<AgentId>, step: &mut Step<'_>) -> Next {
        if self.handover.is_some() {
            return Next::ignore(step, "it steps down already");
        }
        let to = step.core.me.successor(to);
        let limit = step.core.config.drain;
        let handover = Handover::begin(step.now, self.term, to, limit, BullyTimer::Drain, step.out);
        self.handover = Some(handover);
        Next::Stay
    }

    pub(super) fn on_drained(&self, step: &mut Step<'_>) -> Next {
        match &self.handover {
            Some(handover) => self.resign(handover.to.clone(), step),
            None => Next::ignore(step, "it does not step down"),
        }
    }

    pub(super) fn on_drain_due(&self, step: &mut Step<'_>) -> Next {
        match &self.handover {
            Some(handover)
                if handover.on_due(step.now, BullyTimer::Drain, step.out) == Due::Later =>
            {
                Next::Stay
            }
            _ => self.on_drained(step),
        }
    }

    /// Ends the leadership, then names the successor (rule `hand-over`).
    fn resign(&self, to: Option<AgentId>, step: &mut Step<'_>) -> Next {
        // The successor is chosen a second time, because the first choice may have ended while the work ended.
        let successor = step.core.me.successor(to);
        self.lose(LostReason::Resigned, step);
        step.core.note_resigned(self.term);
        let cooldown = step.core.config.cooldown;
        let timer = BullyTimer::Cooldown;
        step.core
            .cooldown
            .begin(step.now, cooldown, timer, step.out);
        let term = self.term;
        let is_left = successor.is_some();
        step.out.send_all(Resign::plain(term, successor));
        if is_left {
            let slot = step.slot(None);
            Next::Become(Change::Idle { slot })
        } else {
            // No other agent is up, so this agent leads again, in the last slot.
            Next::Become(Change::Vacant { gone: None })
        }
    }
}
