//! Reasons why a message does not reach the leader, or its answer does not come back.

use std::time::Duration;

use crate::leader::{MessagesError, SendError};

/// Reason why the sender of a message gets no answer, and what the sender may do.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ProxyError {
    /// No leader took the message in time. The message was not sent, and never will be: the caller may send it again.
    #[error(
        "no leader took the message within {within:?}: {why}; the message was not sent, so it may be sent again"
    )]
    NotTaken {
        /// The time limit of the message.
        within: Duration,
        /// The reason for the wait.
        why: Untaken,
    },
    /// The message was sent, and its outcome is unknown: a link or the leader was lost, or the answer takes longer than
    /// allowed.
    #[error(
        "the message was sent, and its outcome is unknown: send it again only if handling it twice does no harm"
    )]
    Unknown,
    /// The buffer is full.
    #[error(
        "the buffer of messages for the leader is full: send less, or raise `buffer(..)` of the proxy"
    )]
    Full,
    /// The message is longer than the limit of the proxy or cannot be encoded, or the agent left or ended for good.
    #[error(transparent)]
    Send(#[from] SendError),
    /// The leader's actor ended before it answered. It may have handled the message.
    #[error(
        "the leader's actor ended before it answered: send the message again only if handling it twice does no harm"
    )]
    ReceiverGone,
    /// The leader has another type registered under this name, or the type of another release. The message was not
    /// handled.
    #[error(
        "the leader has another type under the name of this message, so it did not handle the message: run the same release at all agents, and register a changed type under a new name"
    )]
    Malformed,
    /// The message was handled, and the answer is longer than the limit, or cannot be encoded.
    #[error(
        "the leader has handled the message, but its answer is too long or cannot be encoded: send a shorter answer, raise `longest(..)` of the proxy at every agent, or mend the `Serialize` of the answer"
    )]
    AnswerTooLong,
    /// The message was lost on its way each time, and was not handled. It may be longer than a frame of the bridge.
    #[error(
        "the message was lost on its way several times and was not handled: shorten it, or raise the limit `frame` of the bridges at both ends"
    )]
    Undeliverable,
    /// This thread has no runtime with timers, so a deadline is impossible.
    #[error("there is no runtime with timers here: await the answer inside of an actix System")]
    NoRuntime,
}

debug_is_text!(ProxyError);

/// The reason why a message waited too long.
#[derive(Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Untaken {
    /// The agent knew no leader, or no leader that takes messages of applications.
    #[error(
        "no leader that takes messages is known: look at `diagnosis()` of the agent, and start a proxy at each agent that may lead"
    )]
    NoLeader,
    /// The agent knew the leader from the store of the lease, and no link reached it.
    #[error(
        "the store of the lease names the leader, but no bridge of this process is connected to it: add the leader's node to the peers, or mend the network"
    )]
    Unlinked,
    /// The leader has no proxy with the name of the sender's proxy, or its proxy delivers to no actor.
    #[error(
        "the leader has no actor for this message: call `deliver_to(..)` at the proxy of each agent that may lead"
    )]
    Unregistered,
    /// The leader's actor for the message has not started yet, or has ended.
    #[error(
        "the leader's actor for this message has not started yet, or has ended: start this actor at the leader"
    )]
    NotReady,
    /// Earlier messages were still on their way, or the leader's actor had no more room.
    #[error(
        "earlier messages were still on their way, or waited for the leader's actor: send less at a time, or wait longer"
    )]
    Busy,
}

debug_is_text!(Untaken);

/// Reason why a proxy does not start. Nothing was changed.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ProxyStartError {
    /// The agent's application cannot exchange messages, or the name of the proxy is not valid or already taken.
    #[error(transparent)]
    Messages(#[from] MessagesError),
    /// Both `deliver_to` and `deliver_to_found` were called.
    #[error(
        "the calls `deliver_to(..)` and `deliver_to_found(..)` contradict each other: remove one of the two"
    )]
    TwoActors,
    /// A limit is outside of its range.
    #[error("the limit `{limit}` is {value}: choose from {min} to {max}")]
    Limit {
        /// The limit's name.
        limit: &'static str,
        /// The requested value.
        value: u64,
        /// The smallest allowed value.
        min: u64,
        /// The largest allowed value.
        max: u64,
    },
}

debug_is_text!(ProxyStartError);
