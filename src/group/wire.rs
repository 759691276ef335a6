//! The interfaces through which messages between members may be led.
//!
//! Without either, a message goes straight into the receiver's mailbox.

use std::fmt::Debug;

use actix::Recipient;

use crate::protocol::AgentId;

use super::{Envelope, Holder};

/// Comes between all local members of a group: a network that is faulty, or that is recorded.
pub trait LocalWire<M: Send + 'static>: Debug + Send + Sync {
    /// Takes charge of a message to `to`: delivers it to `inbox` now, later, twice or never.
    fn carry(&self, to: &AgentId, envelope: Envelope<M>, inbox: &Recipient<Envelope<M>>);
}

/// The route to members on another host.
pub trait RemoteLink<M>: Debug + Send + Sync {
    /// Takes charge of one message to several members, so that it is encoded and sent once.
    fn carry(&self, to: &[AgentId], envelope: Envelope<M>);

    /// A member of this route has lost its name to that holder. Called under the group's lock: it must
    /// neither block nor use the group. Default: nothing.
    fn lost(&self, id: &AgentId, to: &Holder) {
        let _ = (id, to);
    }

    /// Called when another agent asks for the name of a member of this route. The route keeps the name only while its
    /// node is there, so a link that is seldom used is checked now. Called under the group's lock, as
    /// [`lost`](Self::lost). Default: nothing.
    fn verify(&self) {}
}
