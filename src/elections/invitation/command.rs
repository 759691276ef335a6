//! What the application asks for: an election, another score, a hand-over.

use super::{
    InvitationElection, Out, Resign, Timer,
    state::{Phase, State},
};
use crate::elections::shared::{Due, Handover};
use crate::protocol::{AgentId, LostReason, Score, Time};

impl InvitationElection {
    /// Forms a group of its own; a coordinator looks for others at once.
    pub(super) fn on_campaign(&mut self, now: Time, out: &mut Out) {
        if self.me.eligible().is_none() {
            return self.ignore("it cannot be elected");
        }
        self.cooldown.end(Timer::Rest, out);
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
        let rested = score.is_some() && self.cooldown.end(Timer::Rest, out);
        if !self.me.is_voter() || (before == score && !rested) {
            return;
        }
        match (&mut self.state, score) {
            (State::Leader(reign), Some(score)) => {
                reign.score = score; // those who outrank it now hear so by the check
                self.look_now(now, out);
            }
            (State::Leader(reign), None) if reign.handover.is_none() => {
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
            State::Leader(reign) if reign.handover.is_none() => self.begin_drain(now, to, out),
            State::Leader(_) => self.ignore("it steps down already"),
            State::Free { .. } | State::Candidate(_) | State::Member(_) => {
                self.ignore("it does not lead");
            }
        }
    }

    fn begin_drain(&mut self, now: Time, to: Option<AgentId>, out: &mut Out) {
        let to = self.me.successor(to);
        let State::Leader(reign) = &mut self.state else {
            return;
        };
        let (term, limit) = (reign.group.count, self.config.drain());
        let handover = Handover::begin(now, term, to, limit, Timer::Drain, out);
        reign.handover = Some(handover);
    }

    pub(super) fn on_drained(&mut self, now: Time, out: &mut Out) {
        match self.handover() {
            Some(handover) => self.resign(now, handover.to, out),
            None => self.ignore("it does not step down"),
        }
    }

    pub(super) fn on_drain_due(&mut self, now: Time, out: &mut Out) {
        match self.handover() {
            Some(handover) => match handover.due(now) {
                Due::In(left) => out.set_timer(Timer::Drain, left),
                Due::Now => self.resign(now, handover.to, out),
            },
            None => self.ignore("it does not step down"),
        }
    }

    fn handover(&self) -> Option<Handover> {
        match &self.state {
            State::Leader(reign) => reign.handover.clone(),
            State::Free { .. } | State::Candidate(_) | State::Member(_) => None,
        }
    }

    /// Ends the belief, then says so; the resigned is free, and waits to be invited.
    fn resign(&mut self, now: Time, to: Option<AgentId>, out: &mut Out) {
        let State::Leader(reign) = &self.state else {
            return;
        };
        let group = reign.group.clone();
        let successor = self.me.successor(to);
        self.leave(LostReason::Resigned, out);
        self.cooldown
            .begin(now, self.config.rest(), Timer::Rest, out);
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

    pub(super) fn on_rest_over(&mut self, now: Time, out: &mut Out) {
        match self.cooldown.on_due(now) {
            Some(Due::In(left)) => out.set_timer(Timer::Rest, left),
            Some(Due::Now) => {
                if matches!(self.state, State::Free { .. }) {
                    self.take_turn(now, LostReason::Reorganized, None, out);
                }
            }
            None => self.ignore("it does not rest"),
        }
    }
}
