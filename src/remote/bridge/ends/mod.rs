//! The sentinels that concern a bridge: its own, and those of its peers.
//!
//! Decided here: the facts about them, which all outlast a crash of the actor. `keep` looks after the own sentinel,
//! `hear` receives the notices of the others. Next: the sentinel itself ([`sentinel`](crate::remote::sentinel)).

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
    /// The digest that every peer gets when it is linked.
    own: Mutex<Option<EndDigest>>,
    notices: Mutex<Notices>,
}

/// The own sentinel.
#[derive(Debug)]
struct Kept {
    sentinel: Sentinel,
    /// The bytes that the sentinel reveals when this process has ended.
    secret: NoticeSecret,
    /// The addresses that it has to tell; `None` if it has no order yet.
    ordered: Option<Vec<std::net::SocketAddr>>,
    revival: Revival,
}

impl Ends {
    /// Makes the state with a sentinel, and with bytes for this incarnation alone.
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

    /// Returns the digest that later proves the end of this incarnation.
    pub(crate) fn own(&self) -> Option<EndDigest> {
        *lock(&self.own)
    }

    /// A peer is linked, and has given the digest that later proves its end.
    pub(crate) fn met(&self, link: &Established) {
        let mut notices = lock(&self.notices);
        match link.end {
            Some(digest) => notices.note(&link.peer, link.incarnation, digest),
            None => notices.forget(&link.peer),
        }
    }

    /// The bridge has ended for good: its sentinel sends no notice any more.
    pub(crate) fn dismiss(&self) {
        let kept = lock(&self.kept).take();
        drop(kept);
    }

    /// The node is not a peer any more.
    pub(crate) fn forget(&self, node: &NodeId) {
        lock(&self.notices).forget(node);
    }
}
