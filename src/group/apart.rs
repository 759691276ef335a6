//! A handle that does not keep a group alive, for code that serves the group; and a lower bound for new incarnations.

use std::sync::{Arc, Weak};

use crate::protocol::{Incarnation, PeerMessage};

use super::{Group, GroupState};

/// A handle that does not keep the group alive: the group ends with its agents.
#[derive(Debug)]
pub(crate) struct WeakGroup<M: PeerMessage>(Weak<GroupState<M>>);

impl<M: PeerMessage> WeakGroup<M> {
    pub(crate) fn upgrade(&self) -> Option<Group<M>> {
        self.0.upgrade().map(Group)
    }
}

impl<M: PeerMessage> Group<M> {
    /// Returns a handle that does not keep the group alive.
    pub(crate) fn downgrade(&self) -> WeakGroup<M> {
        WeakGroup(Arc::downgrade(&self.0))
    }

    for_tests! {
        /// Makes every incarnation that begins from now on later than `floor`, so that no new incarnation is mistaken
        /// for an incarnation of another process.
        fn begin_after(&self, floor: Incarnation) {
            self.registry().raise_floor(floor);
        }
    }
}
