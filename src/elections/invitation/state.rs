//! What an agent of an invitation election is doing, with the data that belongs to it.
//!
//! ```text
//!       turn came: I1            others found: I3               all accepted, or T
//! Free ───────────────▶ Leader ─────────────────▶ Candidate ──────────────────────▶ Leader
//!  ▲  │                    │
//!  │  └── invited: I4 ◀────┘ invited from above
//!  │            ▼         Ready: I6
//!  │         Member, joining ──────────▶ Member, following
//!  └────────── coordinator gone: I7 ───────────┘
//! ```

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
};

use super::{ElectionId, Task};
use crate::elections::shared::Handover;
use crate::protocol::{AgentId, Leader, Role, Score, Term, Time};

/// What the paper calls S(i).s.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Status {
    /// Its life has not begun.
    Down,
    /// It is in no group, or in one that is being formed; no work is done.
    Election,
    /// It has accepted an invitation, and does not know the task.
    Reorganization,
    /// At work in its group.
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
    /// In no group; who stands forms one when its turn comes.
    Free { turn: Option<Time> },
    /// Has invited others to a new group.
    Candidate(Merge),
    /// In somebody else's group.
    Member(Membership),
    /// Coordinates a group, of itself alone at first.
    Leader(Reign),
}

impl State {
    pub(super) const fn role(&self) -> Role {
        match self {
            Self::Free { .. } => Role::Follower,
            Self::Candidate(_) => Role::Candidate,
            Self::Member(membership) => match membership.stage {
                Stage::Joining => Role::Waiting,
                Stage::Following { .. } => Role::Follower,
            },
            Self::Leader(_) => Role::Leader,
        }
    }

    pub(super) const fn status(&self) -> Status {
        match self {
            Self::Free { .. } | Self::Candidate(_) => Status::Election,
            Self::Member(membership) => match membership.stage {
                Stage::Joining => Status::Reorganization,
                Stage::Following { .. } => Status::Normal,
            },
            Self::Leader(_) => Status::Normal,
        }
    }
}

/// A group that is being formed (I3).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Merge {
    pub group: ElectionId,
    /// The group that it coordinated before.
    pub old: ElectionId,
    pub score: Score,
    /// Those invited who have not answered, and how many members each may bring.
    pub pending: BTreeMap<AgentId, u32>,
    /// How many are still expected to accept who were not invited by this agent itself.
    pub brought: u32,
    /// The paper's Up: those who have accepted.
    pub up: BTreeSet<AgentId>,
    pub due: Time,
}

/// A group of somebody else's.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Membership {
    pub coordinator: Above,
    pub group: ElectionId,
    pub stage: Stage,
    pub watch: Watch,
    pub due: Time,
}

/// Somebody and its importance.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Above {
    pub score: Score,
    pub id: AgentId,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Stage {
    /// Has accepted, and awaits the task.
    Joining,
    /// At work; an observer need not have heard of the task.
    Following { leader: Leader, task: Option<Task> },
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
    pub group: ElectionId,
    /// The importance it leads with; kept while it drains because it has lost its own.
    pub score: Score,
    /// The members of the group beside it.
    pub up: BTreeSet<AgentId>,
    /// Those of them who have answered the last check; nobody is known to be silent before it.
    pub answered: Option<BTreeSet<AgentId>>,
    /// Those outside of the group who have answered the last check.
    pub found: BTreeMap<AgentId, Found>,
    /// What an observer asks for: a number that exceeds this count.
    pub outdone_by: Option<Term>,
    pub phase: Phase,
    pub due: Time,
    pub handover: Option<Handover>,
}

/// How far the check is (I2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Phase {
    /// The next one begins when it is due.
    Rests,
    /// Answers come in.
    Asks,
    /// Somebody above was found, who is given the time to invite all.
    Defers,
}

/// Somebody outside of the group.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Found {
    pub score: Option<Score>,
    /// How many members it may bring.
    pub members: u32,
}
