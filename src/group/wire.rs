//! The interfaces through which messages between members may pass.
//!
//! If neither interface is used, a message goes directly into the receiver's mailbox.

use std::fmt::Debug;

use actix::Recipient;

use crate::protocol::AgentId;

use super::{Envelope, Holder};

/// Carries all messages between local members of a group: a network that is faulty, or that is recorded.
pub trait LocalWire<M: Send + 'static>: Debug + Send + Sync {
    /// Takes over a message to `to`: delivers it to `inbox` now, later, twice or never.
    fn carry(&self, to: &AgentId, envelope: Envelope<M>, inbox: &Recipient<Envelope<M>>);
}

/// The route to members on another host.
pub trait RemoteLink<M>: Debug + Send + Sync {
    /// Takes over one message to several members, so that it is encoded and sent once.
    fn carry(&self, to: &[AgentId], envelope: Envelope<M>);

    /// Carries a message to `to`, all members of the node that are not down. The message may also reach agents of the
    /// node that the group does not know yet.
    fn carry_to_all(&self, to: &[AgentId], envelope: Envelope<M>) {
        self.carry(to, envelope);
    }

    /// Called when a member of this route has lost its name to the holder `to`. The call is made under the group's
    /// lock: it must neither block nor use the group. Default: nothing.
    fn lost(&self, id: &AgentId, to: &Holder) {
        let _ = (id, to);
    }

    /// Called when another agent asks for the name of a member of this route. The route keeps the name only while its
    /// node can be reached, so a link that is seldom used is checked now. Called under the group's lock, like
    /// [`lost`](Self::lost). Default: nothing.
    fn verify(&self) {}
}
