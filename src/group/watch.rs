//! Watching a membership from outside, as a bridge does for another host.
//!
//! Decided here: a watcher is notified once, and again only after it has looked. So a thousand changes in one turn of
//! the arbiter need only one look.

use std::{fmt, sync::Arc};

use crate::protocol::PeerMessage;

use super::{Group, Snapshot, signal::Signal};

/// Looks at a group's membership from outside; made by [`Group::watch`].
///
/// The watch ends when it is dropped.
pub struct MembershipWatch<M: PeerMessage> {
    group: Group<M>,
    signal: Arc<Signal>,
}

impl<M: PeerMessage> MembershipWatch<M> {
    pub(super) fn new(group: Group<M>, on_change: Box<dyn Fn() + Send + Sync>) -> Self {
        let signal = Arc::new(Signal::new(on_change));
        Self { group, signal }
    }

    pub(super) fn signal(&self) -> &Arc<Signal> {
        &self.signal
    }

    /// Returns the group that is watched.
    pub fn group(&self) -> &Group<M> {
        &self.group
    }

    /// Returns the newest membership. The next change after this call is signalled again.
    pub fn look(&self) -> Arc<Snapshot<M>> {
        self.signal.arm();
        self.group.newest()
    }
}

impl<M: PeerMessage> fmt::Debug for MembershipWatch<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("MembershipWatch").field(&self.group).finish()
    }
}
