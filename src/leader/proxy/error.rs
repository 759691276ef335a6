//! Why a message does not reach the leader, or its answer does not come back.

use std::time::Duration;

use crate::agent::NotOffered;
use crate::leader::{ChannelError, MessagesError, SendError};

/// What became of a message that was not answered, and what to do about it.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ProxyError {
    /// No leader took it in time. It was not sent, and will not be: it may be sent again.
    #[error(
        "no leader took the message within {within:?}: {why}; it was not sent, so it may be sent again"
    )]
    NotTaken {
        /// The time that it had.
        within: Duration,
        /// What it waited for.
        why: Untaken,
    },
    /// It was sent, and nothing is known of it: a link or the leader was lost, or the answer takes longer.
    #[error(
        "the message was sent, and what became of it is unknown: send it again only if handling it twice does no harm"
    )]
    Unknown,
    /// The buffer is full.
    #[error("the buffer of messages for the leader is full: send less, or give it more room")]
    Full,
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
    /// The actor that had it at the leader ended before it answered; it may have handled it.
    #[error(
        "the leader's actor ended before it answered: send the message again only if handling it twice does no harm"
    )]
    ReceiverGone,
    /// The type that is registered under this name at the leader is another one, or of another release. It was
    /// not handled.
    #[error(
        "the leader has another type under the name of this message: give a type that changes another name"
    )]
    Malformed,
    /// The message was handled, and the answer is longer than the limit, or cannot be encoded.
    #[error("the leader's answer is longer than a message may be: let it answer with less")]
    AnswerTooLong,
    /// It was lost on its way each time, and was not handled: is it longer than a frame of the bridge?
    #[error(
        "the message was lost on its way several times: is it longer than a frame of the bridge?"
    )]
    Undeliverable,
    /// The agent left or ended for good.
    #[error("the agent has ended: start another one")]
    Ended,
    /// There is no runtime with timers here, so that there can be no deadline.
    #[error("there is no runtime with timers here: await the answer inside of an actix System")]
    NoRuntime,
}

debug_is_text!(ProxyError);

/// What a message waited for in vain.
#[derive(Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Untaken {
    /// The agent knew no leader, or none that takes messages of applications.
    #[error("no leader that takes messages is known")]
    NoLeader,
    /// The agent knew the leader by the store that has the lease, and no link reached it.
    #[error(
        "the leader is known by the store of the lease, and no link reaches it: mend the links"
    )]
    Unlinked,
    /// The leader has no proxy of this name, or one that delivers to no actor.
    #[error(
        "nothing is registered for it at the leader: let each agent that may lead deliver it to an actor"
    )]
    Unregistered,
    /// The actor for it at the leader is not there.
    #[error("the leader's actor for it is not there")]
    NotReady,
    /// Others before it were still on their way, or the leader's actor had no room for more.
    #[error("others before it were still on their way, or waited for the leader's actor")]
    Busy,
}

debug_is_text!(Untaken);

/// Why a proxy does not start. Nothing was changed.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ProxyStartError {
    /// The agent has no messages of its application.
    #[error(transparent)]
    Messages(#[from] MessagesError),
    /// The agent's mode carries no messages: its error names the setting that does.
    #[error(transparent)]
    NotOffered(#[from] NotOffered),
    /// The name is refused, or taken.
    #[error(transparent)]
    Name(#[from] ChannelError),
    /// The actor was named in both ways.
    #[error(
        "the calls `deliver_to(..)` and `deliver_to_found(..)` contradict each other: take one of the two out"
    )]
    TwoActors,
    /// A limit lies outside of its range.
    #[error("the limit `{limit}` is {value}: choose from {min} to {max}")]
    Limit {
        /// Which.
        limit: &'static str,
        /// What it is.
        value: u64,
        /// The smallest that is allowed.
        min: u64,
        /// The largest.
        max: u64,
    },
}

debug_is_text!(ProxyStartError);

impl From<SendError> for ProxyError {
    fn from(error: SendError) -> Self {
        match error {
            SendError::TooLong { len, max } => Self::TooLong { len, max },
            SendError::Unencodable { reason } => Self::Unencodable { reason },
            SendError::NoMember { .. } => Self::Undeliverable,
            SendError::Full { .. } => Self::Full,
            SendError::Ended => Self::Ended,
        }
    }
}
