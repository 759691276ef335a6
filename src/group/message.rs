//! The contents of a member's mailbox: messages, and the hint that the membership changed.

use actix::Message;

use crate::protocol::{AgentId, Incarnation};

/// A message with its sender.
#[derive(Clone, Debug, PartialEq, Eq, Message)]
#[rtype(result = "()")]
pub struct Envelope<M> {
    /// The sender.
    pub from: AgentId,
    /// The sender's incarnation when it sent the message.
    pub incarnation: Incarnation,
    /// The message.
    pub message: M,
}

impl<M> Envelope<M> {
    /// Returns this envelope with another message.
    pub(crate) fn map<N>(self, into: impl FnOnce(M) -> N) -> Envelope<N> {
        Envelope {
            from: self.from,
            incarnation: self.incarnation,
            message: into(self.message),
        }
    }
}

/// "The membership changed since you last looked": pull a new snapshot.
///
/// A member gets this hint once. It gets the next hint only after it has called `Group::snapshot`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Message)]
#[rtype(result = "()")]
pub struct MembersChanged;
