//! What the application asks for: an election, another score, a hand-over (B8, C9).
//!
//! Leaving is polite: `Draining` first, then the work ends, then the belief, then `Resign`; the
//! successor announces itself without waiting for any time-out. Who stepped down does not stand
//! again until its score is set, it is told to, a policy time has passed, or all others had their
//! turns: otherwise the hand-over would bounce straight back.

use super::{
    Bully, Elected, Heartbeat, Out, Resign, Timer,
    state::{Asked, Followed, Path, Seat, State},
};
use crate::elections::shared::{Due, Handover};
use crate::protocol::{AgentId, LostReason, Score, Time};

impl Bully {
    pub(super) fn on_campaign(&mut self, now: Time, out: &mut Out) {
        if self.me.rank().is_none() {
            return self.ignore("it cannot be elected");
        }
        self.cooldown.end(Timer::Rest, out);
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
            State::Follower(Seat::Taken(f)) => {
                let followed = f.clone();
                self.ask_leader(now, followed.leader.id.clone(), Some(followed), out);
            }
            State::Follower(Seat::Vacant(_)) => self.campaign(now, out),
        }
    }

    pub(super) fn on_set_score(&mut self, now: Time, score: Option<Score>, out: &mut Out) {
        let before = std::mem::replace(&mut self.me.score, score);
        let rested = score.is_some() && self.cooldown.end(Timer::Rest, out);
        if before == score && rested {
            return self.stand_again(now, out);
        }
        if before == score || !self.me.is_voter() {
            return;
        }
        match (&self.state, score) {
            (State::Leader(reign), None) => {
                if reign.handover.is_none() {
                    self.begin_drain(now, None, out);
                }
            }
            (State::Leader(_), Some(score)) => self.tell_score(score, out),
            (State::Candidate(_) | State::Waiting(_), None) => self.withdraw(now, out),
            (State::Candidate(_) | State::Waiting(_), Some(_)) => self.new_round(now, out),
            (State::Follower(Seat::Taken(f)), _) => {
                let followed = f.clone();
                self.claim_seat(now, followed, out);
            }
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
        if self.challenges(now, score, &id) {
            self.ask_leader(now, id, Some(followed), out);
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
    fn tell_score(&mut self, score: Score, out: &mut Out) {
        let State::Leader(reign) = &mut self.state else {
            return;
        };
        let term = reign.term;
        reign.score = score;
        out.send_all(Heartbeat {
            term,
            score,
            sent_at: None,
        });
    }

    pub(super) fn on_step_down(&mut self, now: Time, to: Option<AgentId>, out: &mut Out) {
        match &self.state {
            State::Leader(reign) if reign.handover.is_none() => self.begin_drain(now, to, out),
            State::Leader(_) => self.ignore("it steps down already"),
            State::Follower(_) | State::Candidate(_) | State::Waiting(_) => {
                self.ignore("it does not lead");
            }
        }
    }

    pub(super) fn begin_drain(&mut self, now: Time, to: Option<AgentId>, out: &mut Out) {
        let to = self.me.successor(to);
        let State::Leader(reign) = &mut self.state else {
            return;
        };
        let limit = self.config.drain;
        let handover = Handover::begin(now, reign.term, to, limit, Timer::Drain, out);
        reign.handover = Some(handover);
    }

    pub(super) fn on_drained(&mut self, now: Time, out: &mut Out) {
        match self.reign().and_then(|r| r.handover.clone()) {
            Some(handover) => self.resign(now, handover.to, out),
            None => self.ignore("it does not step down"),
        }
    }

    pub(super) fn on_drain_due(&mut self, now: Time, out: &mut Out) {
        match self.reign().and_then(|r| r.handover.clone()) {
            Some(handover) => match handover.due(now) {
                Due::In(left) => out.set_timer(Timer::Drain, left),
                Due::Now => self.resign(now, handover.to, out),
            },
            None => self.ignore("it does not step down"),
        }
    }

    /// Ends the belief, then says so; final for this term.
    fn resign(&mut self, now: Time, to: Option<AgentId>, out: &mut Out) {
        let Some(term) = self.reign().map(|r| r.term) else {
            return;
        };
        let successor = self.me.successor(to);
        self.lose(LostReason::Resigned, out);
        self.floor = self.floor.max(term.next().unwrap_or(term));
        self.cooldown.begin(now, self.config.rest, Timer::Rest, out);
        let is_left = successor.is_some();
        out.send_all(Resign { term, successor });
        if is_left {
            self.await_successor(now, out);
        } else {
            self.take_turn(now, Path::Ask, None, out); // nobody else: it comes back, last in line
        }
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
