//! The events of a bridge for the application.
//!
//! Decided here: a slow listener does not delay the bridge. It loses the oldest events, and receives the number of lost
//! events.

use std::{net::SocketAddr, time::SystemTime};

use futures::{Stream, stream};
use tokio::sync::broadcast::{self, error::RecvError};

use crate::{group::Holder, protocol::AgentId};

use crate::remote::NodeId;

/// An event about a peer, or about a refused connection.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum BridgeEvent {
    /// The bridge has begun to listen.
    Listening {
        /// The address; `None` on a network without addresses.
        at: Option<SocketAddr>,
    },
    /// A link with a peer is ready, so the peer can be reached.
    PeerUp {
        /// The peer.
        node: NodeId,
    },
    /// A peer's process has restarted since it was last linked.
    PeerRestarted {
        /// The peer.
        node: NodeId,
    },
    /// A peer's process has probably ended, or has left: its agents are suspected.
    PeerLost {
        /// The peer.
        node: NodeId,
    },
    /// A peer cannot be reached any more. The elections decide whether its agents have ended.
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
    /// A link was closed or not accepted, by this side or, if `name` is `goodbye`, by the other side.
    Refused {
        /// The node that was dialled, or the node of a link that was ready. A claimed name without a proof is in
        /// `names`.
        node: Option<NodeId>,
        /// The other end: an address without port, or the address that was dialled.
        from: String,
        /// The name under which the reason is counted; see [`BridgeCounts`](crate::remote::BridgeCounts).
        name: &'static str,
        /// The reason in words for people. The words may change.
        reason: String,
        /// For a security log, if `name` is `auth_failed`. The first names in the certificate of the other end, if the
        /// certificate does not belong to the expected node but comes from an authority that this side trusts. Or the
        /// unproved name in a HELLO that this side does not accept. Otherwise empty.
        names: Vec<String>,
    },
    /// This side's certificate expires soon. After that time connections are refused.
    Expires {
        /// The time at which the certificate expires.
        at: SystemTime,
    },
    /// A peer announced an agent whose name belongs to another agent. The link stays. The announced agent does not
    /// become a member here until the name is free.
    NameTaken {
        /// The peer.
        node: NodeId,
        /// The group.
        group: AgentId,
        /// The name.
        agent: AgentId,
    },
    /// An agent of a peer has lost its name in a group here, because another agent with this name has started at
    /// another place. When the other agent started, the peer could not be reached, or the peer's agent had certainly
    /// ended. If the peer returns and still runs the agent that lost its name, [`NameTaken`](Self::NameTaken) follows.
    NameTakenOver {
        /// The peer whose agent had the name.
        node: NodeId,
        /// The group.
        group: AgentId,
        /// The name.
        agent: AgentId,
        /// The place of the agent that now has the name.
        by: Holder,
    },
    /// A peer follows other rules in a group, has other voters or quorums, or has another epoch in a group whose
    /// members do not learn of epochs. Then no message of this group crosses. Where members learn of epochs, a
    /// diagnosis reports a peer in an [earlier](crate::agent::Finding::OtherListOlder) or
    /// [later](crate::agent::Finding::ListOlder) epoch.
    ///
    /// Only a digest of the voters crosses, not their names. If only the `list` of both sides differs, compare the
    /// names that both hosts' configurations give to [`AgentBuilder::quorum`](crate::agent::AgentBuilder::quorum),
    /// character for character. Within one process [`JoinError::Voters`](crate::group::JoinError::Voters) contains the
    /// voters that differ.
    Mismatch {
        /// The peer.
        node: NodeId,
        /// The group.
        group: AgentId,
        /// The rules of the peer's agents, in words.
        theirs: String,
        /// The rules of the agents of this process, in words.
        mine: String,
    },
    /// The bridge crashed and was restarted. The bridge makes its links again.
    Restarted,
    /// The bridge has ended for good: it was stopped, or crashed too often. Agents of other nodes are no longer
    /// members here, and the port is free.
    Ended,
    /// Number of refused connections that were not reported, neither as events nor in the log, since the last report.
    /// About one address at most eight reports are made at once, and then one per second; about all addresses together
    /// at most 64, and then ten per second. The counters count all refusals.
    LeftOut {
        /// Number of refused connections without a report.
        events: u64,
    },
    /// The listener was too slow, and has lost events.
    Missed {
        /// Number of lost events.
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
        drop(self.0.send(event)); // an error only means that there is no listener
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

/// Largest number of events that wait for a slow listener.
const MOST: usize = 256;
