//! `Elected` and `Heartbeat` (A2): what a leader says of itself, and the promise it gets.
//!
//! Both are handled alike, so a missed `Elected` heals with the next heartbeat. To acknowledge is
//! to promise: for P from now on, by its own clock, this voter votes for nobody else. The
//! acknowledgement says how long that is (L1), and the record keeps the longest before it leaves (L2).
//! An observer follows, and promises nothing.

use std::time::Duration;

use super::{
    Ack, Defect, Heartbeat, Leadership, Nack, Out, QuorumBully, QuorumConfig, Timer,
    state::{Challenge, Followed, Promise, Seat, State},
};
use crate::{
    elections::message::Micros,
    protocol::{
        AgentId, Event, Incarnation, Leader, LostReason, MemberKind, Score, Term, Time, Timings,
    },
};

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
            if self.me.is_voter() {
                out.send(from, Nack { term });
            }
            return self.ignore("an older announcement");
        }
        let resigned = |l: &Leadership| l.id == *from && l.term >= said.term;
        if self.resigned.as_ref().is_some_and(resigned) {
            return self.ignore("that leadership was resigned");
        }
        self.learn_score(from, Some(said.score));
        self.follow(now, from, incarnation, said, out);
        self.acknowledge(now, from, said.term, said.sent_at, out);
    }

    /// The steady state: the leader that is followed is heard again.
    pub(super) fn refresh(
        &mut self,
        now: Time,
        from: &AgentId,
        incarnation: Incarnation,
        said: &Heartbeat,
        out: &mut Out,
    ) -> bool {
        let term = self.vote.term;
        let (State::Follower(Seat::Taken(f)), Some(sent_at)) = (&mut self.state, said.sent_at)
        else {
            return false;
        };
        let same = f.leader.term == said.term
            && said.term >= term
            && f.score == said.score
            && f.leader.incarnation == incarnation
            && f.leader.id == *from;
        if !same {
            return false;
        }
        let mut span = promise_span(&self.config);
        if self.me.kind == MemberKind::Observer {
            span = silence(span, now.since(f.last));
            self.observed = now;
        }
        let until = now.after(span);
        match &mut self.promise {
            Some(promise) => promise.until = until,
            None if self.me.kind == MemberKind::Voter => return false, // nothing to prolong
            None => {}
        }
        if now.since(f.last) > gap(&self.config) {
            f.since = now;
        }
        (f.last, f.due) = (now, until);
        out.set_timer(Timer::Election, until.since(now));
        self.acknowledge(now, from, said.term, sent_at, out);
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
        let until = now.after(self.patience_with(now, from, said.term));
        let before = self.followed().map(|f| f.leader.clone());
        let steady = |f: &&Followed| {
            let same = f.leader.id == *from && f.leader.incarnation == incarnation;
            same && now.since(f.last) <= gap(&self.config)
        };
        let since = self.followed().filter(steady).map_or(now, |f| f.since);
        self.step_down(LostReason::Superseded, out);
        if before.is_none() {
            self.leave_role(out);
        } else if self.followed().is_some_and(Followed::asks) {
            out.cancel_timer(Timer::Round);
        }
        if said.term > self.vote.term {
            self.follow_term(now, said.term, from, out);
        }
        self.objected.clear();
        if self.me.is_voter() {
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

    /// How long an announcement counts as a sign of life: a voter's promise.
    fn patience_with(&mut self, now: Time, from: &AgentId, term: Term) -> Duration {
        let span = promise_span(&self.config);
        if self.me.is_voter() {
            return span;
        }
        let before = std::mem::replace(&mut self.observed, now);
        let known = self.last_leader.as_ref();
        let again = known.is_some_and(|l| l.id == *from && l.term == term);
        if again {
            silence(span, now.since(before))
        } else {
            span
        }
    }

    /// An observer has no vote to make durable: its term is only what it saw.
    fn follow_term(&mut self, now: Time, term: Term, leader: &AgentId, out: &mut Out) {
        let voted_for = Some(leader.clone());
        if self.me.is_voter() {
            self.record(now, term, voted_for, out);
        } else {
            (self.vote.term, self.vote.voted_for) = (term, voted_for);
            self.hear(term);
        }
    }

    fn acknowledge(&mut self, now: Time, from: &AgentId, term: Term, echo: Time, out: &mut Out) {
        if !self.me.is_voter() {
            return;
        }
        if self.vote.promise != self.promise_to_keep(now) {
            self.record(now, self.vote.term, self.vote.voted_for.clone(), out);
        }
        out.send(
            from,
            Ack {
                term,
                echo,
                score: self.me.score.filter(|_| now >= self.rest.challenge),
                promise: Micros::at_most(self.config.timings().promise()),
                incarnation: None,
            },
        );
    }
}

/// More than this between two announcements ends steady contact: 3 H, or what a leader with longer
/// timings leaves between two of them for the sake of this promise (L1).
fn gap(config: &QuorumConfig) -> Duration {
    let t = config.timings();
    let pace = Timings::lease_within(t.promise()) / 3;
    let slow = pace.saturating_add(t.delay_bound().saturating_mul(2));
    config.heartbeat().saturating_mul(3).max(slow)
}

/// How long a leader's silence may last for an observer: P, or three times the gap before the last
/// announcement. The leader does not know what an observer waits for, so its heartbeats may suit
/// longer promises.
fn silence(promise: Duration, gap: Duration) -> Duration {
    let longest = promise.saturating_mul(16);
    gap.saturating_mul(3).clamp(promise, longest)
}

/// P, but for the defects that shorten it.
fn promise_span(config: &QuorumConfig) -> Duration {
    let timings = config.timings();
    if config.has(Defect::PromiseOfOneLease) {
        timings.lease()
    } else if config.has(Defect::PromiseOfHalfALease) {
        timings.lease() / 2
    } else {
        timings.promise()
    }
}
