//! The content of one line of a run.
//!
//! Decided here: the kinds of entries, and their names in the format. A new field or kind needs a new
//! [version](super::Header): a reader refuses entries that it does not know. Not here: their text (`lines`).

use std::{borrow::Cow, fmt};

use serde::{Deserialize, Serialize};

use super::RecordedCommand;
use crate::protocol::{AgentId, Event, Role, Term, Time};

/// One event of a run, and its time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TraceEntry {
    /// The time of the run, the same for all agents.
    #[serde(rename = "at_ns")]
    pub at: Time,
    /// The event.
    pub what: What,
}

/// The events of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum What {
    /// A message left, and will arrive at these times: several if it was duplicated.
    Sent {
        /// The message.
        message: MessageText,
        /// The times of its arrivals; empty where they are not known.
        arrives: Vec<Time>,
    },
    /// A message left, and will never arrive.
    Lost {
        /// The message.
        message: MessageText,
        /// The reason.
        why: String,
    },
    /// A message arrived and was handled.
    Delivered(MessageText),
    /// A message arrived, and was dropped.
    Dropped {
        /// The message.
        message: MessageText,
        /// The reason.
        why: String,
    },
    /// An agent does something else from now on.
    Role {
        /// The agent.
        agent: AgentId,
        /// Its role.
        role: Role,
    },
    /// An agent sent its application an event.
    Event {
        /// The agent.
        agent: AgentId,
        /// The event.
        event: Event,
    },
    /// Something was done to an agent.
    Happened {
        /// The agent.
        agent: AgentId,
        /// The change.
        what: Happening,
    },
    /// Another remarkable event, such as a partition.
    Mark(String),
    /// A command was given. It is given again when the run is repeated. Its effects have entries of their own.
    Command(RecordedCommand),
    /// It was found settled which agents lead.
    Settled {
        /// The sides of the network; one unless it is separated.
        sides: Vec<RecordedSide>,
        /// Time since the last command, in nanoseconds.
        took_ns: u64,
        /// Number of election messages in that time.
        messages: u64,
    },
    /// A promise was broken.
    Violation(String),
    /// The recording ends here, and is whole.
    Ended,
}

/// Agents that run and reach each other.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RecordedSide {
    /// The agents.
    pub agents: Vec<AgentId>,
    /// The leader that they follow, if there is one.
    pub leader: Option<AgentId>,
    /// The term of that leadership.
    pub term: Term,
}

/// A message as text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MessageText {
    /// The sender.
    pub from: AgentId,
    /// The receiver.
    pub to: AgentId,
    /// Its name, such as `"elect"`.
    pub kind: Cow<'static, str>,
    /// Its full text.
    pub text: String,
}

/// The changes of an agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Happening {
    /// It begins its first incarnation.
    Started,
    /// It became a member and begins an incarnation.
    Joined,
    /// It ended and is not a member any more.
    Left,
    /// Its incarnation ended without warning.
    Crashed,
    /// It ended at once, without handing over.
    Stopped,
    /// It begins its next incarnation.
    Restarted,
    /// It hangs.
    Paused,
    /// It goes on; its timers fire late.
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
