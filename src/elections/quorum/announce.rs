//! `Elected` and `Heartbeat` (A2): what a leader says of itself, and the promise it gets.
//!
//! Both are handled alike, so a missed `Elected` heals with the next heartbeat. To acknowledge is
//! to promise: for P from now on, by its own clock, this voter votes for nobody else. An observer
//! follows, and promises nothing.

use std::time::Duration;

use super::{
    Ack, Defect, Leadership, Nack, Out, QuorumBully, Timer, Vote,
    state::{Challenge, Followed, Promise, Seat, State},
};
use crate::protocol::{AgentId, Event, Incarnation, Leader, LostReason, Score, Term, Time};

/// An announcement: `Elected`, or `Heartbeat`.
#[derive(Clone, Copy)]
pub(super) struct Said {
    pub term: Term,
    pub score: Score,
    pub sent_at: Time,
}

impl Said {
    /// In the available mode nobody says when: that is none of this mode.
    pub(super) fn new(term: Term, score: Score, sent_at: Option<Time>) -> Option<Self> {
        sent_at.map(|sent_at| Self {
            term,
            score,
            sent_at,
        })
    }
}

impl QuorumBully {
    /// A2.
    pub(super) fn on_announcement(
        &mut self,
        now: Time,
        from: &AgentId,
        incarnation: Incarnation,
        said: Option<Said>,
        out: &mut Out,
    ) {
        let Some(said) = said else {
            return self.ignore("a message of the available mode");
        };
        let term = self.vote.term;
        if said.term < term {
            if self.is_voter() {
                out.send(from, Nack { term });
            }
            return self.ignore("an older announcement");
        }
        if self.refresh(now, from, incarnation, said, out) {
            return;
        }
        if self
            .members
            .get(from)
            .is_some_and(|m| m.is_stale(incarnation))
        {
            return self.ignore("that life is over");
        }
        let resigned = |l: &Leadership| l.id == *from && l.term >= said.term;
        if self.resigned.as_ref().is_some_and(resigned) {
            return self.ignore("that leadership was resigned");
        }
        self.learn_score(from, Some(said.score));
        self.follow(now, from, incarnation, said, out);
        self.acknowledge(now, from, said, out);
    }

    /// The steady state: the leader that is followed is heard again.
    fn refresh(
        &mut self,
        now: Time,
        from: &AgentId,
        incarnation: Incarnation,
        said: Said,
        out: &mut Out,
    ) -> bool {
        let until = now.after(self.promise_span());
        let gap = self.config.heartbeat().saturating_mul(3);
        let State::Follower(Seat::Taken(f)) = &mut self.state else {
            return false;
        };
        let same = f.leader.term == said.term
            && f.score == said.score
            && f.leader.incarnation == incarnation
            && f.leader.id == *from;
        if !same {
            return false;
        }
        if now.since(f.last) > gap {
            f.since = now;
        }
        (f.last, f.due) = (now, until);
        if let Some(promise) = &mut self.promise {
            promise.until = until;
        }
        out.set_timer(Timer::Election, until.since(now));
        self.acknowledge(now, from, said, out);
        self.challenge(now, out);
        true
    }

    fn follow(
        &mut self,
        now: Time,
        from: &AgentId,
        incarnation: Incarnation,
        said: Said,
        out: &mut Out,
    ) {
        let leader = Leader {
            id: from.clone(),
            incarnation,
            term: said.term,
        };
        let until = now.after(self.promise_span());
        let before = self.followed().map(|f| f.leader.clone());
        let steady = |f: &&Followed| {
            let same = f.leader.id == *from && f.leader.incarnation == incarnation;
            same && now.since(f.last) <= self.config.heartbeat().saturating_mul(3)
        };
        let since = self.followed().filter(steady).map_or(now, |f| f.since);
        self.step_down(LostReason::Superseded, out);
        if before.is_none() {
            self.leave_role(out);
        } else if self.followed().is_some_and(Followed::asks) {
            out.cancel_timer(Timer::Round);
        }
        if said.term > self.vote.term {
            let (term, voted_for) = (said.term, Some(from.clone()));
            self.follow_term(Vote { term, voted_for }, out);
        }
        self.objected.clear();
        if self.is_voter() {
            self.promise = Some(Promise {
                holder: from.clone(),
                incarnation,
                term: said.term,
                until,
            });
        }
        self.note_leader(now, from, said.term);
        if before.is_none_or(|l| l != leader) {
            out.notify(Event::NewLeader(leader.clone()));
        }
        self.state = State::Follower(Seat::Taken(Followed {
            leader,
            score: said.score,
            due: until,
            since,
            last: now,
            challenge: Challenge::Rests { until: now },
        }));
        out.set_timer(Timer::Election, until.since(now));
    }

    /// An observer has no vote to make durable: its term is only what it saw.
    fn follow_term(&mut self, vote: Vote, out: &mut Out) {
        if self.is_voter() {
            self.record(vote, out);
        } else {
            self.vote = vote;
            self.hear(self.vote.term);
        }
    }

    fn acknowledge(&self, now: Time, from: &AgentId, said: Said, out: &mut Out) {
        if !self.is_voter() {
            return;
        }
        let score = self.me.score.filter(|_| now >= self.rest.challenge);
        let (term, echo) = (said.term, said.sent_at);
        out.send(from, Ack { term, echo, score });
    }

    fn promise_span(&self) -> Duration {
        let timings = self.config.timings();
        if self.config.has(Defect::PromiseOfOneLease) {
            timings.lease()
        } else if self.config.has(Defect::PromiseOfHalfALease) {
            timings.lease() / 2
        } else {
            timings.promise()
        }
    }
}
