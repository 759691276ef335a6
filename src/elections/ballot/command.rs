//! What the application asks for: a ballot, another score, a hand-over; and what a hand-over says.

use std::time::Duration;

use super::{
    Ballot, BallotTimer, Out, Resign,
    state::{Drain, Seen, Trust},
};
use crate::protocol::{AgentId, Event, LostReason, Score, Time};

impl Ballot {
    /// Takes the next ballot, and with it the seat unless somebody takes a higher one.
    pub(super) fn on_campaign(&mut self, now: Time, out: &mut Out) {
        if self.me.eligible().is_none() {
            return self.ignore("it cannot be elected");
        }
        self.rest = None;
        let stands = self.own.as_ref().is_some_and(|own| self.is_above_max(own));
        if self.leads().is_some() || stands {
            return self.ignore("it leads or stands already");
        }
        if self.seen == Seen::Minority {
            return self.ignore("no majority is heard");
        }
        self.take(1, out);
        self.begin_round(now, out);
    }

    /// A score counts in the next ballot; who has none gives its ballot up.
    pub(super) fn on_set_score(&mut self, now: Time, score: Option<Score>, out: &mut Out) {
        self.me.score = score;
        if score.is_some() {
            self.rest = None;
        } else if self.leads().is_some() {
            self.begin_drain(now, None, Duration::ZERO, out);
        } else {
            self.own = None;
        }
    }

    pub(super) fn on_step_down(&mut self, now: Time, to: Option<AgentId>, out: &mut Out) {
        let rest = self.config.rest();
        self.begin_drain(now, to, rest, out);
    }

    fn begin_drain(&mut self, now: Time, to: Option<AgentId>, rest: Duration, out: &mut Out) {
        let heir = self.heir(to);
        let Trust::Me(reign) = &mut self.trust else {
            return self.ignore("it does not lead");
        };
        if reign.draining.is_some() {
            return self.ignore("it steps down already");
        }
        let (term, to) = (reign.ballot.term(), heir.clone());
        reign.draining = Some(Drain { to: heir, rest });
        self.stand_back(now, rest); // also if the seat is lost meanwhile
        out.notify(Event::Draining { term, to });
        if self.config.drain().is_zero() {
            return self.on_drained(now, out);
        }
        out.set_timer(BallotTimer::Drain, self.config.drain());
    }

    /// The work has ended, or took too long: the belief ends, then it is said.
    pub(super) fn on_drained(&mut self, now: Time, out: &mut Out) {
        let Trust::Me(reign) = &self.trust else {
            return self.ignore("it does not lead");
        };
        let Some(Drain { to, rest }) = reign.draining.clone() else {
            return self.ignore("it does not step down");
        };
        let ballot = reign.ballot.clone();
        let successor = self.heir(to);
        self.stand_back(now, rest);
        self.set_trust(Trust::Nobody, LostReason::Resigned, out);
        self.void = Some(ballot.clone());
        out.send_all(Resign { ballot, successor });
    }

    fn stand_back(&mut self, now: Time, rest: Duration) {
        self.rest = (!rest.is_zero()).then(|| now.after(rest));
    }

    /// Who shall be next: as wished for, if that is a voter; else the most important one that is up.
    fn heir(&self, wish: Option<AgentId>) -> Option<AgentId> {
        let is_peer = |id: &AgentId| self.peers.contains(id);
        let best = || {
            let mut best = self.me.members.standing().map(|member| &member.id);
            best.find(|id| is_peer(id)).cloned()
        };
        wish.filter(is_peer).or_else(best)
    }

    /// A leader has resigned: the one it names takes a ballot above those that others may take, and
    /// everybody asks at once.
    pub(super) fn on_resign(&mut self, now: Time, from: &AgentId, resign: Resign, out: &mut Out) {
        let Resign { ballot, successor } = resign;
        if ballot.id != *from || !self.is_sound(&ballot) {
            return self.ignore("it resigns what is not its own");
        }
        if Some(&ballot) < self.record.max.as_ref() {
            return self.ignore("it resigns what is over already");
        }
        if self.is_void(&ballot) {
            return self.ignore("it has said so before");
        }
        self.void = Some(ballot.clone());
        if !self.me.is_voter() {
            return self.trust_nobody(out);
        }
        self.raise(ballot, out);
        self.set_trust(Trust::Nobody, LostReason::Superseded, out);
        let is_heir = successor.as_ref() == Some(&self.me.id);
        if is_heir && self.stands(now) && self.seen != Seen::Minority {
            self.take(2, out);
        }
        self.begin_round(now, out);
    }
}
