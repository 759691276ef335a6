//! The states of an agent of a reorganization, and their transitions.
//!
//! ```text
//!        asks those above      none is there         all halted       all know it     all work
//! Idle ─────────────────▶ Asking ─────────────▶ Halting ─────▶ Reorganizing ─▶ Readying ─────▶ Leader
//!  ▲  ▲                     │ one above is         │ refused      │ silence       │               │
//!  │  │                     ▼ there                ▼              ▼               ▼               │
//!  │  │   Halt ──────▶   Waiting ◀───────────────────────────────────────────────────────────────┤
//!  │  └── cannot be         │ NewCoordinator                                         `NotNormal`
//!  │      elected           ▼                  Ready
//!  └──────────────────── Joining ───────────────────────▶ Following
//! ```
//!
//! The paper's status follows from the state: see `PaperStatus`.

use super::{
    ElectionId,
    candidate::Candidacy,
    core::{Halter, WaitCause},
    leader::Leading,
    member::Membership,
    waiting::Wait,
};
use bully_core::protocol::{After, AgentId, Leader, LostReason, Role, Score};

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum State {
    /// The agent cannot be elected, and waits to be halted.
    Idle,
    /// The agent holds an election.
    Candidate(Candidacy),
    /// The agent defers to another agent, and holds an election if that agent does not lead in time.
    Waiting(Wait),
    /// The agent has a coordinator.
    Member(Membership),
    /// The agent coordinates, and all members are *Normal*.
    Leader(Leading),
}

impl State {
    pub(super) const fn role(&self) -> Role {
        match self {
            Self::Idle => Role::Follower,
            Self::Candidate(candidacy) if candidacy.has_superior() => Role::Waiting,
            Self::Candidate(_) => Role::Candidate,
            Self::Waiting(wait) => match wait.cause {
                WaitCause::Cooldown => Role::Follower, // no other agent has told this agent to wait
                WaitCause::Superior(_) | WaitCause::Halted(_) | WaitCause::Pause => Role::Waiting,
            },
            Self::Member(membership) if membership.is_normal() => Role::Follower,
            Self::Member(_) => Role::Waiting,
            Self::Leader(_) => Role::Leader,
        }
    }

    #[cfg(any(test, feature = "testkit"))]
    pub(super) const fn status(&self) -> super::PaperStatus {
        use super::PaperStatus;
        match self {
            Self::Candidate(candidacy) if candidacy.is_made_known() => PaperStatus::Reorganization,
            Self::Idle | Self::Waiting(_) | Self::Candidate(_) => PaperStatus::Election,
            Self::Member(membership) if membership.is_normal() => PaperStatus::Normal,
            Self::Member(_) => PaperStatus::Reorganization,
            Self::Leader(_) => PaperStatus::Normal,
        }
    }

    /// Returns whether this agent coordinates by this election, even if not all members are *Normal* yet.
    pub(super) fn coordinates(&self, election: &ElectionId) -> bool {
        match self {
            Self::Leader(leading) => leading.election == *election,
            Self::Candidate(c) => c.is_made_known() && c.election == *election,
            Self::Idle | Self::Waiting(_) | Self::Member(_) => false,
        }
    }

    /// Returns whether this agent holds no election, and no other agent has halted it.
    pub(super) const fn is_free(&self) -> bool {
        match self {
            Self::Candidate(_) => false,
            Self::Waiting(wait) => !matches!(wait.cause, WaitCause::Halted(_)),
            Self::Idle | Self::Member(_) | Self::Leader(_) => true,
        }
    }

    /// Returns whether this agent is idle, or waits only until its cool-down ends.
    pub(super) const fn is_cooling_down(&self) -> bool {
        match self {
            Self::Idle => true,
            Self::Waiting(wait) => matches!(wait.cause, WaitCause::Cooldown),
            Self::Candidate(_) | Self::Member(_) | Self::Leader(_) => false,
        }
    }

    /// Returns the membership if this agent is a member by this election.
    pub(super) fn member_of(&self, election: &ElectionId) -> Option<&Membership> {
        match self {
            Self::Member(membership) => Some(membership).filter(|m| m.election == *election),
            Self::Idle | Self::Candidate(_) | Self::Waiting(_) | Self::Leader(_) => None,
        }
    }

    /// Returns the halter that this agent obeys, if the halter holds this election.
    pub(super) fn halter(&self, election: &ElectionId) -> Option<&Halter> {
        match self {
            Self::Waiting(Wait {
                cause: WaitCause::Halted(halter),
                ..
            }) => Some(halter).filter(|halter| halter.election == *election),
            Self::Idle
            | Self::Candidate(_)
            | Self::Waiting(_)
            | Self::Member(_)
            | Self::Leader(_) => None,
        }
    }
}

/// The consequence of an input. A role returns it, and only the machine carries it out.
#[derive(Clone, Debug)]
pub(super) enum Next {
    Stay,
    /// The input changes nothing, for this reason.
    Ignore(&'static str),
    /// Hold an election. If this agent leads, its leadership ends for this reason.
    Elect(LostReason),
    /// Hold an election without the contained agent, which is gone although the snapshot may show it as up.
    ElectWithout(AgentId),
    /// Hold an election when this agent's slot comes (the slots are in order of rank).
    WaitForSlot,
    /// Wait for the event that the cause names, at most for this time.
    Defer(WaitCause, After),
    /// Obey the agent that has halted this agent.
    Obey(Halter),
    /// Join the coordinator that has halted this agent before.
    Join(Leader, ElectionId, Score),
    /// As an observer: follow this coordinator.
    Observe(Leader, ElectionId, Score),
    /// All members work: lead.
    Lead,
    /// The work has ended: step down, if possible in favour of the contained agent.
    Resign(Option<AgentId>),
}
