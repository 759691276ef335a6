//! Updates the metrics of a bridge at intervals, so that the work on a frame or a message does not include an update.

use std::{sync::Arc, time::Duration};

use actix::{AsyncContext, Context};

use super::{
    LinkStatus, RemoteBridge,
    shared::{BridgeState, PeerState, lock},
};
use crate::metrics::Direction;

/// Updates the metrics as long as the actor runs.
pub(super) fn watch(shared: Arc<BridgeState>, ctx: &mut Context<RemoteBridge>) {
    shared.sample();
    ctx.run_interval(AGAIN, move |_, _| shared.sample());
}

/// Time between two updates.
const AGAIN: Duration = Duration::from_secs(5);

impl BridgeState {
    fn sample(&self) {
        let traffic = *lock(&self.traffic);
        // The network's own code counts, so no lock is held.
        let (to, counts) = (&self.instruments, self.counts());
        to.links(traffic.links, traffic.dials);
        to.crossed(Direction::In, traffic.messages_in, traffic.bytes_in);
        to.crossed(Direction::Out, traffic.messages_out, traffic.bytes_out);
        // The counters of links come first, then the counters of messages.
        for (reason, times) in &counts.closed.0 {
            to.closed(reason, *times);
        }
        for (reason, times) in counts.iter().skip(counts.closed.0.len()) {
            to.dropped(reason, times);
        }
        self.peers().iter().for_each(|peer| self.sample_link(peer));
    }

    /// Updates the metrics of a peer's link. Called after each change of the link, and with each regular update.
    pub(crate) fn sample_link(&self, peer: &PeerState) {
        let is_up = matches!(*lock(&peer.stage), LinkStatus::Linked { .. });
        let lost = peer.agents().outbox.lost();
        self.instruments.link(peer.node.as_str(), is_up, lost);
    }
}
