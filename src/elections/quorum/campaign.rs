//! Asking before claiming, claiming, winning (E1, E3, C1, C3, A1).
//!
//! Asking changes nothing durable, neither here nor there: a term is used up only when a quorum is
//! likely to give it.

use std::{collections::BTreeSet, time::Duration};

use tracing::debug;

use super::{
    Claim, Elect, Elected, Ok, Out, QuorumBully, Refusal, Timer, Yield,
    lease::LeaseBook,
    state::{Belief, Claiming, Probe, Reign, Seat, State},
};
use crate::protocol::{AgentId, Round, Term, Time};

impl QuorumBully {
    /// E1. Holds an election: asks every voter whether it would vote for this agent.
    pub(super) fn stand(&mut self, now: Time, out: &mut Out) {
        let Some(score) = self.me.eligible() else {
            return self.ignore("it does not stand for election");
        };
        let last = match &mut self.state {
            State::Follower(Seat::Vacant(vacancy)) => vacancy.last.take(),
            State::Follower(Seat::Taken(_)) => None,
            State::Probing(_) | State::Claiming(_) | State::Leader(_) => return,
        };
        if !self.barred(now).is_zero() {
            return self.take_turn(now, Duration::ZERO, last, out);
        }
        let above = self.seen.max(self.vote.term).next();
        let Some(term) = above.filter(|term| *term <= self.config.last_term()) else {
            return self.ignore("the terms have come to their end");
        };
        let round = self.next_round();
        let wait = self.config.timings().round();
        debug!(node = %self.me.id, %term, "election begins");
        let (seen, takeover) = (self.seen.max(self.vote.term), None);
        self.ask_voters(
            Elect {
                round,
                score,
                seen,
                takeover,
            },
            out,
        );
        out.cancel_timer(Timer::Election);
        out.set_timer(Timer::Round, wait);
        self.state = State::Probing(Probe {
            round,
            term,
            consents: [self.me.id.clone()].into(),
            replied: [self.me.id.clone()].into(),
            retry: Duration::ZERO,
            due: now.after(wait),
            last,
        });
        self.decide(now, out);
    }

    /// E3, a consent.
    pub(super) fn on_yield(&mut self, now: Time, from: &AgentId, consent: &Yield, out: &mut Out) {
        self.hear(consent.seen);
        match &mut self.state {
            State::Probing(probe) if probe.round == consent.round => {
                probe.consents.insert(from.clone());
                probe.replied.insert(from.clone());
                self.decide(now, out);
            }
            State::Follower(Seat::Taken(_)) => self.on_challenge_consent(now, from, consent, out),
            State::Follower(Seat::Vacant(_))
            | State::Probing(_)
            | State::Claiming(_)
            | State::Leader(_) => self.ignore("an answer to another round"),
        }
    }

    /// E3, an objection or a refusal.
    pub(super) fn on_ok(&mut self, now: Time, from: &AgentId, ok: &Ok, out: &mut Out) {
        self.hear(ok.seen);
        let probe = match &mut self.state {
            State::Probing(probe) if probe.round == ok.round => probe,
            State::Follower(Seat::Taken(_)) => return self.on_challenge_refused(now, from, ok),
            State::Follower(Seat::Vacant(_))
            | State::Probing(_)
            | State::Claiming(_)
            | State::Leader(_) => return self.ignore("an answer to another round"),
        };
        match &ok.refusal {
            None => {
                let last = probe.last.take();
                self.stand_back(now, last, out);
            }
            Some(Refusal::Stale) => {
                let last = probe.last.take();
                self.try_again(now, Duration::ZERO, last, out);
            }
            Some(Refusal::LeaderAlive { retry }) => {
                probe.retry = probe.retry.max((*retry).into());
                probe.replied.insert(from.clone());
                self.decide(now, out);
            }
        }
    }

