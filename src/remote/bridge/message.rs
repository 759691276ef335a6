//! Messages from the parts of a bridge to its actor.

use std::time::Duration;

use actix::Message;
use tokio::sync::oneshot;

use super::gate::Pass;
use crate::remote::{
    Closed, Established, NodeId,
    bridge::peers::{ConnId, DialError, Origin},
    transport::IncomingStream,
};

/// Both sides have accepted a connection. The answer decides whether the connection stays.
#[derive(Debug, Message)]
#[rtype(result = "Result<(), Closed>")]
pub(crate) struct LinkReady {
    pub(crate) conn: ConnId,
    pub(crate) origin: Origin,
    pub(crate) link: Established,
    /// Orders the connection to close, after the waiting messages have been sent.
    pub(crate) close: oneshot::Sender<Closed>,
}

/// A connection has ended, or was never made. This message is sent exactly once for each connection.
#[derive(Debug, Message)]
#[rtype(result = "()")]
pub(crate) struct ConnectionEnded {
    pub(crate) conn: ConnId,
    /// The node that was dialled, or the node that connected; `None` if the other end is not known.
    pub(crate) node: Option<NodeId>,
    pub(crate) origin: Origin,
    pub(crate) outcome: ConnectionOutcome,
}

/// The way in which a connection ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ConnectionOutcome {
    /// The connection ended before it was ready.
    Failed(DialError),
    /// The connection ended after it was ready for the time `lasted`.
    Closed { why: Closed, lasted: Duration },
}

#[derive(Message)]
#[rtype(result = "()")]
pub(crate) struct Accepted(pub(crate) IncomingStream, pub(crate) Pass);

/// A peer was added. The actor already watches the peers that existed at its start.
#[derive(Debug, Message)]
#[rtype(result = "()")]
pub(crate) struct AddPeer(pub(crate) NodeId);

#[derive(Debug, Message)]
#[rtype(result = "()")]
pub(crate) struct RemovePeer(pub(crate) NodeId);

/// Orders the bridge to say goodbye to every peer and to accept no connection. The answer comes when all links are
/// closed.
#[derive(Debug, Message)]
#[rtype(result = "()")]
pub(crate) struct DrainLinks;

/// Orders the bridge to make all links again, because a fact that each side sends at the beginning of a link has
/// changed.
#[derive(Debug, Message)]
#[rtype(result = "()")]
#[cfg_attr(
    not(feature = "sentinel"),
    allow(dead_code, reason = "only sentinels change")
)]
pub(crate) struct Relink;

#[derive(Debug, Message)]
#[rtype(result = "()")]
pub(crate) struct Stop;
