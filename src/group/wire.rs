//! How a letter gets from one member to another: the places where something may stand between.
//!
//! Without either, a letter goes straight into the receiver's mailbox.

use std::fmt::Debug;

use actix::Recipient;

use crate::protocol::AgentId;

use super::{Envelope, Holder};

/// Stands between all local members of a group: a faulty network, or one that takes notes.
pub trait Wire<M: Send + 'static>: Debug + Send + Sync {
    /// Takes charge of a letter to `to`: delivers it to `inbox` now, later, twice or never.
    fn carry(&self, to: &AgentId, letter: Envelope<M>, inbox: &Recipient<Envelope<M>>);
}

/// The way to members on another host.
pub trait Link<M>: Debug + Send + Sync {
    /// Takes charge of one letter to several members, so that it is encoded and sent once.
    fn carry(&self, to: &[AgentId], letter: Envelope<M>);

    /// A member of this route has lost its name to that one. Called under the group's lock: it must
    /// neither block nor use the group. Default: nothing.
    fn lost(&self, id: &AgentId, to: &Holder) {
        let _ = (id, to);
    }
}