    /// E3. Enough would vote for this agent, and everybody who outranks it has spoken or is late.
    pub(super) fn decide(&mut self, now: Time, out: &mut Out) {
        let (quorum, voters) = (self.config.vote_quorum(), self.config.voters().len());
        let State::Probing(probe) = &self.state else {
            return;
        };
        let Some(score) = self.me.score else { return };
        let is_late = now >= probe.due;
        let awaited = |id: &&AgentId| {
            !probe.replied.contains(*id) && self.goes_first(score, id, probe.last.as_ref())
        };
        if probe.consents.len() >= quorum {
            if is_late || !self.peers.iter().any(|id| awaited(&id)) {
                let term = probe.term;
                self.claim(now, term, out);
            }
        } else if is_late || probe.replied.len() >= voters {
            let (retry, last) = (probe.retry, probe.last.clone());
            self.try_again(now, retry, last, out);
        }
    }

    /// C1. Votes for itself, durably, and asks the others for their votes.
    pub(super) fn claim(&mut self, now: Time, term: Term, out: &mut Out) {
        let released = self.resigned.clone();
        let last = match &mut self.state {
            State::Probing(probe) => probe.last.take(),
            State::Follower(Seat::Vacant(vacancy)) => vacancy.last.take(),
            State::Follower(Seat::Taken(_)) | State::Claiming(_) | State::Leader(_) => None,
        };
        let blocked = self.blocked(now, &self.me.id, released.as_ref());
        let Some(score) = self.me.eligible().filter(|_| blocked.is_zero()) else {
            return self.try_again(now, blocked, last, out);
        };
        if term <= self.vote.term || term > self.config.last_term() {
            return self.try_again(now, Duration::ZERO, last, out);
        }
        let wait = self.config.timings().round();
        self.vote_for_myself(now, term, out);
        self.ask_voters(
            Claim {
                term,
                score,
                released,
                released_incarnation: None,
                prepared: None,
            },
            out,
        );
        out.cancel_timer(Timer::Election);
        out.set_timer(Timer::Round, wait);
        self.state = State::Claiming(Claiming {
            term,
            grants: BTreeSet::from([self.me.id.clone()]),
            retry: Duration::ZERO,
            due: now.after(wait),
            last,
        });
        self.count_votes(now, out);
    }

    pub(super) fn vote_for_myself(&mut self, now: Time, term: Term, out: &mut Out) {
        let voted_for = Some(self.me.id.clone());
        self.record(now, term, voted_for, out);
    }

    /// C3.
    pub(super) fn count_votes(&mut self, now: Time, out: &mut Out) {
        let State::Claiming(claiming) = &self.state else {
            return;
        };
        if claiming.grants.len() >= self.config.vote_quorum() {
            let term = claiming.term;
            self.lead(now, term, out);
        }
    }

    /// A1. Elected; belief begins when enough have acknowledged it.
    fn lead(&mut self, now: Time, term: Term, out: &mut Out) {
        let Some(score) = self.me.eligible() else {
            return;
        };
        let give_up = self.config.timings().round().saturating_mul(2);
        let heartbeat = self.config.heartbeat();
        self.promise = None;
        self.objected.clear();
        let (answer, sent_at) = (None, Some(now));
        out.send_all(Elected {
            term,
            score,
            answer,
            sent_at,
        });
        out.set_timer(Timer::Heartbeat, heartbeat);
        out.set_timer(Timer::Round, give_up);
        self.state = State::Leader(Reign {
            term,
            score,
            belief: Belief::Pending {
                give_up: now.after(give_up),
            },
            beat: now.after(heartbeat),
            book: LeaseBook::default(),
            bump: None,
            draining: None,
        });
        self.renew(now, out);
    }

    pub(super) fn next_round(&mut self) -> Round {
        self.rounds = self.rounds.saturating_add(1);
        Round {
            incarnation: self.me.incarnation,
            counter: self.rounds,
        }
    }
}
