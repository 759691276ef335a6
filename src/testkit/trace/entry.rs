//! What one line of a run says.

use std::fmt;

use crate::protocol::{AgentId, Event, Role, Time};

/// One thing that happened, and when.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TraceEntry {
    /// The time of the run, the same for all agents.
    pub at: Time,
    /// What happened.
    pub what: What,
}

/// What happened.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum What {
    /// A message left, and will arrive at these times: several if it was duplicated.
    Sent {
        /// The message.
        message: MessageText,
        /// When it will arrive.
        arrives: Vec<Time>,
    },
    /// A message left, and will never arrive.
    Lost {
        /// The message.
        message: MessageText,
        /// Why.
        why: String,
    },
    /// A message arrived and was handled.
    Delivered(MessageText),
    /// A message arrived, and was dropped.
    Dropped {
        /// The message.
        message: MessageText,
        /// Why.
        why: String,
    },
    /// An agent does something else from now on.
    Role {
        /// Which one.
        agent: AgentId,
        /// What.
        role: Role,
    },
    /// An agent told its application something.
    Event {
        /// Which one.
        agent: AgentId,
        /// What.
        event: Event,
    },
    /// Something was done to an agent.
    Happened {
        /// Which one.
        agent: AgentId,
        /// What.
        what: Happening,
    },
    /// Something else worth a line, such as a partition.
    Mark(String),
}

/// A message as text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MessageText {
    /// The sender.
    pub from: AgentId,
    /// The receiver.
    pub to: AgentId,
    /// Its name, such as `"elect"`.
    pub kind: &'static str,
    /// All that it says.
    pub text: String,
}

/// What can be done to an agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Happening {
    /// It begins its first incarnation.
    Started,
    /// It became a member and begins an incarnation.
    Joined,
    /// It ended and is no member any more.
    Left,
    /// Its incarnation ended without warning.
    Crashed,
    /// It ended as it stood, without handing over.
    Stopped,
    /// It begins its next incarnation.
    Restarted,
    /// It hangs.
    Paused,
    /// It goes on, late for everything.
    Resumed,
}

impl fmt::Display for Happening {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Started => "starts",
            Self::Joined => "joins",
            Self::Left => "leaves",
            Self::Crashed => "crashes",
            Self::Stopped => "stops",
            Self::Restarted => "restarts",
            Self::Paused => "hangs",
            Self::Resumed => "goes on",
        })
    }
}

/// How many messages of one kind met which fate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MessageCount {
    /// Messages that left, each receiver counted.
    pub sent: u64,
    /// Of these, how many will never arrive.
    pub lost: u64,
    /// Messages that were handled; a duplicate counts again.
    pub delivered: u64,
    /// Messages that arrived and were dropped.
    pub dropped: u64,
}
