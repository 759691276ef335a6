//! Takes the messages that members in this process send to the members of one group on one other node.
//!
//! Decided here: a message to all members of the group on the node is written without their names.

use std::{fmt, sync::Arc};

use super::{Outbox, Receivers};
use crate::{
    group::{Envelope, Holder, RemoteLink},
    protocol::AgentId,
    remote::{RemoteMessage, carry::Lost},
};

/// Takes messages for the members of one group on one node. All members of the group on the node share one sink, so
/// that a message to several of them is encoded once and sent once.
pub(crate) struct GroupSink {
    pub(crate) group: u32,
    pub(crate) outbox: Arc<Outbox>,
    lost: Lost,
}

impl GroupSink {
    /// Makes the sink of the group with this number. `lost` is called for names that agents of other nodes have taken.
    pub(crate) fn new(group: u32, outbox: Arc<Outbox>, lost: Lost) -> Self {
        Self {
            group,
            outbox,
            lost,
        }
    }
}

impl<M: RemoteMessage> RemoteLink<M> for GroupSink {
    fn carry(&self, to: &[AgentId], message: Envelope<M>) {
        let to = match to {
            [] => return,
            [one] => Receivers::One(one.clone()),
            several => Receivers::Several(several.into()),
        };
        self.outbox.push(self.group, to, message);
    }

    fn carry_to_all(&self, to: &[AgentId], message: Envelope<M>) {
        if to.len() < 2 {
            return self.carry(to, message);
        }
        self.outbox.push(self.group, Receivers::All, message);
    }

    fn lost(&self, id: &AgentId, to: &Holder) {
        (self.lost)(id, to);
    }

    fn verify(&self) {
        self.outbox.verify();
    }
}

impl fmt::Debug for GroupSink {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GroupSink")
            .field("group", &self.group)
            .field("outbox", &self.outbox)
            .finish_non_exhaustive()
    }
}
