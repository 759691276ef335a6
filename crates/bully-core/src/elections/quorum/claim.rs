//! Why an agent asks for votes (`claim-for-a-reason`).
//!
//! A [`Claim`] is made here and nowhere else, of a [`Reason`], and each reason is made where its condition is looked at.
//! The page [`proof`](super::proof) says for each of them why no other agent can win the same term.
//!
//! Not here: how the votes are counted ([`candidate`](super::candidate), [`leader`](super::leader),
//! [`prepare`](super::prepare)), and whom an answer is for ([`answer`](super::answer)).

use super::{Claim, ClaimReply, SenderIncarnation, core::Core, follower::Following};
use crate::elections::message::{Candidate, Micros};
use crate::protocol::{AgentId, Leader, Score, Term};

/// Why an agent asks for votes in a term.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Reason(Why);

/// There are no others.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Why {
    /// A quorum has consented in this round.
    Consented,
    /// The leader of a term has resigned it and names this agent.
    Named,
    /// This agent had the list of the epoch decided, and the term is its first.
    FirstOfEpoch,
    /// A leader with a lease raises its own term.
    Raise,
    /// A leader asks for its successor, and claims nothing up to that term itself.
    Ahead(Candidate),
}

impl Reason {
    /// A quorum answered this round with its consent.
    pub(super) fn consented(core: &Core, consents: usize) -> Option<Self> {
        (consents >= core.config.vote_quorum()).then_some(Self(Why::Consented))
    }

    /// A `Resign` of the leader of a term names this agent, whose record knows of no later election: the term is not
    /// below that of the record, or the record is a vote that this agent gave ahead, at that leader's request, in that
    /// term. `following` is the leader that it followed until it heard this.
    pub(super) fn named(
        core: &Core,
        following: Option<&Following>,
        resigned: &Leader,
        successor: Option<&AgentId>,
    ) -> Option<Self> {
        let record = core.voter.record.term;
        let gave_ahead =
            following.is_some_and(|f| f.leader == *resigned && f.ahead == Some(record));
        let may = resigned.term >= record || gave_ahead;
        (may && successor == Some(&core.me.id)).then_some(Self(Why::Named))
    }

    /// This agent had the list of its epoch decided: `from` is who told it otherwise.
    pub(super) fn first_of_epoch(core: &Core, from: Option<&AgentId>) -> Option<Self> {
        let record = &core.voter.record;
        let list = record.installed();
        let is_its = list.is_some_and(|list| list.epoch == core.config.epoch);
        let is_first = record.term == core.config.first_term();
        (from.is_none() && is_its && is_first).then_some(Self(Why::FirstOfEpoch))
    }

    /// A leader that holds a lease raises its term.
    pub(super) fn raise(has_lease: bool) -> Option<Self> {
        has_lease.then_some(Self(Why::Raise))
    }

    /// A leader that holds a lease asks for its successor.
    pub(super) fn ahead(has_lease: bool, to: &Candidate) -> Option<Self> {
        has_lease.then(|| Self(Why::Ahead(to.clone())))
    }

    /// Asks for votes.
    pub(super) fn claim(&self, core: &Core, term: Term, score: Score) -> Claim {
        let (released, successor) = match &self.0 {
            // What its own lease rests on is not to be released.
            Why::Raise => (None, None),
            Why::Ahead(to) => (None, Some(to.clone())),
            Why::Consented | Why::Named | Why::FirstOfEpoch => (core.voter.resigned.clone(), None),
        };
        Claim {
            term,
            score,
            released,
            successor,
        }
    }
}

impl Claim {
    /// For whom it asks.
    pub(super) fn candidate(&self, (from, incarnation): SenderIncarnation<'_>) -> Candidate {
        let successor = self.successor.clone();
        successor.unwrap_or_else(|| Candidate::new(from, incarnation))
    }

    /// No vote, of a voter with a record of that term.
    pub(super) fn refusal(&self, sender: SenderIncarnation<'_>, seen: Term) -> ClaimReply {
        ClaimReply {
            term: self.term,
            seen,
            granted: false,
            retry: Micros::default(),
            incarnation: sender.1,
            candidate: self.candidate(sender),
            seal: None,
            clock: None,
        }
    }
}
