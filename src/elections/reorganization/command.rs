//! What the application asks for: an election, another score, a hand-over.
//!
//! The paper's importance is fixed and its coordinators do not leave. Here both happen: who ranks
//! above its coordinator holds an election, and who steps down says so and lets all others go first for
//! a while.

use super::{
    Out, Reorganization, Resign, Timer,
    state::{Cause, Drain, State},
};
use crate::elections::line;
use crate::protocol::{After, AgentId, Event, LostReason, Member, Score, Time};

impl Reorganization {
    /// Holds an election; a coordinator checks its members at once.
    pub(super) fn on_campaign(&mut self, now: Time, out: &mut Out) {
        if self.me.score.is_none() || !self.is_voter() {
            return self.ignore("it cannot be elected");
        }
        self.stop_resting(out);
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
        let rested = score.is_some() && self.stop_resting(out);
        if !self.is_voter() || (before == score && !rested) {
            return;
        }
        match (&mut self.state, score) {
            (State::Leader(reign), Some(score)) => {
                reign.score = score; // those who outrank it now hear so by the check
                self.check_all(out);
            }
            (State::Leader(reign), None) if reign.draining.is_none() => {
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
            State::Leader(reign) if reign.draining.is_none() => self.begin_drain(now, to, out),
            State::Leader(_) => self.ignore("it steps down already"),
            State::Idle | State::Candidate(_) | State::Waiting(_) | State::Member(_) => {
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
        let term = reign.election.count;
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
            State::Idle | State::Candidate(_) | State::Waiting(_) | State::Member(_) => None,
        }
    }

    /// Ends the belief, then says so.
    fn resign(&mut self, now: Time, to: Option<AgentId>, out: &mut Out) {
        let State::Leader(reign) = &self.state else {
            return;
        };
        let election = reign.election.clone();
        let successor = self.successor(to);
        self.leave(LostReason::Resigned, out);
        let rest = self.config.rest();
        self.rest = Some(now.after(rest));
        out.set_timer(Timer::Rest, rest);
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
        let Some(rank) = self.rank() else {
            return self.ignore("it does not stand for election");
        };
        let rests = self.lets_others_go_first(now, None);
        let ahead = self.members.ahead_of(&rank, None, line::LAST);
        let t = self.config.timings();
        let turn = line::wait(t.step(), line::place(ahead, rests));
        let (cause, wait) = if rests {
            (Cause::Rest, self.config.takeover().saturating_add(turn))
        } else {
            (Cause::Pause, turn)
        };
        self.stand_back(now, cause, After::jittered(wait, t.jitter()), out);
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

    /// Says whether it rested.
    pub(super) fn stop_resting(&mut self, out: &mut Out) -> bool {
        let rested = self.rest.take().is_some();
        if rested {
            out.cancel_timer(Timer::Rest);
        }
        rested
    }
}
