//! L4 and L5: what another voter asks, and what it answers.

use super::{
    Ballot, BallotNumber, Defect, HeartbeatReply, HeartbeatRequest, Out, Standing,
    state::{Heard, Seen},
};
use crate::protocol::{AgentId, Incarnation, Time};

impl Ballot {
    /// L4. Always answered.
    pub(super) fn on_request(
        &mut self,
        now: Time,
        from: &AgentId,
        incarnation: Incarnation,
        request: HeartbeatRequest,
        out: &mut Out,
    ) {
        if request.standing.connected
            && let Some(max) = request.max
        {
            self.raise(max, out);
        }
        self.hear(from, incarnation, request.standing, None);
        self.look_again(now, out);
        let (round, standing) = (request.round, self.standing(now));
        out.send(from, HeartbeatReply { round, standing });
    }

    /// L5. An answer to this round counts; one to a round that is over, and that this voter had not
    /// answered yet, says that rounds are too short.
    pub(super) fn on_reply(
        &mut self,
        now: Time,
        from: &AgentId,
        incarnation: Incarnation,
        reply: HeartbeatReply,
        out: &mut Out,
    ) {
        let counter = reply.round.counter;
        if reply.round.incarnation != self.me.incarnation || counter > self.round {
            return self.ignore("an answer to another life");
        }
        if counter == self.round {
            self.hear(from, incarnation, reply.standing, Some(counter));
            return self.look_again(now, out);
        }
        let answered = self.heard.get(from).map_or(0, |h| h.answered);
        if counter <= answered || counter > self.ended {
            return self.ignore("an answer to a round that does not matter");
        }
        self.pace.is_late();
        self.hear(from, incarnation, reply.standing, Some(counter));
        self.look_again(now, out);
    }

    /// What a voter says of itself is the last word on it.
    fn hear(
        &mut self,
        from: &AgentId,
        incarnation: Incarnation,
        said: Standing,
        answers: Option<u64>,
    ) {
        let before = self
            .heard
            .get(from)
            .map_or(Incarnation(0), |h| h.incarnation);
        if before > incarnation {
            return self.ignore("from an earlier life");
        }
        let same_life = before == incarnation;
        let answered = self.heard.get(from).filter(|_| same_life);
        let answered = answered.map_or(0, |h| h.answered);
        let ballot = said.ballot.filter(|b| b.id == *from && self.is_sound(b));
        let hears = said.hears.filter(|b| self.is_sound(b));
        let standing = Standing {
            ballot,
            hears,
            ..said
        };
        let word = Heard {
            incarnation,
            standing,
            answered: answers.unwrap_or(answered),
        };
        match self.heard.get_mut(from) {
            Some(known) => *known = word,
            None => drop(self.heard.insert(from.clone(), word)),
        }
    }

    /// bmax never falls, and is durable before anybody hears of it.
    pub(super) fn raise(&mut self, max: BallotNumber, out: &mut Out) {
        if !self.is_above_max(&max) || self.config.has(Defect::MaxNeverRaised) {
            return;
        }
        if !self.is_sound(&max) {
            return self.ignore("a ballot that nobody can have taken");
        }
        self.record.max = Some(max);
        out.persist(self.record.clone());
        if self.seen == Seen::Missed {
            self.seen = Seen::Majority; // what is missing is another one now: the round will show
        }
    }

    pub(super) fn standing(&self, now: Time) -> Standing {
        let heard = self.trust.ballot().filter(|_| self.seen == Seen::Majority);
        Standing {
            ballot: self.own.clone(),
            stands: self.stands(now),
            connected: self.is_connected(),
            hears: heard.cloned(),
        }
    }
}
