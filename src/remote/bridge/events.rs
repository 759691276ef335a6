//! The events of a bridge for the application.
//!
//! Decided here: a slow listener does not delay the bridge. It loses the oldest events, and learns their number.

use std::{net::SocketAddr, time::SystemTime};

use futures::{Stream, stream};
use tokio::sync::broadcast::{self, error::RecvError};

use crate::{group::Holder, protocol::AgentId};

use crate::remote::{Closed, Farewell, GroupRules, NodeId};

/// An event about a peer, or about a refused connection.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum BridgeEvent {
    /// The bridge listens.
    Listening {
        /// The address; `None` on a network without addresses.
        at: Option<SocketAddr>,
    },
    /// A peer can be reached.
    PeerUp {
        /// The peer.
        node: NodeId,
    },
    /// A peer's process has restarted since it was last linked.
    PeerRestarted {
        /// The peer.
        node: NodeId,
    },
    /// A peer has probably ended, or has left: its agents are suspected.
    PeerLost {
        /// The peer.
        node: NodeId,
    },
    /// A peer cannot be reached any more. The elections decide whether it has ended.
    PeerUnreachable {
        /// The peer.
        node: NodeId,
    },
    /// A configured peer has never been seen since the bridge started.
    NeverSeen {
        /// The peer.
        node: NodeId,
        /// The address that is dialled; `None` if the peer has to dial.
        address: Option<String>,
    },
    /// This side closed a link, or did not accept it.
    Refused {
        /// The node that the other end claimed to be, if it sent a name.
        node: Option<NodeId>,
        /// The other end: an address without port, or the address that was dialled.
        from: String,
        /// The reason.
        why: Closed,
    },
    /// The other side refused this one.
    RefusedBy {
        /// The node that was dialled, if it was this side that dialled.
        node: Option<NodeId>,
        /// The other end.
        from: String,
        /// The reason that it gave.
        why: Farewell,
    },
    /// The other end could not prove to be a node that is expected here: it showed no certificate, a wrong
    /// certificate, or the certificate of a node that is not a peer. For the security log;
    /// [`Refused`](Self::Refused) follows.
    Unproven {
        /// The node that was dialled, if it was this side that dialled.
        node: Option<NodeId>,
        /// The other end: an address without port, or the address that was dialled.
        from: String,
        /// The reason in words for people. The words may change.
        reason: &'static str,
        /// The first names that it showed, if an authority that is trusted here issued the certificate.
        names: Vec<String>,
    },
    /// This side's certificate expires soon: connections are refused from then on.
    Expires {
        /// The expiry.
        at: SystemTime,
    },
    /// A peer announced an agent, but another agent has its name. The link stays. The announced agent is not a
    /// member here until the name is free.
    NameTaken {
        /// The peer.
        node: NodeId,
        /// The group.
        group: AgentId,
        /// The name.
        agent: AgentId,
    },
    /// An agent of a peer has lost its name in a group here: another agent of that name has started elsewhere. The
    /// peer could not be reached, or its agent had certainly ended. If the peer still has such an agent when it is
    /// back, [`NameTaken`](Self::NameTaken) follows.
    NameTakenOver {
        /// The peer that had it.
        node: NodeId,
        /// The group.
        group: AgentId,
        /// The name.
        agent: AgentId,
        /// The place of the agent that now has the name.
        by: Holder,
    },
    /// A peer follows other rules in a group, has other voters or quorums, or is of another epoch in a group whose
    /// members do not learn of epochs: nothing crosses for that group. Where members learn of epochs, a diagnosis
    /// reports a peer that is [behind](crate::agent::Finding::OtherListOlder) or
    /// [ahead](crate::agent::Finding::ListOlder).
    ///
    /// Only a digest of the voters crosses, and no names. If only the `list` of both sides differs, compare the
    /// names that both hosts' configurations give to [`AgentBuilder::quorum`](crate::agent::AgentBuilder::quorum),
    /// character for character. Within one process [`JoinError::Voters`](crate::group::JoinError::Voters) names the
    /// voters that differ.
    Mismatch {
        /// The peer.
        node: NodeId,
        /// The group.
        group: AgentId,
        /// The rules of its agents.
        theirs: GroupRules,
        /// The rules of the agents here.
        mine: GroupRules,
    },
    /// The bridge crashed and was restarted. Its links are made anew.
    Restarted,
    /// The bridge has ended for good: it was stopped, or crashed too often. Agents of other nodes are no longer
    /// members here, and the port is free.
    Ended,
    /// Number of refused connections that were not reported, in events or in the log, before the next report. At
    /// most eight reports about one address are made at once, and then one per second; at most 64 about all
    /// addresses together, and then ten per second. The counters count all refusals.
    LeftOut {
        /// The number.
        events: u64,
    },
    /// The listener was too slow, and lost events.
    Missed {
        /// Their number.
        events: u64,
    },
}

/// The channel for events.
#[derive(Clone, Debug)]
pub(crate) struct Events(broadcast::Sender<BridgeEvent>);

impl Default for Events {
    fn default() -> Self {
        Self(broadcast::Sender::new(MOST))
    }
}

impl Events {
    pub(crate) fn tell(&self, event: BridgeEvent) {
        drop(self.0.send(event)); // there is no listener
    }

    /// Returns all events from now on. The stream ends with the bridge.
    pub(crate) fn stream(&self) -> impl Stream<Item = BridgeEvent> + Unpin + Send + use<> {
        let events = self.0.subscribe();
        Box::pin(stream::unfold(events, |mut events| async move {
            match events.recv().await {
                Ok(event) => Some((event, events)),
                Err(RecvError::Lagged(missed)) => {
                    let missed = BridgeEvent::Missed { events: missed };
                    Some((missed, events))
                }
                Err(RecvError::Closed) => None,
            }
        }))
    }
}

/// Most events that wait for a slow listener.
const MOST: usize = 256;
