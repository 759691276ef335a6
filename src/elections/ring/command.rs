//! What the application asks for: an election, another score, a hand-over.
//!
//! Leaving is polite: `Draining` first, then the work ends, then the belief; then the successor is
//! nominated as if it had won an election, and announces itself. Who stepped down begins last, and
//! is chosen again only if there is nobody else, until its score is set, it is told to campaign, or a
//! time has passed: otherwise the hand-over would bounce straight back.

use super::{
    AgentId, Bounded, ElectionId, Nominate, Out, Ring, Timer,
    hop::Way,
    state::{Drain, Seat, Stage},
};
use crate::protocol::{Event, LostReason, Member, Score, Time};

impl Ring {
    pub(super) fn on_campaign(&mut self, now: Time, out: &mut Out) {
        if self.rank().is_none() {
            return self.ignore("it cannot be elected");
        }
        self.stop_resting(out);
        match &self.seat {
            Seat::Mine(_) => self.beat(now, out),
            _ if self.contest.is_some() => self.ignore("an election is under way"),
            Seat::Vacant | Seat::Taken(_) => self.begin(now, out),
        }
    }

    pub(super) fn on_set_score(&mut self, now: Time, score: Option<Score>, out: &mut Out) {
        let before = std::mem::replace(&mut self.me.score, score);
        self.last_score = score.unwrap_or(self.last_score);
        let rested = score.is_some() && self.stop_resting(out);
        if before == score && !rested || !self.is_voter() {
            return;
        }
        match (&self.seat, score) {
            (Seat::Mine(reign), None) => {
                if reign.draining.is_none() {
                    self.begin_drain(now, None, out);
                }
            }
            (Seat::Mine(_), Some(_)) => self.beat(now, out), // who outranks it now will ask
            (Seat::Vacant, Some(_)) => self.reconsider(now, out),
            (Seat::Taken(f), Some(_)) => {
                if !self.outranks(f.score, &f.leader.id) && self.turn.take().is_some() {
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
            Seat::Mine(reign) if reign.draining.is_none() => self.begin_drain(now, to, out),
            Seat::Mine(_) => self.ignore("it steps down already"),
            Seat::Vacant | Seat::Taken(_) => self.ignore("it does not lead"),
        }
    }

    pub(super) fn begin_drain(&mut self, now: Time, to: Option<AgentId>, out: &mut Out) {
        let to = to
            .filter(|id| self.may_follow_me(id))
            .or_else(|| self.best_successor());
        let Seat::Mine(reign) = &mut self.seat else {
            return;
        };
        let due = now.after(self.config.drain());
        reign.draining = Some(Drain {
            to: to.clone(),
            due,
        });
        let term = reign.term;
        out.notify(Event::Draining { term, to });
        out.set_timer(Timer::Drain, self.config.drain());
    }

    pub(super) fn on_drained(&mut self, now: Time, out: &mut Out) {
        match self.draining().cloned() {
            Some(drain) => self.resign(now, drain.to, out),
            None => self.ignore("it does not step down"),
        }
    }

    pub(super) fn on_drain_due(&mut self, now: Time, out: &mut Out) {
        match self.draining().cloned() {
            Some(drain) if now < drain.due => out.set_timer(Timer::Drain, drain.due.since(now)),
            Some(drain) => self.resign(now, drain.to, out),
            None => self.ignore("it does not step down"),
        }
    }

    fn draining(&self) -> Option<&Drain> {
        match &self.seat {
            Seat::Mine(reign) => reign.draining.as_ref(),
            Seat::Vacant | Seat::Taken(_) => None,
        }
    }

    /// Ends the belief, then nominates the successor.
    fn resign(&mut self, now: Time, to: Option<AgentId>, out: &mut Out) {
        let to = to
            .filter(|id| self.may_follow_me(id))
            .or_else(|| self.best_successor());
        self.lose(LostReason::Resigned, out);
        self.rest = Some(now.after(self.config.rest()));
        out.set_timer(Timer::Rest, self.config.rest());
        self.end_contest(out);
        let successor = to.and_then(|id| Some((self.members.get(&id)?.incarnation?, id)));
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

    fn may_follow_me(&self, id: &AgentId) -> bool {
        let fit = |m: &Member| m.is_up() && m.is_voter() && m.score.is_some();
        *id != self.me.id && self.members.get(id).is_some_and(fit)
    }

    fn best_successor(&self) -> Option<AgentId> {
        self.others_that_stand().next().map(|m| m.id.clone())
    }

    /// Says whether it rested.
    pub(super) fn stop_resting(&mut self, out: &mut Out) -> bool {
        let rested = self.rest.take().is_some();
        if rested {
            out.cancel_timer(Timer::Rest);
        }
        rested
    }

    pub(super) fn on_rest_over(&mut self, now: Time, out: &mut Out) {
        match self.rest {
            Some(until) if now < until => out.set_timer(Timer::Rest, until.since(now)),
            Some(_) => {
                self.rest = None;
                self.reconsider(now, out);
            }
            None => self.ignore("it does not rest"),
        }
    }
}
