//! An application's handle of a bridge. It reads the bridge's state without a message, and sends commands.

use std::{fmt, net::SocketAddr, sync::Arc, time::Duration};

use actix::{Addr, clock::timeout};
use futures::Stream;

use crate::remote::{
    BridgeCounts, BridgeError, BridgeEvent, NodeId, NodeIncarnation, Peer, PeerStatus,
    RemoteBridge, Traffic,
    bridge::{
        error::DrainTimedOut,
        message::{DrainLinks, Stop},
        shared::{BridgeState, lock},
    },
};

/// An application's handle of a bridge. Clones are handles of the same bridge.
///
/// The bridge runs until it is stopped or drained, or until its System ends. A drop of the handles does not end it.
#[derive(Clone)]
pub struct BridgeHandle {
    pub(crate) addr: Addr<RemoteBridge>,
    pub(crate) shared: Arc<BridgeState>,
    pub(crate) local: Option<SocketAddr>,
}

impl BridgeHandle {
    /// Returns the address of the bridge's actor. It stays the same through all restarts.
    pub fn addr(&self) -> &Addr<RemoteBridge> {
        &self.addr
    }

    /// Returns the name of this node.
    pub fn node(&self) -> &NodeId {
        &self.shared.me.node
    }

    /// Returns the present incarnation of the node.
    pub fn incarnation(&self) -> NodeIncarnation {
        self.shared.me.incarnation
    }

    /// Returns the address at which the bridge listens, with the real port even if the configured port is 0. `None` if
    /// the bridge does not listen, or on a network without addresses.
    pub fn local_addr(&self) -> Option<SocketAddr> {
        self.local
    }

    /// Adds a peer while the bridge runs. If the peer came only from a list of voters before, the bridge dials it by
    /// the new definition from then on, and the peer may still send messages for its voters in the list.
    ///
    /// # Errors
    /// [`BridgeError`], and nothing was changed: [`Node`](BridgeError::Node), [`PeerTaken`](BridgeError::PeerTaken),
    /// [`PeerIsSelf`](BridgeError::PeerIsSelf), [`Plaintext`](BridgeError::Plaintext).
    pub fn add_peer(&self, peer: Peer) -> Result<(), BridgeError> {
        let node = peer.check(&self.shared, self.shared.is_dangerous)?;
        if !self.shared.configure(&node, peer) {
            return Err(BridgeError::PeerTaken { node });
        }
        Ok(())
    }

    /// Removes a peer while the bridge runs: its link is closed, and its agents are no longer members here. Returns
    /// whether the peer existed.
    ///
    /// You may also remove the host of a voter: the voter remains a voter, but this host does not reach it. The next
    /// list of voters, which repeats the remaining voters, does not bring the peer back. The peer comes back if a list
    /// adds a voter at its host, or if you call [`add_peer`](Self::add_peer). A bridge that starts anew does not know
    /// of the removal: to remove a voter for good, remove it from the list of voters first.
    pub fn remove_peer(&self, node: &NodeId) -> bool {
        self.shared.forget(node)
    }

    /// Sets the contacts of the voters of a group from this epoch on: each voter, its node, and the address to dial.
    /// Returns the reasons why contacts were not used. An election calls this function by itself when its voters have
    /// changed.
    #[doc(hidden)]
    #[cfg(feature = "testkit")]
    pub fn decree_peers(
        &self,
        group: &str,
        epoch: u64,
        voters: &[(crate::protocol::AgentId, NodeId, Option<String>)],
    ) -> Vec<String> {
        let contacts = voters.iter().map(|(voter, node, address)| {
            let contact = crate::protocol::Contact {
                node: node.to_string(),
                address: address.clone().unwrap_or_default(),
            };
            crate::protocol::NewVoter {
                id: voter.clone(),
                contact: Some(contact),
            }
        });
        self.shared
            .decree(group, epoch, &contacts.collect::<Vec<_>>())
    }

    /// Returns the state of the link with each peer, ordered by name.
    pub fn peers(&self) -> Vec<PeerStatus> {
        let status = |peer: Arc<crate::remote::bridge::shared::PeerState>| {
            let link = *lock(&peer.stage);
            let agents = peer.agents();
            let unlinked_for = agents.unlinked_for(self.shared.now());
            // While the peer is linked, an earlier error is out of date.
            let last_error = unlinked_for.and_then(|_| peer.health.last_error());
            PeerStatus {
                node: peer.node.clone(),
                address: peer.address.clone(),
                link,
                incarnation: agents.latest,
                agents: agents.count_members(),
                lost: agents.outbox.lost(),
                unlinked_for,
                last_error,
                echo: peer.health.echo(),
            }
        };
        self.shared.peers().into_iter().map(status).collect()
    }

    /// Returns the counts of closed links and of dropped messages so far, by reason.
    pub fn counters(&self) -> BridgeCounts {
        self.shared.counts()
    }

    /// Returns the traffic so far.
    pub fn traffic(&self) -> Traffic {
        *lock(&self.shared.traffic)
    }

    /// Returns the events from now on. The stream ends after the last handle and the bridge have ended.
    ///
    /// A slow reader never delays the bridge: it loses events, and receives the number of lost events.
    pub fn events(&self) -> impl Stream<Item = BridgeEvent> + Unpin + Send + use<> {
        self.shared.events.stream()
    }

    /// Ends the bridge politely: it accepts no more connections, sends the waiting messages, and says goodbye to every
    /// peer. The peers suspect the agents of this process at once. When this function returns, another bridge may
    /// listen at the port. Let the agents [leave](crate::agent::ElectionHandle::leave) before you call this function,
    /// so that the peers know that the agents have left.
    ///
    /// # Errors
    /// [`DrainTimedOut`] if the drain took longer than `limit`. The bridge has stopped anyway.
    pub async fn drain(&self, limit: Duration) -> Result<(), DrainTimedOut> {
        let drain = async {
            self.addr.send(DrainLinks).await.ok(); // an error means that the bridge has already ended
            self.stop();
            self.shared.finish();
            self.shared.until_free().await;
        };
        if timeout(limit, drain).await.is_ok() {
            return Ok(());
        }
        self.stop();
        self.shared.finish();
        Err(DrainTimedOut { limit })
    }

    /// Ends the bridge: all links are closed, and agents of other nodes are no longer members here. The port is free
    /// when [`BridgeEvent::Ended`] is reported.
    pub fn stop(&self) {
        // do_send: one message for each call; no call may be lost.
        self.addr.do_send(Stop);
    }
}

impl fmt::Debug for BridgeHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BridgeHandle")
            .field("node", self.node())
            .field("local_addr", &self.local)
            .finish_non_exhaustive()
    }
}
