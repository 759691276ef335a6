//! The greeting, until both sides are ready: makes the connection, secures it, and runs the handshake.

use std::{io, pin::pin, sync::Arc};

use actix::clock::timeout;
use bytes::BytesMut;
use futures::future::{Either, select};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tracing::warn;

use crate::{
    protocol::{Storage, Time},
    remote::{
        Acquaintance, Closed, Established, Farewell, Handshake, NodeId,
        bridge::{gate::Pass, health::LinkTrouble, peers::DialError, shared::PeerState},
        transport::{Stream, Unsecured},
        wire::{Frames, Hello},
    },
};

use super::{Connection, Setup, first_byte::FirstByte};

/// A connection that both sides accept.
pub(super) struct Greeted {
    pub(super) stream: Box<dyn Stream>,
    pub(super) frames: Frames,
    pub(super) link: Established,
    pub(super) peer: Arc<PeerState>,
    /// The address of the other end, for logs and events.
    pub(super) from: String,
    /// The slot at the gate, held while the connection lasts; `None` if this side dialled.
    pub(super) pass: Option<Pass>,
}

/// A connection that failed before it was ready.
pub(super) struct Failed {
    pub(super) trouble: LinkTrouble,
    pub(super) from: Option<String>,
    /// The names that the other end showed and did not prove, if the connection failed because of them.
    pub(super) names: Vec<String>,
    /// The stream that has to end politely, and the farewell to send on it; `None` without a farewell.
    pub(super) parting: Option<(Box<dyn Stream>, Option<Farewell>)>,
}

impl From<Unsecured> for Failed {
    fn from(unsecured: Unsecured) -> Self {
        let Unsecured {
            why,
            names,
            parting,
        } = unsecured;
        Self {
            names,
            parting,
            ..why.into()
        }
    }
}

impl From<Closed> for Failed {
    fn from(why: Closed) -> Self {
        LinkTrouble::Closed(why).into()
    }
}

impl From<LinkTrouble> for Failed {
    fn from(trouble: LinkTrouble) -> Self {
        Self {
            trouble,
            from: None,
            names: Vec::new(),
            parting: None,
        }
    }
}

impl Failed {
    /// Returns the failure as the result of a dial, for the peer's state machine.
    pub(super) fn dial_error(&self) -> DialError {
        match self.trouble {
            LinkTrouble::NotDialled { is_refused, .. } if is_refused => DialError::Refused,
            LinkTrouble::Closed(Closed::Lost) => DialError::Dropped,
            // A peer that leaves does not refuse this node, so the next dial has no penalty. The next dial has no
            // penalty either if an earlier process has this node's name: if the earlier process was killed, its link
            // ends soon by silence.
            LinkTrouble::NotDialled { .. }
            | LinkTrouble::Closed(
                Closed::HandshakeTimeout
                | Closed::Leaving
                | Closed::NameHeld
                | Closed::Goodbye(Farewell::Leaving | Farewell::NameHeld),
            ) => DialError::NoAnswer,
            LinkTrouble::Closed(Closed::Goodbye(Farewell::Stale)) => DialError::Stale,
            LinkTrouble::Closed(_) => DialError::Rejected,
        }
    }
}

impl Connection {
    /// Greets until both sides are ready, within the limit for the whole greeting.
    pub(super) async fn greet(&self, setup: Setup, since: Time) -> Result<Greeted, Failed> {
        let limit = self.shared.limits.handshake();
        let (stream, dialled, from, pass) = match setup {
            Setup::Accept(arrival, pass) => (arrival.stream, None, arrival.from, Some(pass)),
            Setup::Dial(peer) => {
                let address = peer.address.clone().unwrap_or_default();
                let dialling = timeout(limit, self.shared.transport.dial(&address));
                let dialled = dialling.await.unwrap_or_else(|_| Err(TIMED_OUT.into()));
                let stream = dialled.map_err(|reason| LinkTrouble::dialling(&reason))?;
                (stream, Some(peer.node.clone()), address, None)
            }
        };
        let failed = |failed: Failed| Failed {
            from: Some(from.clone()),
            ..failed
        };
        let rest = limit.saturating_sub(self.shared.now().since(since));
        let met = {
            let meeting = pin!(timeout(
                rest,
                self.meet(stream, dialled, pass.as_ref(), since)
            ));
            match &pass {
                None => meeting.await,
                // Until this connection is ready, a newer connection may take its slot.
                Some(pass) => match select(meeting, pin!(pass.lost())).await {
                    Either::Left((met, _)) => met,
                    Either::Right((why, _)) => Ok(Err(why.into())),
                },
            }
        };
        let met = met.unwrap_or_else(|_| Err(Closed::HandshakeTimeout.into()));
        let (stream, frames, link) = met.map_err(failed)?;
        // The peer may have been removed meanwhile.
        let peer = self.shared.peer(&link.peer);
        let peer = peer.ok_or_else(|| failed(Closed::Auth.into()))?;
        let mut pass = pass;
        if let Some(pass) = &mut pass {
            // The slot may have been lost at the end of the handshake.
            if !pass.ready() {
                return Err(failed(Closed::TooManyConnections.into()));
            }
            // The address is noted only after the handshake, because a stranger that claims a peer's name must not get
            // a peer's slots.
            self.shared.gate.met(&link.peer, &from);
        }
        Ok(Greeted {
            stream,
            frames,
            link,
            peer,
            from,
            pass,
        })
    }

