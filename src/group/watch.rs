//! Watching a membership from outside, as a bridge does for another host.
//!
//! Decided here: that a watcher is told once, and again only after it has looked: a thousand
//! changes in one turn are one look. Not here: what is made of it.

use std::{fmt, sync::Arc};

use crate::protocol::PeerMessage;

use super::{Group, Snapshot, bell::Bell};

/// Looks at a group's membership from outside; made by [`Group::watch`].
///
/// Drop it, and nothing is told any more.
pub struct Watch<M: PeerMessage> {
    group: Group<M>,
    bell: Arc<Bell>,
}

impl<M: PeerMessage> Watch<M> {
    pub(super) fn new(group: Group<M>, ring: Box<dyn Fn() + Send + Sync>) -> Self {
        let bell = Arc::new(Bell::new(ring));
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
        self.bell.expect();
        self.group.newest()
    }
}

impl<M: PeerMessage> fmt::Debug for Watch<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Watch").field(&self.group).finish()
    }
}
