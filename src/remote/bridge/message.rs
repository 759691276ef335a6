//! What the parts of a bridge say to its actor.

use std::time::Duration;

use actix::Message;
use tokio::sync::oneshot;

use super::gate::Pass;
use crate::remote::{
    Closed, Established, NodeId,
    bridge::peers::{ConnId, DialError, Origin},
    transport::IncomingStream,
};

/// A connection has been accepted by both sides. The answer says whether it stays.
#[derive(Debug, Message)]
#[rtype(result = "Result<(), Closed>")]
pub(crate) struct LinkReady {
    pub(crate) conn: ConnId,
    pub(crate) origin: Origin,
    pub(crate) link: Established,
    /// Closes the connection, after what waits has been sent.
    pub(crate) close: oneshot::Sender<Closed>,
}

/// A connection is over, or never came to be. Said once of each, whatever happens.
#[derive(Debug, Message)]
#[rtype(result = "()")]
pub(crate) struct ConnectionEnded {
    pub(crate) conn: ConnId,
    /// The node that was dialled, or the one that it was.
    pub(crate) node: Option<NodeId>,
    pub(crate) origin: Origin,
    pub(crate) outcome: ConnectionOutcome,
}

/// How a connection ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ConnectionOutcome {
    /// Before it was ready.
    Failed(DialError),
    /// After it was ready for that long.
    Closed { why: Closed, lasted: Duration },
}

/// A connection came in.
#[derive(Message)]
#[rtype(result = "()")]
pub(crate) struct Accepted(pub(crate) IncomingStream, pub(crate) Pass);

/// A peer was added. One that the actor found when it started is looked after already.
#[derive(Debug, Message)]
#[rtype(result = "()")]
pub(crate) struct AddPeer(pub(crate) NodeId);

/// A peer was removed.
#[derive(Debug, Message)]
#[rtype(result = "()")]
pub(crate) struct RemovePeer(pub(crate) NodeId);

/// The bridge says goodbye to every peer and takes no connection; the answer comes when all links are
/// closed.
#[derive(Debug, Message)]
#[rtype(result = "()")]
pub(crate) struct DrainLinks;

/// Every link is made anew: what each side says of itself at the beginning has changed.
#[derive(Debug, Message)]
#[rtype(result = "()")]
#[cfg_attr(
    not(feature = "sentinel"),
    allow(dead_code, reason = "only sentinels change")
)]
pub(crate) struct Relink;

/// The bridge ends.
#[derive(Debug, Message)]
#[rtype(result = "()")]
pub(crate) struct Stop;
