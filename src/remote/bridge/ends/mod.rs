//! The sentinels (processes that report the end of a node's process) that concern a bridge: the sentinel of its own
//! process, and the sentinels of its peers.
//!
//! Decided here: the state about sentinels, which outlasts a crash of the actor. `keep` manages the own sentinel,
//! `hear` receives the notices of other nodes' sentinels. Read next about the sentinel itself
//! ([`sentinel`](crate::remote::sentinel)).

mod builder;
mod hear;
mod keep;

use std::sync::Mutex;

use crate::remote::{
    EndDigest, Established, NodeId,
    bridge::shared::lock,
    sentinel::{NoticeSecret, Notices, Sentinel, SentinelError},
};

pub(crate) use hear::hear;
pub(crate) use keep::keep;

use keep::Revival;

/// A bridge's state for sentinels.
#[derive(Debug, Default)]
pub(crate) struct Ends {
    kept: Mutex<Option<Kept>>,
    /// The digest of the sentinel's secret bytes, which each peer gets at the start of a link; `None` if no sentinel
    /// runs.
    own: Mutex<Option<EndDigest>>,
    notices: Mutex<Notices>,
}

/// The sentinel of this process.
#[derive(Debug)]
struct Kept {
    sentinel: Sentinel,
    /// The bytes that the sentinel reveals when this process has ended.
    secret: NoticeSecret,
    /// The addresses to which the sentinel has to send its notice; `None` if it has no order yet.
    ordered: Option<Vec<std::net::SocketAddr>>,
    revival: Revival,
}

impl Ends {
    /// Creates the state with a sentinel, and generates secret bytes for this incarnation alone.
    pub(crate) fn with(sentinel: Option<Sentinel>) -> Result<Self, SentinelError> {
        let ends = Self::default();
        if let Some(sentinel) = sentinel {
            let secret = NoticeSecret::draw()?;
            *lock(&ends.own) = Some(secret.digest());
            *lock(&ends.kept) = Some(Kept {
                sentinel,
                secret,
                ordered: None,
                revival: Revival::default(),
            });
        }
        Ok(ends)
    }

    /// Returns the digest by which peers will recognize the proof of this incarnation's end; `None` without a sentinel.
    pub(crate) fn own(&self) -> Option<EndDigest> {
        *lock(&self.own)
    }

    /// Notes that a peer is linked, with the digest by which this side will recognize the proof of the peer's end.
    pub(crate) fn met(&self, link: &Established) {
        let mut notices = lock(&self.notices);
        match link.end {
            Some(digest) => notices.note(&link.peer, link.incarnation, digest),
            None => notices.forget(&link.peer),
        }
    }

    /// Notes that the bridge has ended for good: from now on its sentinel sends no notice.
    pub(crate) fn dismiss(&self) {
        let kept = lock(&self.kept).take();
        drop(kept);
    }

    pub(crate) fn forget(&self, node: &NodeId) {
        lock(&self.notices).forget(node);
    }
}
