//! The consequence of an input: nothing, or another role.

use std::collections::BTreeSet;

use super::Step;
use crate::elections::message::Announcement;
use crate::protocol::{AgentId, Leader, Score, Term};

#[derive(Debug)]
pub(super) enum Next {
    /// The role stays.
    Stay,
    /// The machine enters another role, or starts the same role again.
    Become(Change),
}

/// The next role of an agent, with its data.
#[derive(Debug)]
pub(super) enum Change {
    /// No leader is known. The agent holds an election in its slot, or at once if its slot is the first. `gone` is an
    /// agent whose end is known although the snapshot shows it as up.
    Vacant { gone: Option<AgentId> },
    /// No leader is known. The agent holds an election in this slot; without a slot it waits until another agent asks
    /// it.
    Idle { slot: Option<usize> },
    /// The agent holds an election. The agent need not ask the agents of `failed_election`, which rank below it.
    HoldElection { failed_election: BTreeSet<AgentId> },
    /// The agent waits for an agent that ranks above it.
    Defer {
        to: AgentId,
        failed_election: BTreeSet<AgentId>,
    },
    /// The agent follows a leader with this score.
    Follow(Leader, Score),
    /// The agent announces itself, and leads.
    Lead,
    /// The agent announces itself, and leads when the agent `former` no longer leads.
    Announce { former: Leader },
    /// The agent leads in this term, which it has announced.
    Acquire(Term, Score),
}

impl Next {
    pub(super) fn ignore(step: &Step<'_>, reason: &'static str) -> Self {
        step.ignore(reason);
        Self::Stay
    }

    /// Begins an election, and asks all other voters.
    pub(super) const fn hold_election() -> Self {
        let failed_election = BTreeSet::new();
        Self::Become(Change::HoldElection { failed_election })
    }

    /// Begins an election without a question to the asker, because the asker has just asked this agent, and ranks
    /// below it.
    pub(super) fn hold_election_above(asker: &AgentId) -> Self {
        let failed_election = BTreeSet::from([asker.clone()]);
        Self::Become(Change::HoldElection { failed_election })
    }

    pub(super) fn defer(to: &AgentId, failed_election: BTreeSet<AgentId>) -> Self {
        let to = to.clone();
        Self::Become(Change::Defer {
            to,
            failed_election,
        })
    }

    pub(super) fn follow(said: &Announcement<'_>) -> Self {
        Self::Become(Change::Follow(said.leader(), said.score))
    }
}
