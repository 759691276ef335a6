//! The reasons for which an agent asks for votes, and the form of the answers.
//!
//! Decided here: an agent claims a term only for a reason (rule `claim-for-a-reason`). Only this module makes a
//! [`Claim`], always from a [`Reason`]. The function that returns a reason checks the condition of that reason. The
//! page [`proof`](super::proof) shows for each reason that no other agent can win the same term. Only this module makes
//! a [`ClaimReply`]: it fills in the fields of a vote and of a refusal.
//!
//! Not here: whether a voter gives its vote ([`voter`](super::voter)), the count of the votes
//! ([`candidate`](super::candidate), [`leader`](super::leader), [`prepare`](super::prepare)), and the incarnation for
//! which an answer counts ([`answer`](super::answer)).

use std::time::Duration;

use super::{Claim, ClaimReply, SenderIncarnation, core::Core, follower::Following};
use crate::elections::message::Candidate;
use crate::protocol::{AgentId, Leader, Score, Term};

/// The reason for which an agent asks for votes in a term.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Reason(Why);

/// The complete list of reasons.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Why {
    /// A quorum has consented in this round.
    Consented,
    /// The leader of a term has resigned, and its `Resign` has this agent as the successor.
    Named,
    /// This agent collected the confirmations (seals) by which the new list of voters was decided. So this agent asks
    /// for votes first in the epoch of the new list.
    FirstOfEpoch,
    /// A leader with a lease raises its own term.
    Raise,
    /// A leader asks for votes for its successor. The leader itself does not claim the term of its successor or a lower
    /// term.
    Ahead(Candidate),
}

impl Reason {
    /// Returns the reason of a candidate, if a quorum has consented in this round.
    pub(super) fn consented(core: &Core, consents: usize) -> Option<Self> {
        (consents >= core.config.vote_quorum()).then_some(Self(Why::Consented))
    }

    /// Returns the reason of the successor in a leader's `Resign`, if the successor's record contains no later
    /// election: the resigned term is not below the term of the record, or this agent voted ahead in the record's term,
    /// at that leader's request. `following` is the leader that this agent followed until the `Resign`.
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

    /// Returns the reason of the agent that collected the seals for the list of its epoch. `from` is the agent that
    /// sent the list; `None` if this agent itself collected the seals.
    pub(super) fn first_of_epoch(core: &Core, from: Option<&AgentId>) -> Option<Self> {
        let record = &core.voter.record;
        let list = record.installed();
        let is_its = list.is_some_and(|list| list.epoch == core.config.epoch);
        let is_first = record.term == core.config.first_term();
        (from.is_none() && is_its && is_first).then_some(Self(Why::FirstOfEpoch))
    }

    /// Returns the reason of a leader that raises its term, if the leader holds a lease.
    pub(super) fn raise(has_lease: bool) -> Option<Self> {
        has_lease.then_some(Self(Why::Raise))
    }

    /// Returns the reason of a leader that asks for votes for its successor, if the leader holds a lease.
    pub(super) fn ahead(has_lease: bool, to: &Candidate) -> Option<Self> {
        has_lease.then(|| Self(Why::Ahead(to.clone())))
    }

    pub(super) fn claim(&self, core: &Core, term: Term, score: Score) -> Claim {
        let (released, successor) = match &self.0 {
            // The leader's own lease depends on the promises of its voters, so this claim must not release them.
            Why::Raise => (None, None),
            Why::Ahead(to) => (None, Some(Box::new(to.clone()))),
            // Claims for this reason contain the resigned leadership, because some voters may not have heard the
            // `Resign` yet.
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
    /// Returns the agent that the votes are for: the successor if the claim has one, else the sender.
    pub(super) fn candidate(&self, (from, incarnation): SenderIncarnation<'_>) -> Candidate {
        let successor = self.successor.as_deref().cloned();
        successor.unwrap_or_else(|| Candidate::new(from, incarnation))
    }

    /// Returns the vote of this voter. The voter's record contains the vote already.
    pub(super) fn vote(&self, core: &Core, sender: SenderIncarnation<'_>) -> ClaimReply {
        ClaimReply {
            granted: true,
            // Rule `report-seal`: a vote contains the seal of its voter.
            seal: core.report(),
            ..self.refusal(core, sender, Duration::ZERO, None)
        }
    }

    /// Returns the refusal of this voter. The candidate should ask again after `retry`. `clock` is the term by this
    /// voter's clock, if that clock is the reason.
    pub(super) fn refusal(
        &self,
        core: &Core,
        sender: SenderIncarnation<'_>,
        retry: Duration,
        clock: Option<Term>,
    ) -> ClaimReply {
        ClaimReply {
            term: self.term,
            seen: core.voter.record.term,
            granted: false,
            retry: retry.into(),
            incarnation: sender.1,
            candidate: self.candidate(sender),
            seal: None,
            clock,
        }
    }
}
