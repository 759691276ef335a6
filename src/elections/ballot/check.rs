//! L3: who leads, by what the last round showed; and taking a ballot when nobody does.

use super::{
    Ballot, BallotNumber, Defect, Out,
    state::{Followed, Heard, Reign, Seen, Trust},
};
use crate::protocol::{LostReason, Time};

impl Ballot {
    /// L3, after a round in which a majority answered; `before` is what the round before had shown.
    pub(super) fn check(&mut self, now: Time, before: Seen, out: &mut Out) {
        match self.top(before) {
            Some(top)
                if top.ballot() >= self.record.max.as_ref()
                    || self.config.has(Defect::ElectsBelowMax) =>
            {
                self.elect(top, out);
            }
            Some(_) | None => self.miss(now, out),
        }
    }

    /// The highest ballot, its own included, of those who can lead: who answered in this round, and
    /// had heard a majority when it did. That goes for its own too: when a partition heals, nobody
    /// has heard one, and each would find its own ballot to be the only one.
    fn top(&self, before: Seen) -> Option<Trust> {
        let answers = self.heard.values().filter(|h| h.answered == self.round);
        let best = answers.filter_map(|h| {
            let ballot = h.standing.ballot.as_ref().filter(|b| !self.is_void(b));
            let ballot = ballot.filter(|_| h.standing.connected)?;
            Some((ballot, h.incarnation))
        });
        let best = best.max();
        let own = self.own.as_ref().filter(|_| before != Seen::Minority);
        match (own, best) {
            (Some(own), best) if best.is_none_or(|(ballot, _)| own > ballot) => {
                Some(Trust::Me(Reign {
                    ballot: own.clone(),
                    draining: None,
                }))
            }
            (_, Some((ballot, incarnation))) => Some(Trust::Other(Followed {
                ballot: ballot.clone(),
                incarnation,
            })),
            (_, None) => None,
        }
    }

    fn elect(&mut self, top: Trust, out: &mut Out) {
        if top.ballot() != self.record.max.as_ref() && !self.config.has(Defect::MaxNeverRaised) {
            self.record.max = top.ballot().cloned();
            out.persist(self.record.clone());
        }
        self.set_trust(top, LostReason::Superseded, out);
        let max = self.record.max.clone();
        self.own.take_if(|own| Some(&*own) < max.as_ref()); // it cannot win any more
    }

    /// Nobody who was heard has the highest ballot. Whoever still hears its holder is believed:
    /// otherwise the two ends of a chain would push each other off for ever.
    fn miss(&mut self, now: Time, out: &mut Out) {
        let still = self.heard_by_others().cloned();
        if still.is_none() {
            return self.stand(now, out);
        }
        self.seen = Seen::Missed;
        if self.trust.ballot() != still.as_ref() {
            self.set_trust(Trust::Nobody, LostReason::Superseded, out);
        }
    }

    /// Somebody spoke: perhaps nobody hears the missing leader any more.
    pub(super) fn look_again(&mut self, now: Time, out: &mut Out) {
        if self.seen == Seen::Missed && self.heard_by_others().is_none() {
            self.seen = Seen::Majority;
            self.stand(now, out);
            self.begin_round(now, out);
        }
    }

    /// A ballot, not below bmax, whose holder is heard by another voter; a connected one that
    /// answered in the last round that is over, or later.
    fn heard_by_others(&self) -> Option<&BallotNumber> {
        let words = self.heard.iter().filter(|(_, h)| self.is_recent(h));
        let hears = words.filter_map(|(id, h)| {
            let ballot = h.standing.hears.as_ref()?;
            (h.standing.connected && ballot.id != *id).then_some(ballot)
        });
        hears
            .filter(|b| b.id != self.me.id && !self.is_void(b))
            .filter(|b| Some(*b) >= self.record.max.as_ref())
            .max()
    }

    /// The seat is vacant: takes a ballot, if it may be elected.
    pub(super) fn stand(&mut self, now: Time, out: &mut Out) {
        self.set_trust(Trust::Nobody, LostReason::Superseded, out);
        if self.stands(now) || self.me.score.is_some() && !self.others_stand() {
            self.take(1, out);
        }
    }

    fn others_stand(&self) -> bool {
        let mut others = self.heard.values();
        others.any(|h| h.standing.stands && self.is_recent(h))
    }

    pub(super) fn is_recent(&self, heard: &Heard) -> bool {
        heard.answered >= self.ended.max(1)
    }

    /// Takes a ballot so many numbers above all that are known. It is durable before it is said.
    pub(super) fn take(&mut self, ahead: u64, out: &mut Out) {
        let (Some(score), Some(n)) = (self.me.score, self.record.next(ahead)) else {
            return self.ignore("no ballot to take");
        };
        let id = self.me.id.clone();
        self.record.n = n;
        self.own = Some(BallotNumber { n, score, id });
        if !self.config.has(Defect::VolatileNumber) {
            out.persist(self.record.clone());
        }
    }
}
