//! What the application asks for: an election, another score, a hand-over.
//!
//! Leaving is polite: `Draining` first, then the work ends, then the belief; then the successor is
//! nominated as if it had won an election, and announces itself. Who stepped down begins last, and
//! is chosen again only if there is nobody else, until its score is set, it is told to campaign, or a
//! time has passed: otherwise the hand-over would bounce straight back.

use super::{
    AgentId, Bounded, ElectionId, Nominate, Out, Ring, Timer,
    hop::Way,
    state::{Seat, Stage},
};
use crate::elections::shared::{Due, Handover};
use crate::protocol::{LostReason, Score, Time};

impl Ring {
    pub(super) fn on_campaign(&mut self, now: Time, out: &mut Out) {
        if self.me.rank().is_none() {
            return self.ignore("it cannot be elected");
        }
        self.cooldown.end(Timer::Rest, out);
        match &self.seat {
            Seat::Mine(_) => self.beat(now, out),
            _ if self.contest.is_some() => self.ignore("an election is under way"),
            Seat::Vacant | Seat::Taken(_) => self.begin(now, out),
        }
    }

    pub(super) fn on_set_score(&mut self, now: Time, score: Option<Score>, out: &mut Out) {
        let before = std::mem::replace(&mut self.me.score, score);
        self.last_score = score.unwrap_or(self.last_score);
        let rested = score.is_some() && self.cooldown.end(Timer::Rest, out);
        if before == score && !rested || !self.me.is_voter() {
            return;
        }
        match (&self.seat, score) {
            (Seat::Mine(reign), None) => {
                if reign.handover.is_none() {
                    self.begin_drain(now, None, out);
                }
            }
            (Seat::Mine(_), Some(_)) => self.beat(now, out), // who outranks it now will ask
            (Seat::Vacant, Some(_)) => self.reconsider(now, out),
            (Seat::Taken(f), Some(_)) => {
                if !self.me.outranks(f.score, &f.leader.id) && self.turn.take().is_some() {
                    out.cancel_timer(Timer::Turn);
                }
                self.reconsider(now, out);
            }
            (Seat::Vacant | Seat::Taken(_), None) => {
                self.turn = None;
                out.cancel_timer(Timer::Turn);
            }
        }
    }

    pub(super) fn on_step_down(&mut self, now: Time, to: Option<AgentId>, out: &mut Out) {
        match &self.seat {
            Seat::Mine(reign) if reign.handover.is_none() => self.begin_drain(now, to, out),
            Seat::Mine(_) => self.ignore("it steps down already"),
            Seat::Vacant | Seat::Taken(_) => self.ignore("it does not lead"),
        }
    }

    pub(super) fn begin_drain(&mut self, now: Time, to: Option<AgentId>, out: &mut Out) {
        let to = to
            .filter(|id| self.me.can_succeed(id))
            .or_else(|| self.best_successor());
        let Seat::Mine(reign) = &mut self.seat else {
            return;
        };
        let limit = self.config.drain();
        let handover = Handover::begin(now, reign.term, to, limit, Timer::Drain, out);
        reign.handover = Some(handover);
    }

    pub(super) fn on_drained(&mut self, now: Time, out: &mut Out) {
        match self.handover().cloned() {
            Some(handover) => self.resign(now, handover.to, out),
            None => self.ignore("it does not step down"),
        }
    }

    pub(super) fn on_drain_due(&mut self, now: Time, out: &mut Out) {
        match self.handover().cloned() {
            Some(handover) => match handover.due(now) {
                Due::In(left) => out.set_timer(Timer::Drain, left),
                Due::Now => self.resign(now, handover.to, out),
            },
            None => self.ignore("it does not step down"),
        }
    }

    fn handover(&self) -> Option<&Handover> {
        match &self.seat {
            Seat::Mine(reign) => reign.handover.as_ref(),
            Seat::Vacant | Seat::Taken(_) => None,
        }
    }

    /// Ends the belief, then nominates the successor.
    fn resign(&mut self, now: Time, to: Option<AgentId>, out: &mut Out) {
        let to = to
            .filter(|id| self.me.can_succeed(id))
            .or_else(|| self.best_successor());
        self.lose(LostReason::Resigned, out);
        self.cooldown
            .begin(now, self.config.rest(), Timer::Rest, out);
        self.end_contest(out);
        let successor = to.and_then(|id| Some((self.me.members.get(&id)?.incarnation?, id)));
        let (Some((incarnation, winner)), Some(term)) = (successor, self.seen.next()) else {
            return self.reconsider(now, out); // nobody else: it comes back
        };
        let election = ElectionId {
            term,
            score: self.me.score,
            origin: self.me.id.clone(),
            incarnation: self.me.incarnation,
        };
        self.take_part(now, election.clone(), Stage::Nominated, out);
        let nominate = Nominate {
            election: election.clone(),
            winner,
            incarnation,
            passed: Bounded::of(self.me.id.clone()),
        };
        if self.pass(now, nominate.into(), out) == Way::Home {
            self.winner_is_gone(now, &election, out);
        }
    }

    fn best_successor(&self) -> Option<AgentId> {
        self.others_that_stand().next().map(|m| m.id.clone())
    }

    pub(super) fn on_rest_over(&mut self, now: Time, out: &mut Out) {
        match self.cooldown.on_due(now) {
            Some(Due::In(left)) => out.set_timer(Timer::Rest, left),
            Some(Due::Now) => {
                self.reconsider(now, out);
            }
            None => self.ignore("it does not rest"),
        }
    }
}
