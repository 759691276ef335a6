//! One connection, from its first byte to its last: plain tasks on the bridge's own thread.
//!
//! ```text
//!   dial or accept ─▶ security ─▶ HELLO, READY ─▶ may it stay? ─▶ reader │ writer ─▶ goodbye
//!   └────────────── one deadline ────────────┘    (the actor)     until one ends
//! ```
//!
//! Decided here: the order of the steps, and that the end of a connection is always reported once, even after a panic.
//! Not here: which connections exist ([`peer`](crate::remote::bridge::peers)).

mod common;
mod credential;
mod deliver;
mod first_byte;
mod greet;
mod handshake;
mod inbound;
mod numbers;
pub(crate) mod pace;
mod quiet;
mod read;
mod ready;
mod write;

use std::{io, sync::Arc, time::Duration};

use actix::{Addr, clock::timeout};
use bytes::BytesMut;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    sync::oneshot,
};
use tracing::debug;

use crate::protocol::Time;

use crate::remote::{
    Closed, Farewell, Nonce, RemoteBridge,
    bridge::{
        gate::Pass,
        health::LinkTrouble,
        message::{ConnectionEnded, ConnectionOutcome, LinkReady},
        peers::{ConnId, DialError, Origin},
        shared::{BridgeState, PeerState},
    },
    transport::{IncomingStream, Stream},
    wire::encode_goodbye,
};

pub use credential::{Challenge, Credential, EndDigest, Proof};
pub use handshake::{Acquaintance, Established, Handshake, Introduction};
pub use inbound::{FrameVerdict, GroupStanding, Inbound, MessageSender, RosterChange};

use greet::{Failed, Greeted};

/// The origin of a connection.
pub(crate) enum Setup {
    /// This side dials a peer that has an address.
    Dial(Arc<PeerState>),
    /// A connection came in.
    Accept(IncomingStream, Pass),
}

pub(crate) struct Connection {
    pub(crate) shared: Arc<BridgeState>,
    pub(crate) bridge: Addr<RemoteBridge>,
    pub(crate) conn: ConnId,
    pub(crate) nonce: Nonce,
}

impl Connection {
    pub(crate) async fn run(self, setup: Setup) {
        let origin = match &setup {
            Setup::Dial(_) => Origin::Dialled,
            Setup::Accept(..) => Origin::Accepted,
        };
        let node = match &setup {
            Setup::Dial(peer) => Some(peer.node.clone()),
            Setup::Accept(..) => None,
        };
        let mut report = EndReport {
            bridge: self.bridge.clone(),
            ended: Some(ConnectionEnded {
                conn: self.conn,
                node,
                origin,
                // The outcome if this task panics.
                outcome: ConnectionOutcome::Failed(DialError::NoAnswer),
            }),
        };
        let since = self.shared.now();
        match self.greet(setup, since).await {
            Err(failed) => self.refuse(failed, &mut report).await,
            Ok(greeted) => self.live(greeted, origin, &mut report).await,
        }
    }

    /// Handles a connection that failed before it was ready. The other end gets a goodbye, if `failed` contains one.
    async fn refuse(&self, failed: Failed, report: &mut EndReport) {
        let from = failed.from.as_deref().unwrap_or_default();
        let node = report.ended.as_ref().and_then(|ended| ended.node.clone());
        // The failure is noted before the event is sent: a listener that receives the event and then reads the peer's
        // status must find the failure.
        if let Some(node) = &node {
            self.shared.note_failure(node, failed.trouble.clone());
        }
        let outcome = ConnectionOutcome::Failed(failed.dial_error());
        if let LinkTrouble::Closed(why) = failed.trouble {
            self.shared.ended(node.as_ref(), from, why, failed.names);
        }
        // The outcome is reported before the goodbye is sent, because the next attempt to dial need not wait for the
        // goodbye.
        report.outcome(outcome);
        if let Some((stream, farewell)) = failed.parting {
            part(stream, farewell).await;
        }
    }

    /// Runs a link that both sides have accepted.
    async fn live(&self, greeted: Greeted, origin: Origin, report: &mut EndReport) {
        let began = self.shared.now();
        let peer = greeted.link.peer.clone();
        if let Some(ended) = &mut report.ended {
            ended.node = Some(peer.clone());
            // If this task panics from now on, the report is about a lost link, and not about a failed attempt to dial.
            ended.outcome = closed(Closed::Lost, Duration::ZERO);
        }
        let (close, close_request) = oneshot::channel();
        let opened = LinkReady {
            conn: self.conn,
            origin,
            link: greeted.link.clone(),
            close,
        };
        let from = greeted.from.clone();
        let admitted = self.bridge.send(opened).await;
        // If there is no answer, the actor that would manage the link has ended.
        let (why, stream) = match admitted.unwrap_or(Err(Closed::Leaving)) {
            Ok(()) => self.link(greeted, close_request).await,
            Err(why) => (why, greeted.stream),
        };
        debug!(peer = %peer, reason = %why, "link closed");
        self.shared.note_failure(&peer, LinkTrouble::Closed(why));
        self.shared.ended(Some(&peer), &from, why, Vec::new());
        let outcome = closed(why, self.lasted(began));
        // A drain ends with the last report, so its goodbyes have to be sent before that.
        if why != Closed::Leaving {
            report.outcome(outcome); // a redial does not wait for the goodbye
        }
        if why.farewell().is_some() {
            part(stream, why.farewell()).await;
        }
        report.outcome(outcome);
    }

    fn lasted(&self, began: Time) -> Duration {
        self.shared.now().since(began)
    }
}

fn closed(why: Closed, lasted: Duration) -> ConnectionOutcome {
    ConnectionOutcome::Closed { why, lasted }
}

/// Sends a goodbye. Bytes that the other side has sent meanwhile are read and discarded: a close with unread bytes
/// would discard the goodbye.
async fn part(mut stream: Box<dyn Stream>, farewell: Option<Farewell>) {
    let mut word = BytesMut::new();
    if let Some(farewell) = farewell {
        encode_goodbye(farewell, &mut word);
    }
    let goodbye = async {
        stream.write_all(&word).await?;
        stream.shutdown().await?;
        let mut rest = [0; 4096];
        // Without a limit, a peer that continues to send would keep this node reading for the whole of [`LINGER`].
        for _ in 0..MOST_READS {
            if stream.read(&mut rest).await? == 0 {
                break;
            }
        }
        io::Result::Ok(())
    };
    // The connection ends, whether the goodbye arrives or not.
    drop(timeout(LINGER, goodbye).await);
}

/// Reports the end of a connection, even if its task is dropped or panics.
struct EndReport {
    bridge: Addr<RemoteBridge>,
    ended: Option<ConnectionEnded>,
}

impl EndReport {
    /// Reports the end now: the rest of the task only sends a goodbye.
    fn outcome(&mut self, outcome: ConnectionOutcome) {
        if let Some(ended) = self.ended.take() {
            // do_send: one for each connection, which the gate bounds, and every end must be reported.
            self.bridge.do_send(ConnectionEnded { outcome, ..ended });
        }
    }
}

impl Drop for EndReport {
    fn drop(&mut self) {
        if let Some(ended) = self.ended.take() {
            // do_send: one message for each connection, as in `outcome`.
            self.bridge.do_send(ended);
        }
    }
}

/// Time that the other side has to close after a goodbye. Chosen: with far less, a goodbye over a slow network is lost;
/// with far more, strangers hold connections for longer. 64 reads of 4 KiB are four of the longest default frames.
const LINGER: Duration = Duration::from_millis(500);
const MOST_READS: usize = 64;
