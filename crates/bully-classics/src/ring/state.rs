//! The states of a member of a ring, with their data.
//!
//! Two facts are independent of each other: which agent leads ([`State`]), and the election in which this agent takes
//! part ([`Campaign`]). During an election a leader continues to lead, since it may win again, and a follower continues
//! to follow.
//!
//! Decided here: which of two elections an agent drops (rule `yield-to-stronger`).

use std::time::Duration;

use super::{
    AgentId, Incarnation, Score, Term,
    message::{Lap, LapMessage, RingElectionId},
};
pub(super) use bully_core::parts::Grace;
use bully_core::{
    parts::Handover,
    protocol::{Leader, LostReason, Time},
};

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

/// A follower's knowledge of its leader.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Following {
    pub leader: Leader,
    pub score: Score,
    /// Time after which the leader counts as gone if no heartbeat has come before.
    pub(super) due: Time,
    pub(super) grace: Grace,
}

/// A leader's knowledge of its leadership.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Leading {
    pub term: Term,
    pub handover: Option<Handover>,
    /// Time of the next heartbeat.
    pub(super) beat: Time,
    /// Number of the last heartbeat in this term.
    pub(super) count: u64,
    /// Time at which the ring counts as broken if no heartbeat has come back before.
    pub(super) home: Time,
}

/// The state of an election in which this agent takes part.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Contest {
    pub id: RingElectionId,
    /// The latest lap of the election that this agent has seen. In the last lap, this agent announces itself.
    pub lap: Lap,
    /// Time at which an election without an outcome counts as lost (rule `restart-lost-election`).
    pub(super) due: Time,
}

/// The part of this agent in an election.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Campaign {
    Idle,
    /// The agent begins an election at the time `due`, unless the reason no longer holds then.
    Scheduled {
        due: Time,
        cause: CampaignCause,
    },
    /// An election is under way, and the agent takes part in it.
    Joined(Contest),
}

impl Campaign {
    /// Returns the election in which this agent takes part.
    pub(super) fn contest(&self) -> Option<&Contest> {
        match self {
            Self::Joined(contest) => Some(contest),
            Self::Idle | Self::Scheduled { .. } => None,
        }
    }

    /// Returns why this agent takes no part in this election: it is over, or this agent takes part in a stronger one
    /// (rule `yield-to-stronger`). `closed` is the term of the newest leader that this agent knows.
    pub(super) fn refuses(&self, election: &RingElectionId, closed: Term) -> Option<&'static str> {
        if election.term <= closed {
            return Some("an election that is over");
        }
        // The suppression of Chang and Roberts: only one of many tokens goes on.
        let is_weaker = self.contest().is_some_and(|contest| contest.id > *election);
        is_weaker.then_some("a stronger election is under way")
    }
}

/// The reason for an election.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum CampaignCause {
    /// No agent leads, or the leader ranks below this agent.
    HigherRank,
    /// Members were found that follow another leader.
    Merge,
}

/// The consequence of an input. A role or a stage returns it, and only the machine carries it out.
#[derive(Debug)]
pub(super) enum Next {
    Stay,
    /// The input changes nothing, for this reason.
    Ignore(&'static str),
    /// Wait for this time, and begin an election then.
    Schedule(Duration, CampaignCause),
    /// Begin an election for a new term.
    Begin,
    /// Take part in an election that has reached the lap of this message, and pass the message on.
    Join(RingElectionId, LapMessage),
    /// Pass a message on.
    Pass(LapMessage),
    /// This agent has won the election: announce it.
    Announce(RingElectionId),
    /// The announcement has come home: lead in this term.
    Lead(Term),
    /// Take no further part in the election.
    GiveUp,
    /// The election has failed: begin another election.
    Retry,
    /// End the leadership for this reason, without a hand-over.
    Lose(LostReason),
    /// Hand the leadership over, if possible to the contained agent.
    Resign(Option<AgentId>),
}

/// The last announcement or heartbeat that was passed on. An older one, or a copy, is not passed on.
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
    /// An election has no outcome yet, and its time has passed.
    Token,
    /// The slot in which this agent begins an election has come.
    Slot,
    /// A leader: the next heartbeat is due.
    Heartbeat,
    /// A follower: the leader is silent. A leader: its heartbeats do not come home.
    Silence,
    /// The time to probe the skipped members has come.
    Probe,
    /// A leader that steps down: its work has not ended in time.
    Drain,
    /// An agent that stepped down: its cool-down has ended.
    Cooldown,
}
