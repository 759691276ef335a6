//! The content of one line of a run.
//!
//! Decided here: the kinds of entries, and their names in the format. A new field or kind needs a new
//! [version](super::Header), because a reader refuses entries that it does not know. Not here: the text of entries
//! (`lines`).

use std::{borrow::Cow, fmt};

use serde::{Deserialize, Serialize};

use super::RecordedCommand;
use crate::protocol::{AgentId, Event, Role, Term, Time};

/// One event of a run, and its time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TraceEntry {
    /// The time since the beginning of the run, the same for all agents.
    #[serde(rename = "at_ns")]
    pub at: Time,
    /// The event.
    pub what: What,
}

/// The events of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum What {
    /// A message left, and will arrive. A duplicated message arrives several times.
    Sent {
        /// The message that left.
        message: MessageText,
        /// The times at which the message arrives; empty if the times are not known.
        arrives: Vec<Time>,
    },
    /// A message left, and will not arrive.
    Lost {
        /// The message that was lost.
        message: MessageText,
        /// The reason for the loss.
        why: String,
    },
    /// A message arrived and was handled.
    Delivered(MessageText),
    /// A message arrived, and was dropped.
    Dropped {
        /// The message that was dropped.
        message: MessageText,
        /// The reason why it was dropped.
        why: String,
    },
    /// An agent has another role from now on.
    Role {
        /// The agent whose role changed.
        agent: AgentId,
        /// The role from now on.
        role: Role,
    },
    /// An agent reported an event to its application.
    Event {
        /// The agent that reported the event.
        agent: AgentId,
        /// The reported event.
        event: Event,
    },
    /// The state of an agent changed, for example by a crash.
    Happened {
        /// The agent whose state changed.
        agent: AgentId,
        /// The change of its state.
        what: Happening,
    },
    /// Another event in words, such as a partition.
    Mark(String),
    /// A command was given. When the run is repeated, the command is given again. The effects of the command have
    /// entries of their own.
    Command(RecordedCommand),
    /// The run found that it was settled which agents lead.
    Settled {
        /// The sides of the network; one side unless the network is partitioned.
        sides: Vec<RecordedSide>,
        /// Time since the last command, in nanoseconds.
        took_ns: u64,
        /// Number of election messages since the last command.
        messages: u64,
    },
    /// A promise of the election was broken.
    Violation(String),
    /// The recording ends here, and is complete.
    Ended,
}

/// Agents that run and reach each other: one side of the network.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RecordedSide {
    /// The agents of this side.
    pub agents: Vec<AgentId>,
    /// The leader that the agents of this side follow; `None` without a leader.
    pub leader: Option<AgentId>,
    /// The term in which this leader leads.
    pub term: Term,
}

/// A message as text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MessageText {
    /// The sender of the message.
    pub from: AgentId,
    /// The receiver of the message.
    pub to: AgentId,
    /// The name of the message, such as `"elect"`.
    pub kind: Cow<'static, str>,
    /// The full text of the message.
    pub text: String,
}

/// The changes of an agent's state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Happening {
    /// The agent begins its first incarnation.
    Started,
    /// The agent became a member and begins an incarnation.
    Joined,
    /// The agent ended and is not a member any more.
    Left,
    /// The agent's incarnation ended without warning.
    Crashed,
    /// The agent ended at once, without a hand-over.
    Stopped,
    /// The agent begins its next incarnation.
    Restarted,
    /// The agent hangs.
    Paused,
    /// The agent runs again; its timers fire late.
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
