//! What a bridge and the sentinels have to do with each other: its own, and those of its peers.
//!
//! Decided here: what is known of them, and that all of it outlasts a crash of the actor. `keep` looks after the own
//! one, `hear` after the notices of the others; what a sentinel is: [`sentinel`](crate::remote::sentinel).

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

/// What a bridge knows of sentinels.
#[derive(Debug, Default)]
pub(crate) struct Ends {
    kept: Mutex<Option<Kept>>,
    /// What every peer is given when it is linked.
    own: Mutex<Option<EndDigest>>,
    notices: Mutex<Notices>,
}

/// The own sentinel.
#[derive(Debug)]
struct Kept {
    sentinel: Sentinel,
    /// What it gives away when this process has ended.
    secret: NoticeSecret,
    /// Whom it is to tell; `None` if it does not know yet.
    ordered: Option<Vec<std::net::SocketAddr>>,
    revival: Revival,
}

impl Ends {
    /// With a sentinel, and bytes for this incarnation alone.
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

    /// By what the peers will know that this incarnation has ended.
    pub(crate) fn own(&self) -> Option<EndDigest> {
        *lock(&self.own)
    }

    /// A peer is linked, and said by what its end will be known.
    pub(crate) fn met(&self, link: &Established) {
        let mut notices = lock(&self.notices);
        match link.end {
            Some(digest) => notices.note(&link.peer, link.incarnation, digest),
            None => notices.forget(&link.peer),
        }
    }

    /// The bridge has ended for good: its sentinel says nothing any more.
    pub(crate) fn dismiss(&self) {
        let kept = lock(&self.kept).take();
        drop(kept);
    }

    /// The node is no peer any more.
    pub(crate) fn forget(&self, node: &NodeId) {
        lock(&self.notices).forget(node);
    }
}
