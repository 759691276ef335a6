//! The leader that an agent trusts, as one of three roles.
//!
//! ```text
//!            another one's ballot is the highest      its own is the highest
//!  Vacant ──────────────────────▶ Following ─────────────────────────────▶ Leading
//!    ▲                             │  ▲        a higher ballot is heard     │
//!    │◀── vacant · resigned · ended┘  └─────────────────────────────────────┤
//!    └──────────── no majority · vacant · resigned ─────────────────────────┘
//! ```

use std::time::Duration;

use super::BallotNumber;
use bully_core::protocol::{AgentId, Incarnation};

/// The roles, each with its data.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum State {
    /// The agent trusts no agent.
    Vacant,
    Following(Following),
    Leading(Leading),
}

/// The state of an agent that trusts another agent as leader.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Following {
    pub(super) ballot: BallotNumber,
    pub(super) incarnation: Incarnation,
}

/// The state of an agent that leads.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Leading {
    pub(super) ballot: BallotNumber,
    pub(super) leaving: Option<Leaving>,
}

/// A leadership that is being handed over.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Leaving {
    pub(super) to: Option<AgentId>,
    /// Time after the hand-over in which this agent lets other agents lead first.
    pub(super) cooldown: Duration,
}

/// The result of the last round.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum LastRound {
    /// Too few voters answered.
    Minority,
    /// A majority answered.
    Majority,
    /// A majority answered, but the holder of the highest elected ballot did not. Other voters report that they still
    /// hear it.
    Missed,
}

impl LastRound {
    /// Returns the result that an agent assumes before its first round. In a new group no voter has heard a majority
    /// yet, so each may assume one. A voter that restarts has to hear a majority first.
    pub(super) const fn first(comes_back: bool) -> Self {
        if comes_back {
            Self::Minority
        } else {
            Self::Majority
        }
    }
}

impl State {
    pub(super) const fn ballot(&self) -> Option<&BallotNumber> {
        match self {
            Self::Vacant => None,
            Self::Following(following) => Some(&following.ballot),
            Self::Leading(leading) => Some(&leading.ballot),
        }
    }

    pub(super) const fn leading(&self) -> Option<&Leading> {
        match self {
            Self::Leading(leading) => Some(leading),
            Self::Vacant | Self::Following(_) => None,
        }
    }

    pub(super) const fn following(&self) -> Option<&Following> {
        match self {
            Self::Following(following) => Some(following),
            Self::Vacant | Self::Leading(_) => None,
        }
    }
}
