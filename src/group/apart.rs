//! A group for those who serve it and must not keep it: a handle that does not count, and a floor for incarnations.

use std::sync::{Arc, Weak};

use crate::protocol::{Incarnation, PeerMessage};

use super::{Group, GroupState};

/// A group that ends with its agents although this is kept.
#[derive(Debug)]
pub(crate) struct WeakGroup<M: PeerMessage>(Weak<GroupState<M>>);

impl<M: PeerMessage> WeakGroup<M> {
    /// The group, if it is there.
    pub(crate) fn upgrade(&self) -> Option<Group<M>> {
        self.0.upgrade().map(Group)
    }
}

impl<M: PeerMessage> Group<M> {
    /// A handle that does not keep the group.
    pub(crate) fn downgrade(&self) -> WeakGroup<M> {
        WeakGroup(Arc::downgrade(&self.0))
    }

    /// Makes every incarnation that begins from now on later than `floor`, so that none is taken for an incarnation of
    /// another process.
    pub(crate) fn begin_after(&self, floor: Incarnation) {
        self.registry().raise_floor(floor);
    }
}
