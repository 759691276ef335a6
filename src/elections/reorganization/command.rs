//! What the application asks for: an election, another score, a hand-over.
//!
//! The paper's importance is fixed and its coordinators do not leave. Here both happen: who ranks
//! above its coordinator holds an election, and who steps down says so and lets all others go first for
//! a while.

use super::{
    Out, Reorganization, Resign, Timer,
    state::{Cause, State},
};
use crate::elections::line;
use crate::elections::shared::{Due, Handover};
use crate::protocol::{After, AgentId, LostReason, Score, Time};

impl Reorganization {
    /// Holds an election; a coordinator checks its members at once.
    pub(super) fn on_campaign(&mut self, now: Time, out: &mut Out) {
        if self.me.eligible().is_none() {
            return self.ignore("it cannot be elected");
        }
        self.cooldown.end(Timer::Rest, out);
        match &self.state {
            State::Leader(_) => self.check_all(out),
            State::Candidate(_) => self.ignore("it holds an election"),
            State::Idle | State::Waiting(_) | State::Member(_) => {
                self.elect(now, LostReason::Reorganized, out);
            }
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
                self.check_all(out);
            }
            (State::Leader(reign), None) if reign.handover.is_none() => {
                self.begin_drain(now, None, out);
            }
            (State::Leader(_), None) => self.ignore("it steps down already"),
            (State::Candidate(_), _) => self.elect(now, LostReason::Reorganized, out),
            (State::Idle | State::Waiting(_), Some(score)) => {
                if before.is_none_or(|before| before < score) || rested {
                    self.elect(now, LostReason::Reorganized, out);
                }
            }
            (State::Member(membership), Some(_)) => {
                let (theirs, id) = (membership.score, membership.leader.id.clone());
                if self.outranks(now, theirs, &id) {
                    self.elect(now, LostReason::Reorganized, out);
                }
            }
            (State::Idle | State::Waiting(_) | State::Member(_), None) => {
                self.ignore("it stands back from now on");
            }
        }
    }

    pub(super) fn on_step_down(&mut self, now: Time, to: Option<AgentId>, out: &mut Out) {
        match &self.state {
            State::Leader(reign) if reign.handover.is_none() => self.begin_drain(now, to, out),
            State::Leader(_) => self.ignore("it steps down already"),
            State::Idle | State::Candidate(_) | State::Waiting(_) | State::Member(_) => {
                self.ignore("it does not lead");
            }
        }
    }

    fn begin_drain(&mut self, now: Time, to: Option<AgentId>, out: &mut Out) {
        let to = self.me.successor(to);
        let State::Leader(reign) = &mut self.state else {
            return;
        };
        let (term, limit) = (reign.election.count, self.config.drain());
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
            State::Idle | State::Candidate(_) | State::Waiting(_) | State::Member(_) => None,
        }
    }

    /// Ends the belief, then says so.
    fn resign(&mut self, now: Time, to: Option<AgentId>, out: &mut Out) {
        let State::Leader(reign) = &self.state else {
            return;
        };
        let election = reign.election.clone();
        let successor = self.me.successor(to);
        self.leave(LostReason::Resigned, out);
        self.cooldown
            .begin(now, self.config.rest(), Timer::Rest, out);
        out.send_all(Resign {
            election,
            successor,
        });
        self.take_turn(now, out); // the last one, or at once if nobody else is there
    }

    /// The coordinator has left: its successor begins at once, the others in order of rank.
    pub(super) fn on_resign(&mut self, now: Time, from: &AgentId, resign: &Resign, out: &mut Out) {
        self.hear(resign.election.count);
        let is_mine = match &self.state {
            State::Member(membership) => membership.election == resign.election,
            State::Idle | State::Candidate(_) | State::Waiting(_) | State::Leader(_) => false,
        };
        if !is_mine {
            return self.ignore("not the coordinator it works under");
        }
        self.learn(from, None);
        self.leave(LostReason::Reorganized, out);
        if resign.successor.as_ref() == Some(&self.me.id) {
            self.elect_without(now, from, out);
        } else {
            self.take_turn(now, out);
        }
    }

    /// Holds an election in order of rank, unless somebody else halts it before. Who rests lets all
    /// others go first, and gives them the time to.
    pub(super) fn take_turn(&mut self, now: Time, out: &mut Out) {
        let Some(rank) = self.me.rank() else {
            return self.ignore("it does not stand for election");
        };
        let rests = self.lets_others_go_first(now, None);
        let ahead = self.me.members.ahead_of(&rank, None, line::LAST);
        let t = self.config.timings();
        let turn = line::wait(t.step(), line::place(ahead, rests));
        let (cause, wait) = if rests {
            (Cause::Rest, self.config.takeover().saturating_add(turn))
        } else {
            (Cause::Pause, turn)
        };
        self.stand_back(now, cause, After::jittered(wait, t.jitter()), out);
    }

    pub(super) fn on_rest_over(&mut self, now: Time, out: &mut Out) {
        match self.cooldown.on_due(now) {
            Some(Due::In(left)) => out.set_timer(Timer::Rest, left),
            Some(Due::Now) => {
                let is_idle = match &self.state {
                    State::Idle => true,
                    State::Waiting(wait) => wait.cause == Cause::Rest,
                    State::Candidate(_) | State::Member(_) | State::Leader(_) => false,
                };
                if is_idle {
                    self.elect(now, LostReason::Reorganized, out);
                }
            }
            None => self.ignore("it does not rest"),
        }
    }
}
