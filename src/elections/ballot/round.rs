//! L2: rounds of questions; what a round that is over has shown.
//!
//! Links lose messages, so who has not answered is asked again within the round. That changes
//! nothing where all answer: 2 n (n - 1) messages per round.

use std::sync::Arc;

use super::{
    Ballot, BallotNumber, Defect, HeartbeatRequest, Leads, Out,
    state::{Seen, Trust},
};
use crate::protocol::{AgentId, LostReason, Round, Time, To};

/// A timer of a ballot election.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum BallotTimer {
    /// The round is over.
    Round,
    /// Who has not answered is asked again.
    Again,
    /// A leader that steps down: the work took too long.
    Drain,
    /// An observer: the leader is silent.
    Silence,
}

impl Ballot {
    pub(super) fn on_timer(&mut self, now: Time, timer: BallotTimer, out: &mut Out) {
        match timer {
            BallotTimer::Silence => self.on_silence(out),
            _ if !self.me.is_voter() => self.ignore("an observer has no rounds"),
            BallotTimer::Round => self.on_round_over(now, out),
            BallotTimer::Again => self.ask_again(now, out),
            BallotTimer::Drain => self.on_drained(now, out),
        }
    }

    /// L2.
    fn on_round_over(&mut self, now: Time, out: &mut Out) {
        self.ended = self.round;
        self.pace.next(self.config.round(), self.config.cap());
        let answered = self.heard.values().filter(|h| h.answered == self.round);
        if answered.count().saturating_add(1) >= self.config.majority() {
            let before = std::mem::replace(&mut self.seen, Seen::Majority);
            self.check(now, before, out);
        } else {
            self.is_cut_off(out);
        }
        self.begin_round(now, out);
    }

    /// No leadership without a majority; and nobody is followed who is not heard either.
    fn is_cut_off(&mut self, out: &mut Out) {
        self.seen = Seen::Minority;
        let still_leads = |ballot: &BallotNumber| {
            let heard = self.heard.get(&ballot.id);
            let heard = heard.filter(|h| h.answered == self.round);
            heard.is_some_and(|h| h.standing.ballot.as_ref() == Some(ballot))
        };
        match &self.trust {
            Trust::Other(followed) if still_leads(&followed.ballot) => {}
            Trust::Me(_) if self.config.has(Defect::BelievesAlone) => {}
            Trust::Other(_) | Trust::Me(_) | Trust::Nobody => {
                self.set_trust(Trust::Nobody, LostReason::Isolated, out);
            }
        }
    }

    pub(super) fn begin_round(&mut self, now: Time, out: &mut Out) {
        self.round = self.round.saturating_add(1);
        self.ask(now, out);
    }

    /// Asks every other voter, and tells the observers who leads.
    pub(super) fn ask(&self, now: Time, out: &mut Out) {
        if !self.peers.is_empty() {
            out.send_to(To::Set(Arc::clone(&self.peers)), self.question(now));
            out.set_timer(BallotTimer::Again, self.config.again());
        }
        self.tell_observers(out);
        out.set_timer(BallotTimer::Round, self.pace.span());
    }

    fn ask_again(&self, now: Time, out: &mut Out) {
        let is_silent = |id: &&AgentId| {
            let heard = self.heard.get(*id);
            heard.is_none_or(|h| h.answered < self.round)
        };
        let silent: Vec<AgentId> = self.peers.iter().filter(is_silent).cloned().collect();
        if silent.is_empty() {
            return;
        }
        out.send_to(To::Set(silent.into()), self.question(now));
        out.set_timer(BallotTimer::Again, self.config.again());
    }

    pub(super) fn tell_observers(&self, out: &mut Out) {
        if let Some(ballot) = self.leads().cloned()
            && !self.observers.is_empty()
        {
            out.send_to(To::Set(Arc::clone(&self.observers)), Leads { ballot });
        }
    }

    fn question(&self, now: Time) -> HeartbeatRequest {
        HeartbeatRequest {
            round: self.round(),
            max: self.record.max.clone(),
            standing: self.standing(now),
        }
    }

    fn round(&self) -> Round {
        Round {
            incarnation: self.me.incarnation,
            counter: self.round,
        }
    }
}