    async fn meet(
        &self,
        stream: Box<dyn Stream>,
        dialled: Option<NodeId>,
        pass: Option<&Pass>,
        since: Time,
    ) -> Result<(Box<dyn Stream>, Frames, Established), Failed> {
        let secured = if let (Some(pass), Some(_)) = (pass, &self.shared.security) {
            // This side waits for the dialler's first byte before the connection waits for a turn. So a silent dialler
            // takes no turn from another connection.
            let first = FirstByte::of(stream, pass).await;
            let stream = Box::new(first.map_err(|_| Closed::Lost)?);
            pass.in_turn(self.secure(stream, None)).await
        } else {
            self.secure(stream, dialled.as_ref()).await
        };
        let (stream, vouched) = secured?;
        self.shake(stream, dialled, vouched, pass, since).await
    }

    /// Secures the stream, if the bridge has TLS. Returns the proved node.
    async fn secure(
        &self,
        stream: Box<dyn Stream>,
        dialled: Option<&NodeId>,
    ) -> Result<(Box<dyn Stream>, Option<NodeId>), Failed> {
        let Some(security) = &self.shared.security else {
            return Ok((stream, None));
        };
        let is_peer = |node: &NodeId| self.shared.peer(node).is_some();
        let (stream, node) = match dialled {
            Some(node) => security.outbound(stream, node).await,
            None => security.inbound(stream, &is_peer).await,
        }?;
        Ok((stream, Some(node)))
    }

    async fn shake(
        &self,
        mut stream: Box<dyn Stream>,
        dialled: Option<NodeId>,
        vouched: Option<NodeId>,
        pass: Option<&Pass>,
        since: Time,
    ) -> Result<(Box<dyn Stream>, Frames, Established), Failed> {
        let shared = &self.shared;
        let mut out = BytesMut::new();
        let limits = &shared.limits;
        let mut me = shared.me.clone();
        me.end = shared.ends.own();
        let mut hands = Handshake::begin(me, self.nonce, dialled, limits, since, &mut out);
        if let Some(credential) = &shared.credential {
            // Each connection has a challenge of its own, so that recorded bytes of another connection prove nothing.
            let challenge = credential.challenge().map_err(|reason| {
                warn!(%reason, "no randomness for a challenge");
                Closed::Lost
            })?;
            hands = hands.asking(Arc::clone(credential), challenge);
        }
        let mut frames = Frames::new(limits);
        let mut unheard = pass;
        let mut claimed = Vec::new();
        let mut look_up = |hello: &Hello| {
            let known = self.acquaintance(hello, vouched.as_ref());
            claimed.extend(known.is_none().then(|| hello.node.to_string()));
            known
        };
        loop {
            say(&mut stream, &mut out).await?;
            let now = shared.now();
            let received = match frames.next(now) {
                Ok(Some(body)) => hands.receive(now, body, &mut look_up, &mut out),
                Ok(None) => {
                    let read = stream.read_buf(frames.room()).await;
                    match read {
                        Ok(0) => Err(Closed::Lost),
                        Ok(_) => {
                            if let Some(pass) = unheard.take() {
                                pass.heard();
                            }
                            continue;
                        }
                        Err(reason) => Err(self.broken(&reason)),
                    }
                }
                Err(why) => Err(why),
            };
            match received {
                Ok(None) => {}
                Ok(Some(link)) => {
                    // The side that accepted the connection proves last.
                    say(&mut stream, &mut out).await?;
                    // Longer frames are allowed only now: a stranger must not make this node store a long frame.
                    frames.raise(limits);
                    return Ok((stream, frames, *link));
                }
                Err(why) => {
                    let is_told = !out.is_empty();
                    return Err(Failed {
                        names: claimed,
                        parting: is_told.then(|| (stream, why.farewell())),
                        ..why.into()
                    });
                }
            }
        }
    }

    /// Returns the reason why the stream broke. A refusal may come late: in TLS 1.3 the dialler learns of it after its
    /// own part of the handshake.
    fn broken(&self, reason: &io::Error) -> Closed {
        let security = self.shared.security.as_ref();
        let fault = security.and_then(|security| security.fault(reason));
        fault.unwrap_or(Closed::Lost)
    }

    /// Returns the data about a node that sends HELLO; `None` if the node may not connect. If the node has a
    /// certificate, the certificate must contain the name in HELLO.
    fn acquaintance(&self, hello: &Hello, vouched: Option<&NodeId>) -> Option<Acquaintance> {
        // A peer with a valid certificate must not use the name of another peer.
        if vouched.is_some_and(|node| *node != hello.node) {
            return None;
        }
        let peer = self.shared.peer(&hello.node)?;
        let (now, forget) = (self.shared.now(), self.shared.forgets_after());
        let (latest, linked, outbox) = {
            let agents = peer.agents();
            let latest = agents.latest_at(now, forget);
            (latest, agents.linked(), Arc::clone(&agents.outbox))
        };
        let mut carried = self.shared.carried.iter().filter_map(|c| c.requirements());
        let is_held = linked.is_some() && carried.any(|of| of.storage == Storage::Refused);
        if is_held && linked < Some(hello.incarnation) {
            outbox.verify(); // asks the earlier process, which may have ended
            peer.health.contest(now);
        }
        if linked > Some(hello.incarnation) {
            outbox.tell_of_twin();
            peer.health.contest(now);
        }
        Some(Acquaintance {
            latest,
            held_by: linked.filter(|_| is_held),
        })
    }
}

async fn say(stream: &mut Box<dyn Stream>, out: &mut BytesMut) -> Result<(), Closed> {
    if !out.is_empty() {
        stream.write_all(out).await.map_err(|_| Closed::Lost)?;
        stream.flush().await.map_err(|_| Closed::Lost)?;
        out.clear();
    }
    Ok(())
}

const TIMED_OUT: io::ErrorKind = io::ErrorKind::TimedOut;
