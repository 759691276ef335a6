//! What the application asks for: an election, another score, a hand-over (B8, C9).
//!
//! Leaving is polite: `Draining` first, then the work ends, then the belief, then `Resign`; the
//! successor announces itself without waiting for any time-out. Who stepped down does not stand
//! again until its score is set, it is told to, a policy time has passed, or all others had their
//! turns: otherwise the hand-over would bounce straight back.

use super::{
    Bully, Elected, Heartbeat, Out, Resign, Timer,
    state::{Asked, Drain, Followed, Path, Seat, State},
};
use crate::protocol::{AgentId, Event, LostReason, Member, Score, Time};

impl Bully {
    pub(super) fn on_campaign(&mut self, now: Time, out: &mut Out) {
        if self.rank().is_none() {
            return self.ignore("it cannot be elected");
        }
        self.stop_resting(out);
        match &self.state {
            State::Leader(reign) => {
                let (term, score) = (reign.term, reign.score);
                out.send_all(Elected {
                    term,
                    score,
                    answer: None,
                    sent_at: None,
                });
            }
            State::Candidate(_) | State::Waiting(_) => self.ignore("an election is under way"),
            State::Follower(_) if !self.stands(now) => {
                self.ignore("the terms have come to their end");
            }
            State::Follower(Seat::Taken(f)) if !self.is_strict() => {
                let followed = f.clone();
                self.ask_leader(now, followed.leader.id.clone(), Some(followed), out);
            }
            State::Follower(Seat::Taken(f)) => {
                out.notify(Event::NoLeader {
                    term: f.leader.term,
                });
                self.campaign(now, out);
            }
            State::Follower(Seat::Vacant(_)) => self.campaign(now, out),
        }
    }

    pub(super) fn on_set_score(&mut self, now: Time, score: Option<Score>, out: &mut Out) {
        let before = std::mem::replace(&mut self.me.score, score);
        let rested = score.is_some() && self.stop_resting(out);
        if before == score && rested {
            return self.stand_again(now, out);
        }
        if before == score || !self.is_voter() {
            return;
        }
        match (&self.state, score) {
            (State::Leader(reign), None) => {
                if reign.draining.is_none() {
                    self.begin_drain(now, None, out);
                }
            }
            (State::Leader(_), Some(score)) => self.tell_score(now, score, out),
            (State::Candidate(_) | State::Waiting(_), None) => self.withdraw(now, out),
            (State::Candidate(_) | State::Waiting(_), Some(_)) => self.new_round(now, out),
            (State::Follower(Seat::Taken(f)), _) => {
                let followed = f.clone();
                self.claim_seat(now, followed, out);
            }
            (State::Follower(Seat::Vacant(_)), _) if self.is_strict() => {}
            (State::Follower(Seat::Vacant(_)), _) => self.take_turn(now, Path::Ask, None, out),
        }
    }

    /// Holds no election any more, and follows on if it did.
    fn withdraw(&mut self, now: Time, out: &mut Out) {
        if let Some(followed) = self.followed().cloned() {
            return self.follow(now, followed.leader, followed.score, out);
        }
        self.leave_state(out);
        self.state = State::Follower(Seat::Vacant(None));
    }

    /// Asks for the seat of a leader that this agent outranks now.
    fn claim_seat(&mut self, now: Time, followed: Followed, out: &mut Out) {
        let (score, id) = (followed.score, followed.leader.id.clone());
        if !self.is_strict() {
            if self.challenges(now, score, &id) {
                self.ask_leader(now, id, Some(followed), out);
            }
        } else if self.outranks(score, &id) && self.stands(now) {
            let term = followed.leader.term;
            out.notify(Event::NoLeader { term });
            self.campaign(now, out);
        }
    }

    /// A round belongs to one score: another score begins another, and nobody is known to fail.
    fn new_round(&mut self, now: Time, out: &mut Out) {
        let leader = match &self.state {
            State::Candidate(candidacy) => match &candidacy.asked {
                Asked::Leader { id, following } => Some((id.clone(), following.clone())),
                Asked::Voters => None,
            },
            State::Waiting(_) | State::Follower(_) | State::Leader(_) => None,
        };
        if let Some((id, following)) = leader {
            return self.ask_leader(now, id, following, out);
        }
        self.leave_state(out);
        self.state = State::Follower(Seat::Vacant(None));
        self.campaign(now, out);
    }

