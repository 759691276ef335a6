//! Reasons why messages of an application are refused.

use crate::{
    agent::NotOffered,
    group::JoinError,
    protocol::{AgentId, IdError},
};

/// Reason why an agent's application cannot exchange messages, or messages of one type. Nothing was changed.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum MessagesError {
    /// This thread has no System with timers.
    #[error("there is no actix System on this thread: call `Messages::of(..)` inside of one")]
    NoSystem,
    /// The agent left or ended for good.
    #[error("the agent has ended: start it again")]
    Ended,
    /// The agent's mode carries no messages: the error names the setting that provides them.
    #[error(transparent)]
    NotOffered(#[from] NotOffered),
    /// The group's name is too long: it leaves no room for the name of the group of its messages.
    #[error(
        "the name of group {group} is too long for messages of applications: give it 247 bytes at most"
    )]
    GroupName {
        /// The group's name.
        group: Box<str>,
    },
    /// An agent of another host, which is still connected, has the same name.
    #[error(transparent)]
    Join(#[from] JoinError),
    /// The name of the type breaks the rules for the name of an agent.
    #[error(
        "the name of a message type is not valid: {0} (the rules are those of an agent's name)"
    )]
    Name(#[source] IdError),
    /// The name of the type is longer than the limit.
    #[error("the name of a message type has {len} bytes, and the limit is {max}: shorten it")]
    NameTooLong {
        /// The length of the name, in bytes.
        len: usize,
        /// The limit in bytes.
        max: usize,
    },
    /// This agent has already registered a type under this name.
    #[error(
        "{name} is registered with this agent already: register each type once, and clone the result"
    )]
    Taken {
        /// The name of the type.
        name: AgentId,
    },
}

debug_is_text!(MessagesError);

/// Reason why a message is not sent. No part of it was sent.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SendError {
    /// The message is longer than the limit.
    #[error(
        "a message of {len} bytes exceeds the limit of {max}: send it in parts, or a reference to it"
    )]
    TooLong {
        /// The length of the message, in bytes.
        len: usize,
        /// The limit in bytes.
        max: usize,
    },
    /// The message has a map, which cannot be sent, or the type's `Serialize` failed.
    #[error(
        "the message cannot be encoded: its type must have no map, and its `Serialize` must not fail ({reason})"
    )]
    Unencodable {
        /// The error of the encoder.
        reason: Box<str>,
    },
    /// No agent with this name takes messages of applications, as far as this process knows.
    #[error(
        "this process knows no agent {to} that takes messages of applications: start that agent, and call `Messages::of(..)` for it"
    )]
    NoMember {
        /// The agent that should receive the message.
        to: AgentId,
    },
    /// The queue of the receiving agent is full. The receiving agent is in this process.
    #[error("the queue of messages for the actors of {to} is full: send less, or later")]
    Full {
        /// The agent that should receive the message.
        to: AgentId,
    },
    /// The sending agent left or ended for good.
    #[error("the agent has ended: start it again")]
    Ended,
}

debug_is_text!(SendError);
