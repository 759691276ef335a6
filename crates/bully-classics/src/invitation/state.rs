//! The states of an agent of an invitation election, and their transitions.
//!
//! ```text
//!       its slot has come        others found                all accepted, or silent for T
//! Free ───────────────────▶ Leader ─────────────────▶ Candidate ──────────────────────▶ Leader
//!  ▲  │                        │
//!  │  └── invited ◀────────────┘ invited from above
//!  │            ▼             `Ready`
//!  │         Member, joining ──────────▶ Member, following
//!  └────────── its coordinator is gone ────────┘
//! ```

use std::collections::BTreeMap;

use super::{
    ElectionId,
    candidate::Merge,
    core::Core,
    leader::{Found, Leading},
    member::Membership,
    message::{GroupRole, Invitation},
};
use bully_core::protocol::{After, AgentId, Leader, LostReason, Role, Score, Time};

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum State {
    /// The agent is in no group. If it can be elected, it forms a group when its slot comes.
    Free { slot: Option<Time> },
    /// The agent has invited other agents to a new group.
    Candidate(Merge),
    /// The agent is in the group of another agent.
    Member(Membership),
    /// The agent coordinates a group. At first it is the only member.
    Leader(Leading),
}

impl State {
    pub(super) const fn role(&self) -> Role {
        match self {
            Self::Free { .. } => Role::Follower,
            Self::Candidate(_) => Role::Candidate,
            Self::Member(membership) if membership.leader().is_some() => Role::Follower,
            Self::Member(_) => Role::Waiting,
            Self::Leader(_) => Role::Leader,
        }
    }

    #[cfg(any(test, feature = "testkit"))]
    pub(super) const fn status(&self) -> super::PaperStatus {
        use super::PaperStatus;
        match self {
            Self::Free { .. } | Self::Candidate(_) => PaperStatus::Election,
            Self::Member(membership) if membership.leader().is_some() => PaperStatus::Normal,
            Self::Member(_) => PaperStatus::Reorganization,
            Self::Leader(_) => PaperStatus::Normal,
        }
    }

    /// Returns this agent's role in its group, for the answer to a coordinator.
    pub(super) fn standing(&self, core: &Core) -> GroupRole {
        match self {
            Self::Free { .. } => GroupRole::Free,
            Self::Candidate(_) => GroupRole::Merging,
            Self::Leader(leading) => GroupRole::Coordinator {
                members: u32::try_from(leading.led(core).count()).unwrap_or(u32::MAX),
            },
            Self::Member(membership) => {
                let group = membership.group.clone();
                if membership.leader().is_some() {
                    GroupRole::Member { group }
                } else {
                    GroupRole::Joining { group }
                }
            }
        }
    }

    /// Returns whether this agent coordinates the group `group` and the agent `id` is in it. While a new group is
    /// formed, the members of the old group count as well: otherwise all of them would leave during a merge.
    pub(super) fn has_member(&self, group: &ElectionId, id: &AgentId) -> bool {
        match self {
            Self::Leader(leading) => leading.group == *group && leading.up.contains(id),
            Self::Candidate(merge) => merge.old == *group || merge.group == *group,
            Self::Free { .. } | Self::Member(_) => false,
        }
    }
}

/// The consequence of an input. A role returns it, and only the machine carries it out.
#[derive(Clone, Debug)]
pub(super) enum Next {
    Stay,
    /// The input changes nothing, for this reason.
    Ignore(&'static str),
    /// Form a group in order of rank. If this agent leads, its leadership ends for this reason. The contained agent is
    /// known to be gone.
    FormByRank(LostReason, Option<AgentId>),
    /// Wait for an invitation, at most for this time.
    Wait(After),
    /// Form a group of this agent alone, and look for other agents. If this agent leads, its leadership ends for the
    /// contained reason.
    Form(LostReason),
    /// Form a new group of the old group's members and the found agents.
    Merge(BTreeMap<AgentId, Found>),
    /// All agents have answered, or the time for answers has passed: lead the new group.
    Close,
    /// Join the group to which this agent is invited.
    Join(Invitation),
    /// As an observer: follow the coordinator of this group.
    Observe(Leader, ElectionId, Score),
    /// The work has ended: step down, if possible in favour of the contained agent.
    Resign(Option<AgentId>),
}
