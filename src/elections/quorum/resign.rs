//! Handing a leadership over (R1, R2): the belief ends before anybody hears of it.
//!
//! `Resign` is final for the term that was led: what it releases may be given to another at once.

use std::time::Duration;

use super::{
    Defect, Leadership, Out, QuorumBully, Resign, Timer,
    state::{Belief, Certainty, Drain, Followed, Gone, Seat, State},
};
use crate::protocol::{AgentId, Event, LostReason, Score, Time};

impl QuorumBully {
    /// Asks the application to end its work; the leadership goes on, under its lease, until it has,
    /// or the drain's time is over. A leader that does not believe yet has no work to end.
    pub(super) fn begin_drain(
        &mut self,
        now: Time,
        to: Option<AgentId>,
        rest: Duration,
        out: &mut Out,
    ) {
        let to = self.successor(now, to);
        let span = self.config.drain();
        let State::Leader(reign) = &mut self.state else {
            return;
        };
        let drain = Drain {
            to: to.clone(),
            due: now.after(span),
            rest,
        };
        let term = reign.term;
        if let Belief::Pending { .. } = reign.belief {
            return self.resign(now, &drain, out);
        }
        reign.draining = Some(drain);
        out.notify(Event::Draining { term, to });
        out.set_timer(Timer::Drain, span);
    }

    pub(super) fn on_drained(&mut self, now: Time, out: &mut Out) {
        match self.draining() {
            Some(drain) => self.resign(now, &drain, out),
            None => self.ignore("it does not step down"),
        }
    }

    pub(super) fn on_drain_due(&mut self, now: Time, out: &mut Out) {
        match self.draining() {
            Some(drain) if now < drain.due => out.set_timer(Timer::Drain, drain.due.since(now)),
            Some(drain) => self.resign(now, &drain, out),
            None => self.ignore("it does not step down"),
        }
    }

    fn draining(&self) -> Option<Drain> {
        match &self.state {
            State::Leader(reign) => reign.draining.clone(),
            State::Follower(_) | State::Probing(_) | State::Claiming(_) => None,
        }
    }

    /// R1. The term is the one that was led, never one that is still being claimed.
    fn resign(&mut self, now: Time, drain: &Drain, out: &mut Out) {
        let State::Leader(reign) = &self.state else {
            return;
        };
        let term = reign.term;
        let successor = self.successor(now, drain.to.clone());
        if self.config.has(Defect::BeliefAfterResign) {
            return out.send_all(Resign { term, successor });
        }
        self.step_down(LostReason::Resigned, out);
        self.resigned = Some(self.leadership(term));
        self.rest.campaign = now.after(self.config.wait());
        if !drain.rest.is_zero() {
            self.rest.challenge = now.after(drain.rest);
        }
        out.send_all(Resign { term, successor });
        self.take_turn(now, Duration::ZERO, None, out);
    }

    /// The wished successor if it can be heard, else the most important voter that can.
    fn successor(&self, now: Time, wish: Option<AgentId>) -> Option<AgentId> {
        let State::Leader(reign) = &self.state else {
            return None;
        };
        let fresh = self.config.heartbeat().saturating_mul(2);
        let rank = |id: &AgentId| self.ranks.get(id).copied().flatten();
        let heard = || {
            reign
                .book
                .heard(now, fresh)
                .filter_map(|id| Some((rank(id)?, id)))
        };
        wish.filter(|wish| heard().any(|(_, id)| id == wish))
            .or_else(|| {
                let best = |a: &(Score, &AgentId), b: &(Score, &AgentId)| a.cmp(b);
                heard().max_by(best).map(|(_, id)| id.clone())
            })
    }

    /// R2.
    pub(super) fn on_resign(&mut self, now: Time, from: &AgentId, resign: &Resign, out: &mut Out) {
        self.hear(resign.term);
        let leadership = Leadership {
            id: from.clone(),
            term: resign.term,
        };
        let any = self.config.has(Defect::ResignVoidsAny);
        self.promise
            .take_if(|p| p.is_released_by(&leadership) || any);
        let newer = |l: &Leadership| l.term <= resign.term;
        if self.resigned.as_ref().is_none_or(newer) {
            self.resigned = Some(leadership);
        }
        let led = |f: &Followed| f.leader.id == *from && f.leader.term <= resign.term;
        let was_mine = self.followed().is_some_and(led);
        if was_mine {
            self.drop_leader(out);
        }
        let named = resign.successor.as_ref() == Some(&self.me.id);
        let open = match &self.state {
            State::Follower(Seat::Vacant(_)) => was_mine || resign.term >= self.vote.term,
            State::Probing(_) => named,
            State::Follower(Seat::Taken(_)) | State::Claiming(_) | State::Leader(_) => false,
        };
        if !open {
            return self.ignore("an election is under way, or another one leads");
        }
        self.succeed(now, from, resign, out);
    }

    /// The seat is vacant: the successor that was named claims it at once, the others wait for it.
    fn succeed(&mut self, now: Time, from: &AgentId, resign: &Resign, out: &mut Out) {
        let last = Some(Gone {
            id: from.clone(),
            certain: Certainty::Guessed,
        });
        let next = self.seen.max(self.vote.term).next();
        let fresh = resign
            .term
            .next()
            .is_some_and(|next| self.vote.term <= next);
        match (&resign.successor, next) {
            (Some(id), Some(term))
                if *id == self.me.id && fresh && self.me.eligible().is_some() =>
            {
                self.claim(now, term, out);
            }
            (Some(id), _) if *id != self.me.id => self.stand_back(now, last, out),
            (Some(_) | None, _) => self.take_turn(now, Duration::ZERO, last, out),
        }
    }
}
