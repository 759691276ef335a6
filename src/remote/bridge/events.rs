//! What a bridge tells the application, and how.
//!
//! Decided here: that no slow listener holds the bridge up: the oldest events are lost,
//! and their number is told.

use std::{net::SocketAddr, time::SystemTime};

use futures::{Stream, stream};
use tokio::sync::broadcast::{self, error::RecvError};

use crate::{group::Holder, protocol::AgentId};

use crate::remote::{Closed, Farewell, GroupRules, NodeId};

/// Something happened to a peer, or a connection was refused.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum BridgeEvent {
    /// The bridge listens.
    Listening {
        /// Where; `None` on a network without addresses.
        at: Option<SocketAddr>,
    },
    /// A peer can be reached.
    PeerUp {
        /// Which.
        node: NodeId,
    },
    /// A peer's process has restarted since it was last linked.
    PeerRestarted {
        /// Which.
        node: NodeId,
    },
    /// A peer has probably ended, or has left: its agents are suspected.
    PeerLost {
        /// Which.
        node: NodeId,
    },
    /// A peer cannot be reached any more; whether it has ended is for the elections to find out.
    PeerUnreachable {
        /// Which.
        node: NodeId,
    },
    /// A configured peer has never been seen since the bridge started.
    NeverSeen {
        /// Which.
        node: NodeId,
        /// What is dialled; `None` if it has to dial.
        address: Option<String>,
    },
    /// This side closed, or did not accept, a link.
    Refused {
        /// The node that it said it was, if it came that far.
        node: Option<NodeId>,
        /// The other end: an address without port, or what was dialled.
        from: String,
        /// Why.
        why: Closed,
    },
    /// The other side refused this one.
    RefusedBy {
        /// The node that was dialled, if it was this side that dialled.
        node: Option<NodeId>,
        /// The other end.
        from: String,
        /// What it said.
        why: Farewell,
    },
    /// The other end could not prove to be a node that is expected here: no certificate, a wrong one, or
    /// that of a node that is no peer. For the security log; [`Refused`](Self::Refused) follows.
    Unproven {
        /// The node that was dialled, if it was this side that dialled.
        node: Option<NodeId>,
        /// The other end: an address without port, or what was dialled.
        from: String,
        /// Why. For people: the words may change.
        reason: &'static str,
        /// The first names that it showed, if an authority that is trusted here vouched for them.
        names: Vec<String>,
    },
    /// What this side shows of itself expires soon: connections are refused from then on.
    Expires {
        /// When.
        at: SystemTime,
    },
    /// A peer announced an agent whose name another one has. The link stays; that agent is no
    /// member here until the name is free.
    NameTaken {
        /// The peer.
        node: NodeId,
        /// The group.
        group: AgentId,
        /// The name.
        agent: AgentId,
    },
    /// An agent of a peer that cannot be reached, or an agent there that has ended for certain, has
    /// lost its name in a group here: another one of that name has started elsewhere. If the peer
    /// still has one when it is back, [`NameTaken`](Self::NameTaken) says so.
    NameTakenOver {
        /// The peer that had it.
        node: NodeId,
        /// The group.
        group: AgentId,
        /// The name.
        agent: AgentId,
        /// Where the agent is that has it now.
        by: Holder,
    },
    /// A peer follows other rules in a group, has other voters or quorums, or is of another epoch that is not learned
    /// of: nothing crosses for it. Where epochs are learned of, a diagnosis says of a peer that is
    /// [behind](crate::agent::Finding::OtherListOlder), or [ahead](crate::agent::Finding::ListOlder).
    ///
    /// Of the voters a digest crosses, and no name. Where only the `list` of both sides differs, compare
    /// the names that both hosts' configurations give to
    /// [`AgentBuilder::quorum`](crate::agent::AgentBuilder::quorum), character for character: within one
    /// process [`JoinError::Voters`](crate::group::JoinError::Voters) says which ones differ.
    Mismatch {
        /// The peer.
        node: NodeId,
        /// The group.
        group: AgentId,
        /// What its agents follow.
        theirs: GroupRules,
        /// What the agents here follow.
        mine: GroupRules,
    },
    /// The bridge crashed and was restarted; links are made anew.
    Restarted,
    /// The bridge has ended for good: it was stopped, or crashed too often. No agent of another node is a
    /// member here any more, and the port is free.
    Ended,
    /// Before what is told next: of so many more connections that were refused nothing was told, in the log
    /// neither. Of one address something is told eight times at once, and then once a second; of
    /// all together 64 times at once, and then ten times a second. The counters count all.
    LeftOut {
        /// How many.
        events: u64,
    },
    /// The listener was too slow for so many events.
    Missed {
        /// How many.
        events: u64,
    },
}

/// Where events go.
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

    /// All events from now on; ends with the bridge.
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

/// So many events wait for a slow listener.
const MOST: usize = 256;
