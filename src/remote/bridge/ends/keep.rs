//! Manages the sentinel of this node: restarts it if it has ended, and gives it the addresses of the peers that it has
//! to inform.
//!
//! Decided here: when another sentinel replaces a sentinel that has ended, and when the peers' names are resolved
//! again.

use std::{
    collections::{BTreeMap, BTreeSet},
    net::SocketAddr,
    sync::Arc,
    time::Duration,
};

use actix::{
    Addr,
    clock::{sleep, timeout},
};
use futures::future::join_all;
use tracing::{debug, warn};

use super::{Ends, Kept};
use crate::{
    protocol::Time,
    remote::{
        RemoteBridge,
        bridge::{
            message::Relink,
            shared::{BridgeState, lock},
        },
        sentinel::{EndNotice, NoticeSecret, SentinelError, Watched},
    },
};

/// Keeps a sentinel running as long as the bridge runs.
pub(crate) async fn keep(shared: Arc<BridgeState>, bridge: Addr<RemoteBridge>) {
    let mut contacts = Contacts::default();
    while lock(&shared.ends.kept).is_some() {
        if shared.ends.revive(shared.now()) {
            // A new sentinel has new secret bytes, so the digest that the peers have is no longer valid: the links are
            // made again.
            // do_send: one message for each new sentinel.
            bridge.do_send(Relink);
        }
        contacts.update(&shared).await;
        shared.ends.order(&shared, contacts.addresses());
        sleep(TICK).await;
    }
}

impl Ends {
    /// Starts another sentinel if the present sentinel has ended. Returns whether a new sentinel was started.
    fn revive(&self, now: Time) -> bool {
        let mut kept = lock(&self.kept);
        let Some(kept) = kept.as_mut() else {
            return false;
        };
        if !kept.sentinel.has_ended() {
            return false;
        }
        // Peers must not get a digest for bytes that no sentinel has.
        *lock(&self.own) = None;
        if !kept.revival.may_begin(now) {
            return false;
        }
        match kept.begin() {
            Ok(()) => {
                warn!("sentinel has ended: another one is started");
                *lock(&self.own) = Some(kept.secret.digest());
                true
            }
            Err(reason) => {
                warn!(%reason, "sentinel has ended, and no other one can be started: the lease decides");
                false
            }
        }
    }

    /// Orders the sentinel to inform these peers, unless it already has this order.
    fn order(&self, shared: &BridgeState, peers: Vec<SocketAddr>) {
        let mut kept = lock(&self.kept);
        let Some(kept) = kept.as_mut() else {
            return;
        };
        if kept.ordered.as_ref() == Some(&peers) {
            return;
        }
        let order = Watched {
            notice: EndNotice {
                node: shared.me.node.clone(),
                incarnation: shared.me.incarnation,
                secret: kept.secret.clone(),
            },
            peers: peers.clone(),
        };
        match kept.sentinel.order(&order) {
            Ok(()) => kept.ordered = Some(peers),
            // The next check tries again, or finds that the sentinel has ended.
            Err(reason) => debug!(%reason, "sentinel takes no order"),
        }
    }
}

impl Kept {
    fn begin(&mut self) -> Result<(), SentinelError> {
        let secret = NoticeSecret::draw()?;
        self.sentinel.restart()?;
        (self.secret, self.ordered) = (secret, None);
        Ok(())
    }
}

/// The times at which a sentinel may be replaced after its end: at once, and then after longer and longer pauses if the
/// new sentinel soon ends as well. A sentinel is the same program, so it may end early if the program reads its
/// arguments before it starts the sentinel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Revival {
    /// Number of starts in a row that were soon followed by an end.
    early: u32,
    last: Option<Time>,
}

impl Revival {
    fn may_begin(&mut self, now: Time) -> bool {
        if let Some(last) = self.last {
            let since = now.since(last);
            if since >= LASTED {
                self.early = 0;
            }
            let factor = 1_u32.checked_shl(self.early).unwrap_or(u32::MAX);
            if since < PAUSE_MIN.saturating_mul(factor).min(PAUSE_MAX) {
                return false;
            }
            self.early = self.early.saturating_add(1);
        }
        self.last = Some(now);
        true
    }
}

/// The addresses at which the bridges of the peers receive notices.
#[derive(Debug, Default)]
struct Contacts {
    known: BTreeMap<String, Vec<SocketAddr>>,
    resolved: Option<Time>,
}

impl Contacts {
    /// Resolves the names in the peers' addresses if the addresses have changed, or were resolved long ago.
    async fn update(&mut self, shared: &BridgeState) {
        let peers = shared.peers();
        let now: BTreeSet<&str> = peers.iter().filter_map(|p| p.address.as_deref()).collect();
        if self.are_current(&now, shared.now()) {
            return;
        }
        let limit = shared.limits.handshake();
        let ask = now.into_iter().map(|address| async move {
            let found = timeout(limit, shared.transport.addresses(address)).await;
            (address.to_owned(), found.ok().and_then(Result::ok))
        });
        let mut known = BTreeMap::new();
        for (address, found) in join_all(ask).await {
            // If a name server does not answer, the former addresses are used.
            let before = self.known.remove(&address).unwrap_or_default();
            known.insert(address, found.unwrap_or(before));
        }
        (self.known, self.resolved) = (known, Some(shared.now()));
    }

    /// Returns whether these addresses are known, and were resolved not long ago.
    fn are_current(&self, addresses: &BTreeSet<&str>, now: Time) -> bool {
        let known = self.known.keys().map(String::as_str);
        let is_recent = self.resolved.is_some_and(|at| now.since(at) < RESOLVE);
        is_recent && addresses.iter().copied().eq(known)
    }

    fn addresses(&self) -> Vec<SocketAddr> {
        let all: BTreeSet<_> = self.known.values().flatten().copied().collect();
        all.into_iter().collect()
    }
}

/// Time between two checks of the sentinel and of the peers.
const TICK: Duration = Duration::from_secs(1);
/// Time after which names are resolved again: a peer may have moved.
const RESOLVE: Duration = Duration::from_secs(30);
/// Shortest and longest time between two starts.
const PAUSE_MIN: Duration = Duration::from_secs(1);
const PAUSE_MAX: Duration = Duration::from_secs(60);
/// If a sentinel has run for this time, its end is not considered early.
const LASTED: Duration = Duration::from_secs(600);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_sentinel_is_started_at_once_and_ever_more_seldom_if_it_ends_again_and_again() {
        let mut revival = Revival::default();
        let starts: Vec<_> = (0..300_u64)
            .filter(|second| revival.may_begin(Time::from_millis(second * 1_000)))
            .collect();
        assert_eq!(starts, [0, 1, 3, 7, 15, 31, 63, 123, 183, 243]);
        assert!(revival.may_begin(Time::from_millis(900_000)));
        assert!(
            revival.may_begin(Time::from_millis(902_000)),
            "it had lived long"
        );
    }

    #[test]
    fn names_are_resolved_again_after_a_while_and_when_the_peers_have_changed() {
        let at = Time::from_millis(1_000);
        let contacts = Contacts {
            known: [("b:1".to_owned(), Vec::new())].into(),
            resolved: Some(at),
        };
        let (same, more) = (BTreeSet::from(["b:1"]), BTreeSet::from(["b:1", "c:1"]));
        assert!(contacts.are_current(&same, at));
        assert!(!contacts.are_current(&same, at.after(RESOLVE)));
        assert!(!contacts.are_current(&more, at));
        assert!(!Contacts::default().are_current(&BTreeSet::new(), at));
    }
}
