//! `Claim` (C2) and its answers (C3): one vote per voter and term, durable before it is given.
//!
//! A refused claim changes nothing durable: an agent that cannot win does not push up the term.

use std::time::Duration;

use super::{
    Claim, ClaimReply, Defect, Out, QuorumBully, Vote,
    state::{Belief, Certainty, Followed, Gone, Promise, Seat, State},
};
use crate::{
    elections::message::Micros,
    protocol::{AgentId, LostReason, Term, Time},
};

impl QuorumBully {
    /// C2.
    pub(super) fn on_claim(&mut self, now: Time, from: &AgentId, claim: &Claim, out: &mut Out) {
        self.learn_score(from, Some(claim.score));
        let refused = self.refusal_to_claim(now, from, claim);
        let granted = refused.is_none();
        let retry = refused.unwrap_or_default().into();
        self.hear(claim.term);
        if granted {
            self.give_vote(now, from, claim.term, out);
        }
        let (term, seen) = (claim.term, self.vote.term);
        out.send(
            from,
            ClaimReply {
                term,
                seen,
                granted,
                retry,
                incarnation: None,
            },
        );
    }

    /// Why not, if not: when to ask again.
    fn refusal_to_claim(&self, now: Time, from: &AgentId, claim: &Claim) -> Option<Duration> {
        if claim.term < self.vote.term {
            return Some(Duration::ZERO);
        }
        if let Some(until) = self.believes_until(now) {
            return Some(until.since(now));
        }
        let blocked = self.blocked(now, from, claim.released.as_ref());
        if !blocked.is_zero() && !self.config.has(Defect::GrantIgnoresPromise) {
            return Some(blocked);
        }
        let voted_for_another = claim.term == self.vote.term
            && self.vote.voted_for.as_ref().is_some_and(|id| id != from)
            && !self.config.has(Defect::VoteTwice);
        voted_for_another.then_some(Duration::ZERO)
    }

    fn give_vote(&mut self, now: Time, from: &AgentId, term: Term, out: &mut Out) {
        let term = if self.config.has(Defect::VoteKeepsTerm) {
            self.vote.term
        } else {
            term
        };
        let voted_for = Some(from.clone());
        self.record(now, term, voted_for, out);
        // Its leader may claim a higher term while it leads: what it was promised goes on.
        let holds = |p: &Promise| p.holder == *from && now < p.until;
        let is_holder = self.promise.as_ref().is_some_and(holds);
        if is_holder && self.followed().is_some_and(|f| f.leader.id == *from) {
            return;
        }
        let last = self.followed().map(|f| Gone {
            id: f.leader.id.clone(),
            certain: Certainty::Guessed,
        });
        self.step_down(LostReason::Superseded, out);
        self.leave_role(out);
        if !is_holder {
            self.promise = None;
        }
        self.stand_back(now, last, out);
    }

    /// C3, and the votes for a standing leader's higher term (A4).
    pub(super) fn on_claim_reply(
        &mut self,
        now: Time,
        from: &AgentId,
        reply: &ClaimReply,
        out: &mut Out,
    ) {
        self.hear(reply.seen);
        match &mut self.state {
            State::Claiming(claiming) if claiming.term == reply.term => {
                if reply.granted {
                    claiming.grants.insert(from.clone());
                    self.count_votes(now, out);
                } else if reply.seen > reply.term {
                    let last = claiming.last.take();
                    self.try_again(now, Duration::ZERO, last, out);
                } else {
                    claiming.retry = claiming.retry.max(reply.retry.into());
                }
            }
            State::Leader(reign) => match &mut reign.bump {
                Some(bump) if bump.term == reply.term && reply.granted => {
                    bump.grants.insert(from.clone());
                    self.finish_bump(now, out);
                }
                Some(bump) if bump.term == reply.term && reply.seen > reply.term => {
                    self.bump(now, reply.seen, out);
                }
                Some(_) | None => self.ignore("an answer to another claim"),
            },
            State::Follower(_) | State::Probing(_) | State::Claiming(_) => {
                self.ignore("an answer to another claim");
            }
        }
    }

    /// Until when this agent believes that it leads, if it does at `now`.
    pub(super) fn believes_until(&self, now: Time) -> Option<Time> {
        let State::Leader(reign) = &self.state else {
            return None;
        };
        match reign.belief {
            Belief::Held { until } if now < until || self.config.has(Defect::BeliefByTimer) => {
                Some(until)
            }
            Belief::Held { .. } | Belief::Pending { .. } => None,
        }
    }

    /// The record changes only together with its durable copy.
    pub(super) fn record(
        &mut self,
        now: Time,
        term: Term,
        voted_for: Option<AgentId>,
        out: &mut Out,
    ) {
        let vote = Vote {
            term,
            voted_for,
            promise: self.promise_to_keep(now),
            prepared: None,
            voters: None,
        };
        if self.vote == vote {
            return;
        }
        self.vote = vote;
        self.hear(self.vote.term);
        if !self.config.has(Defect::VolatileVote) {
            out.persist(self.vote.clone());
        }
    }

    /// L2: the longest promise of any incarnation that may still hold. What earlier ones gave is over
    /// when the quarantine is, which is no shorter; every record until then carries it over.
    pub(super) fn promise_to_keep(&self, now: Time) -> Micros {
        if self.config.has(Defect::PromiseUnrecorded) {
            return Micros::default();
        }
        let mine = Micros::from(self.config.timings().promise());
        let is_over = self.quarantine.is_some_and(|end| now >= end);
        if is_over || self.config.has(Defect::PromiseLoweredEarly) {
            mine
        } else {
            mine.max(self.vote.promise)
        }
    }

    pub(super) fn followed(&self) -> Option<&Followed> {
        match &self.state {
            State::Follower(Seat::Taken(followed)) => Some(followed),
            State::Follower(Seat::Vacant(_))
            | State::Probing(_)
            | State::Claiming(_)
            | State::Leader(_) => None,
        }
    }
}
