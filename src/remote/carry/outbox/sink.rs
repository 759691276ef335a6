//! Takes what the members here say to the members of one group on one other node.
//!
//! Decided here: when a message is for all of them, so that it names none.

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

/// Takes what is said to the members of one group on one node. It is the same for all of them, so
/// that a message to many is encoded once and crosses once.
pub(crate) struct GroupSink {
    pub(crate) group: u32,
    pub(crate) outbox: Arc<Outbox>,
    /// Those whose end is not confirmed.
    there: Mutex<BTreeSet<AgentId>>,
    lost: Lost,
}

impl GroupSink {
    /// Of a group of that number; `lost` hears of names that others have taken.
    pub(crate) fn new(group: u32, outbox: Arc<Outbox>, lost: Lost) -> Self {
        Self {
            group,
            outbox,
            there: Mutex::default(),
            lost,
        }
    }

    /// The members of the node that receive messages.
    pub(crate) fn there(&self) -> MutexGuard<'_, BTreeSet<AgentId>> {
        // Each change under the lock is whole at once.
        self.there.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether these are all members of the node that receive messages. No sender names a receiver twice.
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
            // A group's message to all leaves out the members that are down, and so does the other side.
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
