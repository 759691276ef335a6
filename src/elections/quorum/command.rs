//! What the application asks for: an election, another score, a hand-over (E0, P4).

use std::time::Duration;

use super::{
    Heartbeat, Out, QuorumBully,
    state::{Rest, Seat, State},
};
use crate::protocol::{AgentId, Score, Time};

impl QuorumBully {
    /// Holds an election now if nothing forbids it; asks a live leader for its seat if it ranks
    /// below. A leader is left alone by who may not have its seat.
    pub(super) fn on_campaign(&mut self, now: Time, out: &mut Out) {
        if self.me.eligible().is_none() {
            return self.ignore("it cannot be elected");
        }
        self.rest = Rest::default();
        match &self.state {
            State::Follower(Seat::Vacant(_)) => self.stand(now, out),
            State::Follower(Seat::Taken(_)) => self.ask_to_take_over(now, out),
            State::Leader(_) => self.tell_score(now, out),
            State::Probing(_) | State::Claiming(_) => self.ignore("an election is under way"),
        }
    }

    pub(super) fn on_set_score(&mut self, now: Time, score: Option<Score>, out: &mut Out) {
        let before = std::mem::replace(&mut self.me.score, score);
        if score.is_some() {
            self.rest = Rest::default();
        }
        if before == score || !self.me.is_voter() {
            return;
        }
        match (&mut self.state, score) {
            (State::Leader(reign), None) if reign.draining.is_none() => {
                self.begin_drain(now, None, Duration::ZERO, out);
            }
            (State::Leader(_), None) => self.ignore("it steps down already"),
            (State::Leader(reign), Some(score)) => {
                reign.score = score;
                self.tell_score(now, out);
            }
            (State::Follower(Seat::Vacant(_)) | State::Claiming(_), Some(_))
                if before.is_some() =>
            {
                self.ignore("the next round is asked with it");
            }
            (State::Probing(_), Some(_)) => {
                self.leave_role(out); // a round belongs to one score
                self.stand(now, out);
            }
            (State::Follower(Seat::Vacant(_)) | State::Probing(_) | State::Claiming(_), _) => {
                self.leave_role(out);
                self.take_turn(now, Duration::ZERO, None, out);
            }
            (State::Follower(Seat::Taken(_)), _) => self.ignore("the leader hears of it"),
        }
    }

    fn tell_score(&self, now: Time, out: &mut Out) {
        if let State::Leader(reign) = &self.state {
            let (term, score, sent_at) = (reign.term, reign.score, Some(now));
            out.send_all(Heartbeat {
                term,
                score,
                sent_at,
            });
        }
    }

    pub(super) fn on_step_down(&mut self, now: Time, to: Option<AgentId>, out: &mut Out) {
        match &self.state {
            State::Leader(reign) if reign.draining.is_none() => {
                self.begin_drain(now, to, self.config.rest(), out);
            }
            State::Leader(_) => self.ignore("it steps down already"),
            State::Follower(_) | State::Probing(_) | State::Claiming(_) => {
                self.ignore("it does not lead");
            }
        }
    }
}
