//! The consequence of an input: nothing, or another role.

use std::collections::BTreeSet;

use super::Step;
use crate::elections::message::Announcement;
use crate::protocol::{AgentId, Leader, Score, Term};

/// The consequence of an input.
#[derive(Debug)]
pub(super) enum Next {
    /// The role stays.
    Stay,
    /// The machine enters another role, or the same role anew.
    Become(Change),
}

/// The next role of an agent, with its data.
#[derive(Debug)]
pub(super) enum Change {
    /// No leader is known: it holds an election in its slot, at once if that is the first. `gone` is a
    /// member that looks up in the snapshot and is known not to be.
    Vacant { gone: Option<AgentId> },
    /// No leader is known: it holds an election in this slot, or when it is asked.
    Idle { slot: Option<usize> },
    /// It holds an election. It need not ask the agents of `failed_election`.
    HoldElection { failed_election: BTreeSet<AgentId> },
    /// It lets an agent go first that ranks above it.
    Defer {
        to: AgentId,
        failed_election: BTreeSet<AgentId>,
    },
    /// It follows a leader of that score.
    Follow(Leader, Score),
    /// It announces itself, and leads.
    Lead,
    /// It announces itself, and leads when that agent leads no more.
    Announce { former: Leader },
    /// It leads in this term, which it has announced.
    Acquire(Term, Score),
}

impl Next {
    /// Traces that an input changes nothing, and why.
    pub(super) fn ignore(step: &Step<'_>, reason: &'static str) -> Self {
        step.ignore(reason);
        Self::Stay
    }

    /// An election by an agent that knows no election of an agent that ranks below it.
    pub(super) const fn hold_election() -> Self {
        let failed_election = BTreeSet::new();
        Self::Become(Change::HoldElection { failed_election })
    }

    /// An election by an agent that an agent below it has just asked.
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
