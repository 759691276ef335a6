//! What a member of a ring knows and does, with the data that belongs to it.
//!
//! Three things are independent of each other: whom it follows ([`Seat`]), the election that it
//! takes part in ([`Contest`]), and what it has passed on without an acknowledgement ([`Hop`]). A
//! live leader goes on leading while an election is under way that may choose it again.

use super::{AgentId, ElectionId, Incarnation, Lap, Leader, RingMessage, Score, Term};
use crate::elections::shared::Handover;
use crate::protocol::Time;

/// The leader's seat.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Seat {
    /// Nobody is known to lead.
    Vacant,
    /// Somebody else leads.
    Taken(Followed),
    /// This agent leads.
    Mine(Reign),
}

/// A leader, as its followers know it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Followed {
    pub leader: Leader,
    pub score: Score,
    /// Silence until then means that it is gone.
    pub due: Time,
    pub patience: Patience,
}

/// Whether a deadline that was missed because this agent itself was late is given once more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Patience {
    Fresh,
    Spent,
}

/// A leadership of this agent.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Reign {
    pub term: Term,
    /// When the next heartbeat goes round.
    pub beat: Time,
    /// How many went round.
    pub count: u64,
    /// If none has come home until then, the ring is broken.
    pub home: Time,
    pub handover: Option<Handover>,
}

/// An election that this member takes part in (`active` in the rules).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Contest {
    pub id: ElectionId,
    pub stage: Stage,
    /// Without an outcome until then it is lost (N8).
    pub due: Time,
}

/// How far an election has come, as far as this member has seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Stage {
    /// Passed the list on.
    Collected,
    /// Passed the nomination on, or made it.
    Nominated,
    /// This member has won, and its announcement goes round.
    Announced,
}

/// When this member begins an election, unless something happens before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Turn {
    pub due: Time,
    pub why: Why,
}

/// What a turn is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Why {
    /// The seat is vacant, or its holder ranks below.
    Rank,
    /// Others follow another leader.
    Merge,
}

/// What was passed on and is not acknowledged yet.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Hop {
    pub to: AgentId,
    pub message: RingMessage,
    /// When the next copy is due, or the next member's turn.
    pub due: Time,
    /// So many more copies go to this member.
    pub left: u32,
    pub patience: Patience,
}

impl Hop {
    /// What an acknowledgement of this has to name.
    pub(super) fn key(&self) -> Option<(Lap, Term, &AgentId, u64)> {
        match &self.message {
            RingMessage::Collect(m) => Some((Lap::Collect, m.election.term, &m.election.origin, 0)),
            RingMessage::Nominate(m) => {
                Some((Lap::Nominate, m.election.term, &m.election.origin, 0))
            }
            RingMessage::Coordinator(m) => Some((Lap::Coordinator, m.term, &m.leader, m.beat)),
            RingMessage::HopAck(_) | RingMessage::Probe(_) | RingMessage::Answer(_) => None,
        }
    }
}

/// The last announcement or heartbeat that was passed on; an older one, or the same again, goes
/// no further.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Passed {
    pub term: Term,
    pub leader: AgentId,
    pub incarnation: Incarnation,
    pub beat: u64,
}

/// A timer of a ring election.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Timer {
    /// A message of this lap was not acknowledged.
    Hop(Lap),
    /// An election has no outcome.
    Token,
    /// The turn to begin an election has come.
    Turn,
    /// A leader: time to be heard.
    Beat,
    /// The leader is silent; at the leader itself: its heartbeats do not come home.
    Lost,
    /// Time to ask those who are passed over.
    Probe,
    /// A leader that steps down: the work took too long.
    Drain,
    /// An agent that stepped down may stand again.
    Rest,
}
