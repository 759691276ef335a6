//! What an agent of a bully election is doing, with the data that belongs to it.
//!
//! ```text
//!            turn came: ask                    all answered, or T passed
//! Follower ────────────────▶ Candidate ─────────────────────────────────▶ Leader
//!  ▲   │ ▲                     │   ▲                                        │
//!  │   │ └── Elected, ─────────┤   │ Elected did not come                   │
//!  │   │     Heartbeat         ▼   │                                        │
//!  │   │                     Waiting ◀──────────────────────────────────────┤
//!  │   └─ the leader's end is known, and I am first in line: announce ─────▶│
//!  └──────────────────── superseded, resigned, stalled ─────────────────────┘
//! ```
//!
//! [`State::Candidate`] is ASTRA's *holding election* ([`astra`](crate::elections::astra)).

use std::collections::{BTreeMap, BTreeSet};

use super::Timer;
use crate::elections::shared::Handover;
use crate::protocol::{AgentId, Incarnation, Leader, Role, Round, Score, Term, Time};

/// One of four roles, each with its data.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum State {
    Follower(Seat),
    Candidate(Candidacy),
    Waiting(Wait),
    Leader(Reign),
}

impl State {
    pub(super) const fn role(&self) -> Role {
        match self {
            Self::Follower(_) => Role::Follower,
            Self::Candidate(_) => Role::Candidate,
            Self::Waiting(_) => Role::Waiting,
            Self::Leader(_) => Role::Leader,
        }
    }
}

/// The leader's seat as a follower sees it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Seat {
    /// Nobody is known to lead. Without a turn, this agent does not stand.
    Vacant(Option<Turn>),
    /// Somebody leads.
    Taken(Followed),
}

/// When a follower without a leader may do something about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Turn {
    pub due: Time,
    /// How many more important agents come first.
    pub behind: usize,
    pub path: Path,
}

/// What a turn allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Path {
    /// Announce unasked: this agent followed the leader whose end it knows (the fast path).
    Announce,
    /// Hold an election.
    Ask,
}

/// The leader that an agent follows.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Followed {
    pub leader: Leader,
    pub score: Score,
    /// Silence until then means that it is gone.
    pub due: Time,
    pub patience: Patience,
}

/// Whether an agent that was itself stalled has already discarded its suspicion once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Patience {
    Fresh,
    Spent,
}

/// An election that this agent holds.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Candidacy {
    pub round: Round,
    pub asked: Asked,
    /// Those asked who have not answered this round.
    pub pending: BTreeSet<AgentId>,
    /// Those known to rank below this agent while it holds its score.
    pub failed: BTreeSet<AgentId>,
    pub due: Time,
    pub patience: Patience,
}

impl Candidacy {
    /// Whether `id` is, or would be, asked in this election.
    pub(super) fn has_asked(&self, id: &AgentId) -> bool {
        match &self.asked {
            Asked::Leader { id: leader, .. } => leader == id,
            Asked::Voters => true,
        }
    }

    /// The timer that ends its patience.
    pub(super) const fn timer(&self) -> Timer {
        match self.asked {
            Asked::Leader { .. } => Timer::Widen,
            Asked::Voters => Timer::Deadline,
        }
    }
}

/// Whom a candidate asked.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Asked {
    /// The leader it found, and nobody else; it is followed meanwhile if it was before.
    Leader {
        id: AgentId,
        following: Option<Followed>,
    },
    /// Every voter that may be there.
    Voters,
}

/// Standing back for a more important agent.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Wait {
    pub on: AgentId,
    /// What to do when nothing comes of it.
    pub path: Path,
    /// The round that was given up for it: a leader's release may still arrive.
    pub round: Option<Round>,
    pub failed: BTreeSet<AgentId>,
    pub due: Time,
    pub patience: Patience,
}

/// A leadership of this agent.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Reign {
    pub term: Term,
    /// The importance it leads with; kept while it drains because it has lost its own.
    pub score: Score,
    /// When the next heartbeat is due.
    pub beat: Time,
    pub handover: Option<Handover>,
    /// More important agents that asked, and that the policy makes wait.
    pub challengers: BTreeMap<AgentId, Challenger>,
}

/// One who waits for the seat.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Challenger {
    pub incarnation: Incarnation,
    /// From when on it has been there for long enough; `None` while it may be gone.
    pub due: Option<Time>,
}
