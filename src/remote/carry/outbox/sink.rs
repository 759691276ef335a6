//! Takes the messages that members in this process send to the members of one group on one other node.
//!
//! Decided here: a message to all of these members is written without their names.

use std::{
    collections::BTreeSet,
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use super::{Outbox, Receivers};
use crate::{
    group::{Envelope, Holder, RemoteLink},
    protocol::AgentId,
    remote::{RemoteMessage, carry::Lost},
};

/// Takes messages for the members of one group on one node. All these members share one sink, so that a message to
/// many is encoded once and crosses once.
pub(crate) struct GroupSink {
    pub(crate) group: u32,
    pub(crate) outbox: Arc<Outbox>,
    /// The members on that node whose end is not confirmed: they receive messages.
    there: Mutex<BTreeSet<AgentId>>,
    lost: Lost,
}

impl GroupSink {
    /// Makes the sink of the group with this number. `lost` is called for names that agents of other nodes have taken.
    pub(crate) fn new(group: u32, outbox: Arc<Outbox>, lost: Lost) -> Self {
        Self {
            group,
            outbox,
            there: Mutex::default(),
            lost,
        }
    }

    /// Returns the members of the node that receive messages.
    pub(crate) fn there(&self) -> MutexGuard<'_, BTreeSet<AgentId>> {
        // A poisoned lock may be used, because each change of the set is a single step.
        self.there.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns whether these are all members of the node that receive messages. The list contains no name twice.
    fn are_all(&self, to: &[AgentId]) -> bool {
        let there = self.there();
        to.len() == there.len() && to.iter().all(|id| there.contains(id))
    }
}

impl<M: RemoteMessage> RemoteLink<M> for GroupSink {
    fn carry(&self, to: &[AgentId], message: Envelope<M>) {
        let to = match to {
            [] => return,
            [one] => Receivers::One(one.clone()),
            // A message to the whole group leaves out the members that are down, and the other side leaves them out
            // as well.
            all if self.are_all(all) => Receivers::All,
            several => Receivers::Several(several.into()),
        };
        self.outbox.push(self.group, to, message);
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
