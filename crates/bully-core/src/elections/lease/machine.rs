//! Role × input: the reaction of each role to the application, the group and the clock. The reaction to the register
//! is in [`shown`](super::shown).

use std::{sync::Arc, time::Duration};

use super::{BullyTimer, Lease, Out, leader::Leading, state::State};
use crate::parts::Due;
use crate::protocol::{AgentId, Input, InputOf, LeaderEnd, LostReason, Members, Score, Time};

impl Lease {
    pub(super) fn before_start(&mut self, now: Time, input: InputOf<Self>, out: &mut Out) {
        match input {
            Input::Start(members) => {
                self.core.has_started = true;
                self.note(members);
                self.look(now, out);
            }
            Input::SetScore(score) => self.core.me.score = score,
            Input::Told(_)
            | Input::TimedOut(_)
            | Input::Members(_)
            | Input::Campaign
            | Input::StepDown { .. }
            | Input::Drained
            | Input::ChangeVoters(_) => self.ignore("it has not started"),
        }
    }

    /// Ends the leadership if its lease has ended. Every step begins with this check, so after its lease an agent sends
    /// nothing as leader (rule `lease-ends-by-clock`).
    pub(super) fn end_expired_lease(&mut self, now: Time, out: &mut Out) {
        if let State::Leading(leading) = &self.state
            && !leading.has_lease(now)
        {
            let (own, since) = (self.core.me.as_leader(leading.term), leading.until);
            self.core.me.note_end(&own, LeaderEnd::Silent { since });
            self.lose(now, LostReason::LeaseExpired, out);
            self.core.read(now, out);
            self.reconsider(now, out);
        }
    }

    pub(super) fn on_input(&mut self, now: Time, input: InputOf<Self>, out: &mut Out) {
        match input {
            Input::Told(shown) => self.on_shown(now, *shown, out),
            Input::Members(members) | Input::Start(members) => {
                self.note(members);
                self.reconsider(now, out);
            }
            Input::TimedOut(timer) => self.on_timer(now, timer, out),
            Input::Campaign => self.on_campaign(now, out),
            Input::SetScore(score) => self.on_set_score(now, score, out),
            Input::StepDown { to } => self.on_step_down(now, to, self.core.config.cooldown, out),
            Input::Drained => self.on_drained(now, out),
            Input::ChangeVoters(_) => self.ignore("there are no voters"),
        }
    }

    fn on_timer(&mut self, now: Time, timer: BullyTimer, out: &mut Out) {
        if timer == BullyTimer::Drain {
            if let State::Leading(leading) = &self.state
                && leading.has_drained(now, out)
            {
                self.resign(now, out);
            }
            return;
        }
        if timer == BullyTimer::Cooldown {
            if self.core.cooldown.on_due(now, timer, out) == Some(Due::Now) {
                self.reconsider(now, out);
            }
            return;
        }
        if !self.core.alarms.is_due(timer, now, out) {
            return;
        }
        match (timer, &self.state) {
            (BullyTimer::Detect, _) => self.look(now, out),
            (BullyTimer::Heartbeat, State::Leading(leading)) => {
                // The renewal is sent before the read, so that a slow answer to the read cannot delay the renewal (rule
                // `renews-when-answered`).
                leading.renew(&mut self.core, now, out);
                self.core.read(now, out); // to see a claim
                let again = self.core.reads.again(&self.core.config);
                self.core.alarms.set(timer, now, again, out);
            }
            (BullyTimer::Campaign, State::Vacant) => self.take(now, out),
            (BullyTimer::Lease, State::Following(_)) => {
                // The record has not changed for the length of a lease, or no answer has arrived for this length.
                self.core.doubt();
                self.reconsider(now, out);
            }
            (_, _) => self.ignore("its role does not wait for that timer"),
        }
    }

    fn on_campaign(&mut self, now: Time, out: &mut Out) {
        if self.core.me.eligible().is_none() {
            return self.ignore("it is not eligible");
        }
        self.core.cooldown.end(BullyTimer::Cooldown, out);
        self.reconsider(now, out);
    }

    fn on_set_score(&mut self, now: Time, score: Option<Score>, out: &mut Out) {
        self.core.me.score = score;
        if score.is_some() {
            self.core.cooldown.end(BullyTimer::Cooldown, out);
        }
        match (&mut self.state, score) {
            // No cool-down is needed: only a new score lets this agent compete again, and a new score ends a cool-down.
            (State::Leading(_), None) => self.on_step_down(now, None, Duration::ZERO, out),
            (State::Leading(leading), Some(score)) if leading.leaving.is_none() => {
                leading.score = score; // the next renewal writes it
            }
            (_, _) => self.reconsider(now, out),
        }
    }

    fn on_step_down(&mut self, now: Time, to: Option<AgentId>, cooldown: Duration, out: &mut Out) {
        match &mut self.state {
            State::Leading(leading) if leading.leaving.is_none() => {
                let to = Leading::successor(&self.core, now, to);
                leading.drain(&self.core, now, to, cooldown, out);
            }
            State::Leading(_) => self.ignore("it steps down already"),
            State::Vacant | State::Following(_) | State::Taking { .. } => {
                self.ignore("it does not lead");
            }
        }
    }

    fn on_drained(&mut self, now: Time, out: &mut Out) {
        match &self.state {
            State::Leading(leading) if leading.leaving.is_some() => self.resign(now, out),
            State::Vacant | State::Following(_) | State::Taking { .. } | State::Leading(_) => {
                self.ignore("it does not step down");
            }
        }
    }

    fn note(&mut self, members: Arc<Members>) {
        // A starting agent knows no term. If it led in a low term, the other agents of this process would ignore it
        // as stale.
        self.core.note_term(members.term());
        self.core.me.members = members;
    }
}
