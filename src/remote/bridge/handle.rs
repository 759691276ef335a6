//! What an application holds of a bridge: answers without asking it, and commands.

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

/// An application's side of a bridge. Clones are the same bridge.
///
/// The bridge runs until it is stopped or drained, or its System ends; dropping handles does not
/// end it.
#[derive(Clone)]
pub struct BridgeHandle {
    pub(crate) addr: Addr<RemoteBridge>,
    pub(crate) shared: Arc<BridgeState>,
    pub(crate) local: Option<SocketAddr>,
}

impl BridgeHandle {
    /// The bridge's address, the same through all its restarts.
    pub fn addr(&self) -> &Addr<RemoteBridge> {
        &self.addr
    }

    /// The name of this node.
    pub fn node(&self) -> &NodeId {
        &self.shared.me.node
    }

    /// This incarnation of the node.
    pub fn incarnation(&self) -> NodeIncarnation {
        self.shared.me.incarnation
    }

    /// Where the bridge listens: the port is known even if 0 was asked for. `None` if it does not
    /// listen, or on a network without addresses.
    pub fn local_addr(&self) -> Option<SocketAddr> {
        self.local
    }

    /// Adds a peer while the bridge runs. One that only a list of voters named is dialled as this says from then on, and
    /// may speak for those voters too.
    ///
    /// # Errors
    /// [`BridgeError`], and nothing was changed: [`Node`](BridgeError::Node),
    /// [`PeerTaken`](BridgeError::PeerTaken), [`PeerIsSelf`](BridgeError::PeerIsSelf),
    /// [`Plaintext`](BridgeError::Plaintext).
    pub fn add_peer(&self, peer: Peer) -> Result<(), BridgeError> {
        let node = peer.check(&self.shared, self.shared.is_dangerous)?;
        if !self.shared.configure(&node, peer) {
            return Err(BridgeError::PeerTaken { node });
        }
        Ok(())
    }

    /// Removes a peer while the bridge runs: its link is closed, and its agents are no members any
    /// more. Says whether there was one.
    ///
    /// That holds for the host of a voter as well: the voter stays one, but this host does not reach it. The next
    /// list of voters, which repeats those that stay, does not bring the peer back; one that names another voter there
    /// does, and so does [`add_peer`](Self::add_peer). A bridge that starts anew knows nothing of the removal: to
    /// take a voter away for good, remove it from the voters first.
    pub fn remove_peer(&self, node: &NodeId) -> bool {
        self.shared.forget(node)
    }

    /// The voters of a group are found there from that epoch on: each voter, its node, and what is dialled. Says why contacts
    /// were not used. What an election says by itself, once its voters have changed.
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

    /// The state of the link with each peer, ordered by name.
    pub fn peers(&self) -> Vec<PeerStatus> {
        let status = |peer: Arc<crate::remote::bridge::shared::PeerState>| {
            let link = *lock(&peer.stage);
            let agents = peer.agents();
            let unlinked_for = agents.unlinked_for(self.shared.now());
            // An error of before the link means nothing any more.
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

    /// Why links were closed and messages were dropped, so far.
    pub fn counters(&self) -> BridgeCounts {
        self.shared.counts()
    }

    /// What crossed so far.
    pub fn traffic(&self) -> Traffic {
        self.shared.meter.read()
    }

    /// What happens from now on; ends with the last handle and the bridge.
    ///
    /// A slow reader never holds the bridge up: it misses events, and is told how many.
    pub fn events(&self) -> impl Stream<Item = BridgeEvent> + Unpin + Send + use<> {
        self.shared.events.stream()
    }

    /// Ends the bridge politely: no connection is taken any more, what waits is sent, every peer is
    /// told goodbye and suspects the agents here at once. When this returns, another bridge may listen at the port. Let agents
    /// [leave](crate::agent::ElectionHandle::leave) before, and their peers know that they have.
    ///
    /// # Errors
    /// [`DrainTimedOut`] when that took longer than `limit`. The bridge has stopped all the same.
    pub async fn drain(&self, limit: Duration) -> Result<(), DrainTimedOut> {
        let drain = async {
            self.addr.send(DrainLinks).await.ok(); // closed already: there is no bridge to tell
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

    /// Ends the bridge: all links are closed, and no agent of another node is a member here any more. Its port is free when
    /// [`BridgeEvent::Ended`] is told.
    pub fn stop(&self) {
        // do_send: one for each call, and none may be lost.
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