    /// A leader with another score says so; who outranks it now will ask.
    fn tell_score(&mut self, now: Time, score: Score, out: &mut Out) {
        let strict = self.is_strict();
        let State::Leader(reign) = &mut self.state else {
            return;
        };
        let term = reign.term;
        let before = std::mem::replace(&mut reign.score, score);
        if !strict {
            out.send_all(Heartbeat {
                term,
                score,
                sent_at: None,
            });
        } else if score < before {
            self.lose(LostReason::Outranked, out);
            self.campaign(now, out);
        }
    }

    pub(super) fn on_step_down(&mut self, now: Time, to: Option<AgentId>, out: &mut Out) {
        match &self.state {
            State::Leader(reign) if reign.draining.is_none() => self.begin_drain(now, to, out),
            State::Leader(_) => self.ignore("it steps down already"),
            State::Follower(_) | State::Candidate(_) | State::Waiting(_) => {
                self.ignore("it does not lead");
            }
        }
    }

    pub(super) fn begin_drain(&mut self, now: Time, to: Option<AgentId>, out: &mut Out) {
        let to = to
            .filter(|id| self.may_follow_me(id))
            .or_else(|| self.best_successor());
        let State::Leader(reign) = &mut self.state else {
            return;
        };
        reign.draining = Some(Drain {
            to: to.clone(),
            due: now.after(self.config.drain),
        });
        out.notify(Event::Draining {
            term: reign.term,
            to,
        });
        out.set_timer(Timer::Drain, self.config.drain);
    }

    pub(super) fn on_drained(&mut self, now: Time, out: &mut Out) {
        match self.reign().and_then(|r| r.draining.clone()) {
            Some(drain) => self.resign(now, drain.to, out),
            None => self.ignore("it does not step down"),
        }
    }

    pub(super) fn on_drain_due(&mut self, now: Time, out: &mut Out) {
        match self.reign().and_then(|r| r.draining.clone()) {
            Some(drain) if now < drain.due => out.set_timer(Timer::Drain, drain.due.since(now)),
            Some(drain) => self.resign(now, drain.to, out),
            None => self.ignore("it does not step down"),
        }
    }

    /// Ends the belief, then says so; final for this term.
    fn resign(&mut self, now: Time, to: Option<AgentId>, out: &mut Out) {
        let Some(term) = self.reign().map(|r| r.term) else {
            return;
        };
        let successor = to
            .filter(|id| self.may_follow_me(id))
            .or_else(|| self.best_successor());
        self.lose(LostReason::Resigned, out);
        self.floor = self.floor.max(term.next().unwrap_or(term));
        self.rest = Some(now.after(self.config.rest));
        out.set_timer(Timer::Rest, self.config.rest);
        let is_left = successor.is_some();
        out.send_all(Resign { term, successor });
        if is_left {
            self.await_successor(now, out);
        } else {
            self.take_turn(now, Path::Ask, None, out); // nobody else: it comes back, last in line
        }
    }

    fn may_follow_me(&self, id: &AgentId) -> bool {
        let fit = |m: &Member| m.is_up() && m.is_voter() && m.score.is_some();
        *id != self.me.id && self.members.get(id).is_some_and(fit)
    }

    fn best_successor(&self) -> Option<AgentId> {
        self.members
            .standing()
            .find(|m| m.id != self.me.id)
            .map(|m| m.id.clone())
    }

    /// Says whether it rested.
    pub(super) fn stop_resting(&mut self, out: &mut Out) -> bool {
        let rested = self.rest.take().is_some();
        if rested {
            out.cancel_timer(Timer::Rest);
        }
        rested
    }

    /// The rest after stepping down is over.
    pub(super) fn stand_again(&mut self, now: Time, out: &mut Out) {
        match &self.state {
            State::Follower(Seat::Vacant(_)) => self.take_turn(now, Path::Ask, None, out),
            State::Follower(Seat::Taken(f)) => {
                let followed = f.clone();
                self.claim_seat(now, followed, out);
            }
            State::Candidate(_) | State::Waiting(_) | State::Leader(_) => {}
        }
    }
}
