//! Hears what sentinels of other nodes say, by datagrams that any process may send.
//!
//! Decided here: what follows from a notice. Whether it is believed: [`Notices`](crate::remote::sentinel::Notices).

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

/// Hears notices where the bridge listens, for as long as it does.
pub(crate) async fn hear(shared: Arc<BridgeState>, at: SocketAddr) {
    // Over links that prove nothing no digest counts, so that no notice would.
    if !shared.proves_peers() {
        return;
    }
    let mut is_told = false;
    loop {
        match shared.transport.hear(at) {
            Ok(Some(datagrams)) => listen(&shared, datagrams).await,
            Ok(None) => return,
            Err(reason) if is_told => debug!(%reason, "notices are not heard"),
            Err(reason) => {
                is_told = true;
                warn!(%reason, %at, "sentinels' notices are not heard: the bridge's port is taken for UDP; the lease decides");
            }
        }
        sleep(AFTER_FAILURE).await;
    }
}

/// Until the socket breaks.
async fn listen(shared: &BridgeState, mut datagrams: Box<dyn Datagrams>) {
    // A byte more than the longest notice: one that was cut off is none.
    let mut bytes = [0; EndNotice::MAX_LEN + 1];
    loop {
        match datagrams.receive(&mut bytes).await {
            Ok(len) => shared.hear_notice(bytes.get(..len).unwrap_or_default()),
            Err(reason) => return debug!(%reason, "notices are not heard"),
        }
        // Whoever sends many of them takes no other task's turn.
        yield_now().await;
    }
}

impl BridgeState {
    /// Whether both ends of a link have proved which nodes they are.
    fn proves_peers(&self) -> bool {
        self.security.is_some() || self.credential.is_some()
    }

    /// Takes a datagram; what is no notice, or not a true one, is counted.
    fn hear_notice(&self, datagram: &[u8]) {
        let heard = lock(&self.ends.notices).hear(datagram);
        match heard {
            Ok((node, incarnation)) => {
                self.counters.notice(None);
                self.has_ended(&node, incarnation);
            }
            Err(why) => {
                self.counters.notice(Some(why));
                debug!(%why, "datagram is no notice that counts");
            }
        }
    }

    /// An incarnation of a node has ended for certain, and so have its agents.
    fn has_ended(&self, node: &NodeId, incarnation: NodeIncarnation) {
        let Some(peer) = self.peer(node) else {
            return;
        };
        info!(node = %self.me.node, peer = %node, "peer's process has ended, says its sentinel");
        peer.agents().told_ended(incarnation);
        // Names of agents there are free.
        self.retry_all();
    }
}

/// So long nothing is heard after a failure.
const AFTER_FAILURE: Duration = Duration::from_secs(1);
