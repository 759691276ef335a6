//! The content of one line of a run.
//!
//! Decided here: the kinds of entries, and their names in the format. A new field or kind needs a new
//! [version](super::Header): a reader refuses entries that it does not know. Not here: their text (`lines`).

use std::{borrow::Cow, fmt};

use serde::{Deserialize, Serialize};

use super::RecordedCommand;
use crate::protocol::{AgentId, Event, Role, Term, Time};

/// One thing that happened, and when.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TraceEntry {
    /// The time of the run, the same for all agents.
    #[serde(rename = "at_ns")]
    pub at: Time,
    /// What happened.
    pub what: What,
}

/// What happened.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum What {
    /// A message left, and will arrive at these times: several if it was duplicated.
    Sent {
        /// The message.
        message: MessageText,
        /// When it will arrive; empty where that is not known.
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
    /// A command was given. It is given again when the run is repeated. Its effects have entries of their own.
    Command(RecordedCommand),
    /// It was found settled which agents lead.
    Settled {
        /// The sides of the network; one unless it is separated.
        sides: Vec<RecordedSide>,
        /// How long it took since something was last done, in nanoseconds.
        took_ns: u64,
        /// How many messages of elections were sent meanwhile.
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
    /// The leader that they follow, if they have one.
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
    /// All that it says.
    pub text: String,
}

/// What can be done to an agent.
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
