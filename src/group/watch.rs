//! Watching a membership from outside, as a bridge does for another host.
//!
//! Decided here: that a watcher is told once, and again only after it has looked: a thousand
//! changes in one turn are one look. Not here: what is made of it.

use std::{
    fmt,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use crate::protocol::PeerMessage;

use super::{Group, Snapshot};

/// Looks at a group's membership from outside; made by [`Group::watch`].
///
/// Drop it, and nothing is told any more.
pub struct Watch<M: PeerMessage> {
    group: Group<M>,
    bell: Arc<Bell>,
}

impl<M: PeerMessage> Watch<M> {
    pub(super) fn new(group: Group<M>, ring: Box<dyn Fn() + Send + Sync>) -> Self {
        let told = AtomicBool::new(false);
        let bell = Arc::new(Bell { ring, told });
        Self { group, bell }
    }

    pub(super) fn bell(&self) -> &Arc<Bell> {
        &self.bell
    }

    /// The group that is watched.
    pub fn group(&self) -> &Group<M> {
        &self.group
    }

    /// The newest membership. The next change rings.
    pub fn look(&self) -> Arc<Snapshot<M>> {
        // Before the look: a change in between is told once more, none is missed.
        self.bell.told.store(false, Ordering::Release);
        self.group.newest()
    }
}

impl<M: PeerMessage> fmt::Debug for Watch<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Watch").field(&self.group).finish()
    }
}

/// What rings, and whether it has since the last look.
pub(super) struct Bell {
    ring: Box<dyn Fn() + Send + Sync>,
    told: AtomicBool,
}

impl Bell {
    pub(super) fn ring(&self) {
        if !self.told.swap(true, Ordering::AcqRel) {
            (self.ring)();
        }
    }
}
