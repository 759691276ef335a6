//! The leader that an agent trusts: one of three roles.
//!
//! ```text
//!            another one's ballot is the highest      its own is the highest
//!  Vacant ──────────────────────▶ Following ─────────────────────────────▶ Leading
//!    ▲                             │  ▲        a higher ballot is heard     │
//!    │◀── vacant · resigned · ended┘  └─────────────────────────────────────┤
//!    └──────────── no majority · vacant · resigned ─────────────────────────┘
//! ```

use super::BallotNumber;
use super::leader::Leading;
use bully_core::protocol::Incarnation;

/// One role at a time, with its data.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum State {
    /// It trusts no agent.
    Vacant,
    Following(Following),
    Leading(Leading),
}

/// Another agent leads.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Following {
    pub(super) ballot: BallotNumber,
    pub(super) incarnation: Incarnation,
}

/// Result of the last round.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum LastRound {
    /// Too few answered.
    Minority,
    /// A majority answered.
    Majority,
    /// A majority, and no voter with the highest ballot; but others say that they hear its holder.
    Missed,
}

impl LastRound {
    /// The state before the first round. In a new group no voter has seen a majority, and some voter has to be the
    /// first. A voter that comes back has to see a majority first.
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
