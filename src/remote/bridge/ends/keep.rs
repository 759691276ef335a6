//! Looks after the own sentinel: that it lives, and knows whom to tell.
//!
//! Decided here: when another one is started in its place, and when names are resolved anew.

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

/// Keeps a sentinel at work for as long as the bridge runs.
pub(crate) async fn keep(shared: Arc<BridgeState>, bridge: Addr<RemoteBridge>) {
    let mut contacts = Contacts::default();
    while lock(&shared.ends.kept).is_some() {
        if shared.ends.revive(shared.now()) {
            // The bytes that the peers were told are void.
            // do_send: one for each sentinel that was made anew.
            bridge.do_send(Relink);
        }
        contacts.update(&shared).await;
        shared.ends.order(&shared, contacts.addresses());
        sleep(TICK).await;
    }
}

impl Ends {
    /// Starts another sentinel if it has ended; says whether there is another one.
    fn revive(&self, now: Time) -> bool {
        let mut kept = lock(&self.kept);
        let Some(kept) = kept.as_mut() else {
            return false;
        };
        if !kept.sentinel.has_ended() {
            return false;
        }
        // No peer may be told of bytes that no sentinel has.
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

    /// Has the sentinel tell these peers, if it does not know that yet.
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
            // The next look tries again, or finds that it has ended.
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

/// When another sentinel may be started in the place of one that has ended: at once, and ever more seldom if that one
/// ends as well, as where a program reads its arguments before it starts one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Revival {
    /// Starts that were soon followed by an end.
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

/// Where the bridges of the peers hear notices.
#[derive(Debug, Default)]
struct Contacts {
    known: BTreeMap<String, Vec<SocketAddr>>,
    resolved: Option<Time>,
}

impl Contacts {
    /// Resolves the addresses of all peers that have one: anew when these changed, and now and then.
    async fn update(&mut self, shared: &BridgeState) {
        let peers = shared.peers();
        let now: BTreeSet<&str> = peers.iter().filter_map(|p| p.address.as_deref()).collect();
        let is_old = |at: Time| shared.now().since(at) >= RESOLVE;
        let is_same = now
            .iter()
            .copied()
            .eq(self.known.keys().map(String::as_str));
        if is_same && !self.resolved.is_none_or(is_old) {
            return;
        }
        let limit = shared.limits.handshake();
        let ask = now.into_iter().map(|address| async move {
            let found = timeout(limit, shared.transport.addresses(address)).await;
            (address.to_owned(), found.ok().and_then(Result::ok))
        });
        let mut known = BTreeMap::new();
        for (address, found) in join_all(ask).await {
            // What was known is better than nothing while a name server is silent.
            let before = self.known.remove(&address).unwrap_or_default();
            known.insert(address, found.unwrap_or(before));
        }
        (self.known, self.resolved) = (known, Some(shared.now()));
    }

    fn addresses(&self) -> Vec<SocketAddr> {
        let all: BTreeSet<_> = self.known.values().flatten().copied().collect();
        all.into_iter().take(Watched::MOST_PEERS).collect()
    }
}

/// How often the bridge looks whether the sentinel lives, and who the peers are.
const TICK: Duration = Duration::from_secs(1);
/// How often names are resolved anew: a peer may have moved.
const RESOLVE: Duration = Duration::from_secs(30);
/// The shortest and the longest time between two starts.
const PAUSE_MIN: Duration = Duration::from_secs(1);
const PAUSE_MAX: Duration = Duration::from_secs(60);
/// One that has lived so long has not ended early.
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
}
