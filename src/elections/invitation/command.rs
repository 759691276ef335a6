//! What the application asks for: an election, another score, a hand-over.

use super::{
    InvitationElection, Out, Resign, Timer,
    state::{Drain, Phase, State},
};
use crate::protocol::{AgentId, Event, LostReason, Member, Score, Time};

impl InvitationElection {
    /// Forms a group of its own; a coordinator looks for others at once.
    pub(super) fn on_campaign(&mut self, now: Time, out: &mut Out) {
        if self.me.score.is_none() || !self.is_voter() {
            return self.ignore("it cannot be elected");
        }
        self.stop_resting(out);
        match &self.state {
            State::Leader(_) => self.look_now(now, out),
            State::Candidate(_) => self.ignore("it is forming a group"),
            State::Free { .. } | State::Member(_) => {
                self.form(now, LostReason::Reorganized, out);
            }
        }
    }

    fn look_now(&mut self, now: Time, out: &mut Out) {
        if let State::Leader(reign) = &self.state
            && reign.phase == Phase::Rests
        {
            self.look_for_others(now, out);
        }
    }

    pub(super) fn on_set_score(&mut self, now: Time, score: Option<Score>, out: &mut Out) {
        let before = std::mem::replace(&mut self.me.score, score);
        let rested = score.is_some() && self.stop_resting(out);
        if !self.is_voter() || (before == score && !rested) {
            return;
        }
        match (&mut self.state, score) {
            (State::Leader(reign), Some(score)) => {
                reign.score = score; // those who outrank it now hear so by the check
                self.look_now(now, out);
            }
            (State::Leader(reign), None) if reign.draining.is_none() => {
                self.begin_drain(now, None, out);
            }
            (State::Leader(_), None) => self.ignore("it steps down already"),
            (State::Free { .. } | State::Candidate(_), _) => {
                self.take_turn(now, LostReason::Reorganized, None, out);
            }
            (State::Member(membership), Some(_)) => {
                let coordinator = membership.coordinator.clone();
                if self.outranks(now, coordinator.score, &coordinator.id) {
                    self.form(now, LostReason::Reorganized, out);
                }
            }
            (State::Member(_), None) => self.ignore("it works on as a member"),
        }
    }

    pub(super) fn on_step_down(&mut self, now: Time, to: Option<AgentId>, out: &mut Out) {
        match &self.state {
            State::Leader(reign) if reign.draining.is_none() => self.begin_drain(now, to, out),
            State::Leader(_) => self.ignore("it steps down already"),
            State::Free { .. } | State::Candidate(_) | State::Member(_) => {
                self.ignore("it does not lead");
            }
        }
    }

    fn begin_drain(&mut self, now: Time, to: Option<AgentId>, out: &mut Out) {
        let to = self.successor(to);
        let (span, due) = (self.config.drain(), now.after(self.config.drain()));
        let State::Leader(reign) = &mut self.state else {
            return;
        };
        let term = reign.group.count;
        reign.draining = Some(Drain {
            to: to.clone(),
            due,
        });
        out.notify(Event::Draining { term, to });
        out.set_timer(Timer::Drain, span);
    }

    pub(super) fn on_drained(&mut self, now: Time, out: &mut Out) {
        match self.draining() {
            Some(drain) => self.resign(now, drain.to, out),
            None => self.ignore("it does not step down"),
        }
    }

    pub(super) fn on_drain_due(&mut self, now: Time, out: &mut Out) {
        match self.draining() {
            Some(drain) if now < drain.due => out.set_timer(Timer::Drain, drain.due.since(now)),
            Some(drain) => self.resign(now, drain.to, out),
            None => self.ignore("it does not step down"),
        }
    }

    fn draining(&self) -> Option<Drain> {
        match &self.state {
            State::Leader(reign) => reign.draining.clone(),
            State::Free { .. } | State::Candidate(_) | State::Member(_) => None,
        }
    }

    /// Ends the belief, then says so; the resigned is free, and waits to be invited.
    fn resign(&mut self, now: Time, to: Option<AgentId>, out: &mut Out) {
        let State::Leader(reign) = &self.state else {
            return;
        };
        let group = reign.group.clone();
        let successor = self.successor(to);
        self.leave(LostReason::Resigned, out);
        let rest = self.config.rest();
        self.rest = Some(now.after(rest));
        out.set_timer(Timer::Rest, rest);
        out.send_all(Resign { group, successor });
        self.take_turn(now, LostReason::Reorganized, None, out); // the last, or nobody else is there
    }

    /// The coordinator has left: its successor forms a group at once, the others in order of rank.
    pub(super) fn on_resign(&mut self, now: Time, from: &AgentId, resign: &Resign, out: &mut Out) {
        self.hear(resign.group.count);
        let is_mine = match &self.state {
            State::Member(membership) => membership.group == resign.group,
            State::Free { .. } | State::Candidate(_) | State::Leader(_) => false,
        };
        if !is_mine {
            return self.ignore("not the group that it is in");
        }
        let is_named = resign.successor.as_ref() == Some(&self.me.id);
        if is_named && self.standing(now).is_some() {
            self.form(now, LostReason::Reorganized, out);
        } else {
            self.take_turn(now, LostReason::Reorganized, Some(from), out);
        }
    }

    /// The one that was named if it may lead, else the most important one that is up.
    fn successor(&self, named: Option<AgentId>) -> Option<AgentId> {
        let fit = |m: &Member| m.is_up() && m.is_voter() && m.score.is_some();
        named
            .filter(|id| *id != self.me.id && self.members.get(id).is_some_and(fit))
            .or_else(|| {
                let mut others = self.members.standing().filter(|m| m.id != self.me.id);
                others.next().map(|m| m.id.clone())
            })
    }

    pub(super) fn on_rest_over(&mut self, now: Time, out: &mut Out) {
        match self.rest {
            Some(until) if now < until => out.set_timer(Timer::Rest, until.since(now)),
            Some(_) => {
                self.rest = None;
                if matches!(self.state, State::Free { .. }) {
                    self.take_turn(now, LostReason::Reorganized, None, out);
                }
            }
            None => self.ignore("it does not rest"),
        }
    }

    /// Says whether it rested.
    pub(super) fn stop_resting(&mut self, out: &mut Out) -> bool {
        let rested = self.rest.take().is_some();
        if rested {
            out.cancel_timer(Timer::Rest);
        }
        rested
    }
}
