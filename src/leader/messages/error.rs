//! Why messages of an application are refused.

use crate::{
    agent::NotOffered,
    group::JoinError,
    protocol::{AgentId, IdError},
};

/// Why an agent has no messages of its application. Nothing was changed.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum MessagesError {
    /// There is no System with timers on this thread.
    #[error("there is no actix System on this thread: make an agent's messages inside of one")]
    NoSystem,
    /// The agent left or ended for good.
    #[error("the agent has ended: start another one")]
    Ended,
    /// The agent's mode carries no messages: its error names the setting that does.
    #[error(transparent)]
    NotOffered(#[from] NotOffered),
    /// The name of its group leaves no room for the name of the group of its messages.
    #[error(
        "the name of group {group} is too long for messages of applications: give it 247 bytes at most"
    )]
    GroupName {
        /// The group's name.
        group: Box<str>,
    },
    /// Another agent has the name there: one of another host that is still linked.
    #[error(transparent)]
    Join(#[from] JoinError),
}

debug_is_text!(MessagesError);

/// Why a type of messages is not named like that. Nothing was changed.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ChannelError {
    /// The name breaks the rules, which are those of an agent's name.
    #[error("the name of a message type is refused; it follows the rules of an agent's name: {0}")]
    Name(#[source] IdError),
    /// The name is longer than the limit.
    #[error("the name of a message type has {len} bytes, and {max} are the limit: shorten it")]
    NameTooLong {
        /// Its length in bytes.
        len: usize,
        /// The limit in bytes.
        max: usize,
    },
    /// A type is registered under that name with this agent already.
    #[error(
        "{name} is registered with this agent already: register each type once, and clone what that gives"
    )]
    Taken {
        /// The name.
        name: AgentId,
    },
    /// The agent left or ended for good.
    #[error("the agent has ended: start another one")]
    Ended,
}

debug_is_text!(ChannelError);

/// Why a message is not sent. Nothing of it was.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SendError {
    /// The message is longer than the limit.
    #[error(
        "a message of {len} bytes exceeds the limit of {max}: send it in parts, or a reference to it"
    )]
    TooLong {
        /// Its length in bytes.
        len: usize,
        /// The limit in bytes.
        max: usize,
    },
    /// The message has a map, which does not cross, or the type's `Serialize` failed.
    #[error("the message cannot be encoded: {reason}")]
    Unencodable {
        /// What it said.
        reason: Box<str>,
    },
    /// No agent of that name takes messages of applications, as far as is known here.
    #[error(
        "{to} takes no messages of applications here: is it started, and are its messages made?"
    )]
    NoMember {
        /// The agent.
        to: AgentId,
    },
    /// As much waits at that agent, which is one of this process, as there is room for.
    #[error(
        "as many messages wait for the actors of {to} as there is room for: send less, or later"
    )]
    Full {
        /// The agent.
        to: AgentId,
    },
    /// The agent that would send left or ended for good.
    #[error("the agent has ended: start another one")]
    Ended,
}

debug_is_text!(SendError);
