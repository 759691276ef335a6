//! The states of a member of a ring, with their data.
//!
//! Two things are independent of each other: who leads ([`State`]), and the election that this agent takes part in
//! ([`Campaign`]). A leader goes on leading while an election is under way that may choose it again, and a follower
//! follows until the election has an outcome.

use std::time::Duration;

use super::{
    AgentId, Incarnation, Term,
    collect::Contest,
    follower::Following,
    leader::Leading,
    message::{Lap, RingElectionId, RingMessage},
};
pub(super) use bully_core::parts::Grace;
use bully_core::protocol::{LostReason, Time};

/// The leader, as far as this agent knows.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum State {
    /// No leader is known.
    Vacant,
    /// Another agent leads.
    Follower(Following),
    /// This agent leads.
    Leader(Leading),
}

/// The part of this agent in an election.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Campaign {
    Idle,
    /// It begins an election at that time, unless something happens before.
    Scheduled {
        due: Time,
        cause: CampaignCause,
    },
    /// An election is under way, and it takes part.
    Joined(Contest),
}

/// The reason of an election.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum CampaignCause {
    /// No agent leads, or the leader ranks below this agent.
    HigherRank,
    /// Other members follow another leader.
    Merge,
}

/// The consequence of an input. A role or a stage returns it, and only the machine carries it out.
#[derive(Clone, Debug)]
pub(super) enum Next {
    Stay,
    /// Nothing follows, for that reason.
    Ignore(&'static str),
    /// Wait that long, and begin an election then.
    Schedule(Duration, CampaignCause),
    /// Begin an election for a new term.
    Begin,
    /// Take part in an election that has come as far as this lap, and pass the message on.
    Join(RingElectionId, Lap, RingMessage),
    /// Pass a message on.
    Pass(RingMessage),
    /// The election is won: announce that.
    Announce(RingElectionId),
    /// The announcement has come home: lead in this term.
    Lead(Term),
    /// The election is over for this agent.
    Leave,
    /// The election has failed: begin another one.
    Retry,
    /// The leadership has ended without a hand-over.
    Lose(LostReason),
    /// Hand the leadership over, if possible to that agent.
    Resign(Option<AgentId>),
}

/// The last announcement or heartbeat that was passed on. An older one, or the same again, goes no further.
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
pub enum RingTimer {
    /// A message of this lap was not acknowledged.
    Hop(Lap),
    /// An election has no outcome.
    Token,
    /// The slot of this agent to begin an election has come.
    Slot,
    /// A leader: time for a heartbeat.
    Heartbeat,
    /// The leader is silent; at the leader itself: its heartbeats do not come home.
    Silence,
    /// Time to probe the members that are skipped.
    Probe,
    /// A leader that steps down: the work took too long.
    Drain,
    /// An agent that stepped down need not let others go first any more.
    Cooldown,
}
