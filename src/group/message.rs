//! What arrives in a member's mailbox: letters, and the hint that the membership changed.

use actix::Message;

use crate::protocol::{AgentId, Incarnation};

/// A message with its sender.
#[derive(Clone, Debug, PartialEq, Eq, Message)]
#[rtype(result = "()")]
pub struct Envelope<M> {
    /// Who sent it.
    pub from: AgentId,
    /// The sender's life when it did.
    pub incarnation: Incarnation,
    /// What it says.
    pub message: M,
}

impl<M> Envelope<M> {
    /// The same letter with another content.
    pub fn map<N>(self, into: impl FnOnce(M) -> N) -> Envelope<N> {
        Envelope {
            from: self.from,
            incarnation: self.incarnation,
            message: into(self.message),
        }
    }
}

/// "The membership changed since you last looked": pull a new snapshot.
///
/// Sent once; the next one follows only after [`Group::snapshot`](super::Group::snapshot).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Message)]
#[rtype(result = "()")]
pub struct MembersChanged;
