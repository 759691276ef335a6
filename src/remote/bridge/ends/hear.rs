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

/// Receives notices at the address of the bridge, while the bridge listens there.
pub(crate) async fn hear(shared: Arc<BridgeState>, at: SocketAddr) {
    // Over links that prove nothing no digest counts, so no notice would be believed.
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

/// Receives until the socket breaks.
async fn listen(shared: &BridgeState, mut datagrams: Box<dyn Datagrams>) {
    // One byte more than the longest notice: a truncated datagram is not a notice.
    let mut bytes = [0; EndNotice::MAX_LEN + 1];
    loop {
        match datagrams.receive(&mut bytes).await {
            Ok(len) => shared.hear_notice(bytes.get(..len).unwrap_or_default()),
            Err(reason) => return debug!(%reason, "notices are not heard"),
        }
        // A sender of many datagrams takes no other task's turn.
        yield_now().await;
    }
}

impl BridgeState {
    /// Whether both ends of a link have proved their names.
    fn proves_peers(&self) -> bool {
        self.security.is_some() || self.credential.is_some()
    }

    /// Handles a datagram. A datagram that is not a valid notice is counted.
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

    /// An incarnation of a node has certainly ended, and so have its agents.
    fn has_ended(&self, node: &NodeId, incarnation: NodeIncarnation) {
        let Some(peer) = self.peer(node) else {
            return;
        };
        info!(node = %self.me.node, peer = %node, "peer's process has ended, says its sentinel");
        peer.agents().told_ended(incarnation);
        // The names of its agents are free.
        self.retry_all();
    }
}

/// Pause after a failure, without notices.
const AFTER_FAILURE: Duration = Duration::from_secs(1);
