//! What an agent of a reorganization is doing, with the data that belongs to it.
//!
//! ```text
//!        G1: ask those above      nobody there: G2      all halted: G4    all: G6        all: normal
//! Idle ─────────────────▶ Asking ─────────────▶ Halting ─────▶ Reorganizing ─▶ Readying ─────▶ Leader
//!  ▲  ▲                     │ somebody is          │ nack, silence │             │               │
//!  │  │                     ▼                      ▼               ▼             ▼               │
//!  │  │   Halt: G3 ──▶   Waiting ◀───────────────────────────────────────────────────────────────┤
//!  │  └── does not stand    │ NewCoordinator: G5                                        Check: "no"
//!  │                        ▼               Ready: G7
//!  └──────────────────── Joining ───────────────────────▶ Following
//! ```
//!
//! The paper's status is a reading of this: see [`Status`].

use std::{collections::BTreeSet, fmt};

use super::{ElectionId, Task};
use crate::elections::shared::Handover;
use crate::protocol::{AgentId, Leader, Role, Score, Time};

/// What the paper calls S(i).s.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Status {
    /// Its life has not begun.
    Down,
    /// Nobody coordinates here; no work is done.
    Election,
    /// A coordinator is known, the task is not.
    Reorganization,
    /// At work, under the coordinator, on the task.
    Normal,
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Down => "down",
            Self::Election => "election",
            Self::Reorganization => "reorganization",
            Self::Normal => "normal",
        })
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum State {
    /// Does not stand for election, and waits to be halted.
    Idle,
    /// Holds an election.
    Candidate(Candidacy),
    /// Stands back.
    Waiting(Wait),
    /// Has a coordinator.
    Member(Membership),
    /// Coordinates, all being normal.
    Leader(Reign),
}

impl State {
    pub(super) const fn role(&self) -> Role {
        match self {
            Self::Idle => Role::Follower,
            Self::Candidate(candidacy) => match candidacy.phase {
                Phase::Asking {
                    superior: Some(_), ..
                } => Role::Waiting,
                Phase::Asking { superior: None, .. }
                | Phase::Halting
                | Phase::Reorganizing
                | Phase::Readying => Role::Candidate,
            },
            Self::Waiting(wait) => match wait.cause {
                Cause::Rest => Role::Follower, // nobody has told it to wait
                Cause::Superior(_) | Cause::Halted(_) | Cause::Pause => Role::Waiting,
            },
            Self::Member(membership) => match membership.stage {
                Stage::Joining => Role::Waiting,
                Stage::Following { .. } => Role::Follower,
            },
            Self::Leader(_) => Role::Leader,
        }
    }

    pub(super) const fn status(&self) -> Status {
        match self {
            Self::Idle | Self::Waiting(_) => Status::Election,
            Self::Candidate(candidacy) => match candidacy.phase {
                Phase::Asking { .. } | Phase::Halting => Status::Election,
                Phase::Reorganizing | Phase::Readying => Status::Reorganization,
            },
            Self::Member(membership) => match membership.stage {
                Stage::Joining => Status::Reorganization,
                Stage::Following { .. } => Status::Normal,
            },
            Self::Leader(_) => Status::Normal,
        }
    }
}

/// An election that this agent holds.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Candidacy {
    pub election: ElectionId,
    /// The importance it is held with.
    pub score: Score,
    pub phase: Phase,
    /// Those asked at the beginning: all who were thought to be above.
    pub asked: BTreeSet<AgentId>,
    /// Those called in this phase who have not answered.
    pub pending: BTreeSet<AgentId>,
    /// The paper's Up: those who have acknowledged the halt.
    pub up: BTreeSet<AgentId>,
    pub due: Time,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Phase {
    /// G1. Somebody above may have said that it is there, and somebody may have halted this agent;
    /// the others' answers are awaited still.
    Asking {
        superior: Option<Above>,
        halter: Option<Halter>,
    },
    /// G2.
    Halting,
    /// G4.
    Reorganizing,
    /// G6.
    Readying,
}

/// Somebody for whom this agent stands back.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Above {
    pub score: Score,
    pub id: AgentId,
}

/// Somebody who wants to be obeyed.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Halter {
    pub by: Above,
    pub election: ElectionId,
}

/// Standing back; the agent holds an election of its own when nothing comes of it by then.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Wait {
    pub cause: Cause,
    pub due: Time,
}

/// Why it stands back.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Cause {
    /// Somebody above is there.
    Superior(Above),
    /// Somebody has halted it.
    Halted(Halter),
    /// Its own election failed, or it is not its turn.
    Pause,
    /// It rests after stepping down: all others go first, and may halt it.
    Rest,
}

/// A coordinator and what is agreed with it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Membership {
    pub leader: Leader,
    pub election: ElectionId,
    /// The coordinator's importance.
    pub score: Score,
    pub stage: Stage,
    pub watch: Watch,
    pub due: Time,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Stage {
    /// Knows the coordinator, and awaits the task.
    Joining,
    /// At work; an observer need not have heard of the task.
    Following { task: Option<Task> },
}

/// How a coordinator is watched.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Watch {
    /// It is expected to be heard before the time is due.
    Hears,
    /// It was silent, and is asked whether it is there.
    Asks,
}

/// A leadership of this agent.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Reign {
    pub election: ElectionId,
    /// The importance it leads with; kept while it drains because it has lost its own.
    pub score: Score,
    /// When the next check is due.
    pub check: Time,
    pub handover: Option<Handover>,
}
