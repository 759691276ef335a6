//! Receives notices of other nodes' sentinels, as datagrams that any process may send.
//!
//! Decided here: the consequences of a notice. Not here: whether it is believed
//! ([`Notices`](crate::remote::sentinel::Notices)).

use std::{net::SocketAddr, sync::Arc, time::Duration};

use actix::clock::sleep;
use tokio::task::yield_now;
use tracing::{debug, info, warn};

use crate::remote::{
    NodeId, NodeIncarnation,
    bridge::shared::{BridgeState, lock},
    sentinel::EndNotice,
    transport::Datagrams,
};

/// Receives notices at the address of the bridge, as long as the bridge listens at this address.
pub(crate) async fn hear(shared: Arc<BridgeState>, at: SocketAddr) {
    // If links prove no names, the bridge ignores their digests, so it would believe no notice.
    if !shared.proves_peers() {
        return;
    }
    let mut is_told = false;
    loop {
        match shared.transport.hear(at) {
            Ok(Some(datagrams)) => listen(&shared, datagrams).await,
            Ok(None) => return,
            Err(reason) if is_told => debug!(%reason, "notices are not received"),
            Err(reason) => {
                is_told = true;
                warn!(%reason, %at, "sentinels' notices are not received: the bridge's port is taken for UDP; the lease decides");
            }
        }
        sleep(AFTER_FAILURE).await;
    }
}

/// Receives notices until the socket fails.
async fn listen(shared: &BridgeState, mut datagrams: Box<dyn Datagrams>) {
    // One byte more than the longest notice, so that the beginning of a longer datagram is not taken for a notice.
    let mut bytes = [0; EndNotice::MAX_LEN + 1];
    loop {
        match datagrams.receive(&mut bytes).await {
            Ok(len) => shared.hear_notice(bytes.get(..len).unwrap_or_default()),
            Err(reason) => return debug!(%reason, "notices are not received"),
        }
        // Other tasks have to run even if a sender sends many datagrams.
        yield_now().await;
    }
}

impl BridgeState {
    /// Returns whether both ends of a link have to prove their names.
    fn proves_peers(&self) -> bool {
        self.security.is_some() || self.credential.is_some()
    }

    /// Handles a datagram. A datagram that is not a valid notice is counted.
    fn hear_notice(&self, datagram: &[u8]) {
        let heard = lock(&self.ends.notices).hear(datagram);
        match heard {
            Ok((node, incarnation)) => {
                self.counters.count("notice_believed");
                self.has_ended(&node, incarnation);
            }
            Err(why) => {
                self.counters.count(why.name());
                debug!(%why, "datagram ignored: it is not a valid notice");
            }
        }
    }

    /// Notes that an incarnation of a node has certainly ended, with all its agents.
    fn has_ended(&self, node: &NodeId, incarnation: NodeIncarnation) {
        let Some(peer) = self.peer(node) else {
            return;
        };
        info!(node = %self.me.node, peer = %node, "peer's sentinel reports that its process has ended");
        peer.agents().told_ended(incarnation);
        // The names of its agents are free now.
        self.retry_all();
    }
}

/// Pause after a failure. During the pause no notices are received.
const AFTER_FAILURE: Duration = Duration::from_secs(1);
