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
        Acquaintance, Closed, Established, Farewell, Handshake, HandshakeProgress, NodeId,
        advice::advice_to_dial,
        bridge::{gate::Pass, peers::DialError, shared::PeerState},
        transport::{Stream, Unsecured},
        wire::{Frames, Hello},
    },
};

use super::{Connection, Setup, first_byte::FirstByte, goodbye};

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
    /// The reason why the connection was closed; `None` if the dial reached no process.
    pub(super) why: Option<Closed>,
    pub(super) from: Option<String>,
    /// The network's error if the dial failed, and the advice for it.
    pub(super) dial: Option<Box<(String, &'static str)>>,
    /// Whether the host answered that no process listens, so that the peer's agents are suspected at once. Any other
    /// failure may be a fault of the network, and proves nothing about the process.
    is_refused: bool,
    /// The stream and the bytes of a goodbye that is still to be sent; `None` if the other end gets no goodbye.
    pub(super) parting: Option<(Box<dyn Stream>, Vec<u8>)>,
    /// The identity that the other end showed, if the connection failed because of it.
    pub(super) unproven: Option<Box<Unproven>>,
    /// The name that the other end gave, if the connection failed because of it.
    pub(super) claimed: Option<Box<NodeId>>,
}

/// A proof that was not accepted.
pub(super) struct Unproven {
    pub(super) detail: &'static str,
    pub(super) names: Vec<String>,
}

impl From<Unsecured> for Failed {
    fn from(unsecured: Unsecured) -> Self {
        let Unsecured {
            why,
            detail,
            names,
            parting,
        } = unsecured;
        let word = |farewell: Option<Farewell>| farewell.map(goodbye).unwrap_or_default();
        Self {
            parting: parting.map(|(stream, farewell)| (stream, word(farewell))),
            unproven: is_about_identity(why).then(|| Box::new(Unproven { detail, names })),
            ..why.into()
        }
    }
}

impl From<Closed> for Failed {
    fn from(why: Closed) -> Self {
        let unproven = if let Closed::Secret(fault) = why {
            Some(Box::new(Unproven {
                detail: fault.detail(),
                names: Vec::new(),
            }))
        } else {
            None
        };
        Self {
            why: Some(why),
            from: None,
            dial: None,
            is_refused: false,
            parting: None,
            unproven,
            claimed: None,
        }
    }
}

impl Failed {
    fn dial(reason: &io::Error) -> Self {
        // A host may break a connection while its process is being killed. Another dial a moment later shows the end.
        let dropped = [
            io::ErrorKind::ConnectionReset,
            io::ErrorKind::ConnectionAborted,
        ];
        Self {
            why: dropped.contains(&reason.kind()).then_some(Closed::Lost),
            from: None,
            dial: Some(Box::new((reason.to_string(), advice_to_dial(reason)))),
            is_refused: reason.kind() == io::ErrorKind::ConnectionRefused,
            parting: None,
            unproven: None,
            claimed: None,
        }
    }

    /// Returns the failure as the result of a dial, for the peer's state machine.
    pub(super) fn dial_error(&self) -> DialError {
        match self.why {
            None if self.is_refused => DialError::Refused,
            Some(Closed::Lost) => DialError::Dropped,
            // A peer that leaves does not refuse this node, so the next dial has no penalty. The same is true for a
            // name that an earlier process has: if that process was killed, its link ends soon by silence.
            None
            | Some(
                Closed::HandshakeTimeout
                | Closed::Leaving
                | Closed::NameHeld
                | Closed::Goodbye(Farewell::Leaving | Farewell::NameHeld),
            ) => DialError::NoAnswer,
            Some(Closed::Goodbye(Farewell::Stale)) => DialError::Stale,
            Some(_) => DialError::Rejected,
        }
    }
}

/// The side that made the connection.
enum Caller {
    /// This side, which dialled that node.
    Me(Box<dyn Stream>, NodeId),
    Other(FirstByte),
}

impl Connection {
    /// Greets until both sides are ready, within the limit for the whole greeting.
    pub(super) async fn greet(&self, setup: Setup, since: Time) -> Result<Greeted, Failed> {
        let limit = self.shared.limits.handshake();
        let (caller, from, pass) = match setup {
            Setup::Accept(arrival, pass) => {
                let stream = FirstByte::new(arrival.stream, pass.ear());
                (Caller::Other(stream), arrival.from, Some(pass))
            }
            Setup::Dial(peer) => {
                let address = peer.address.clone().unwrap_or_default();
                let dialling = timeout(limit, self.shared.transport.dial(&address));
                let dialled = dialling.await.unwrap_or_else(|_| Err(TIMED_OUT.into()));
                let stream = dialled.map_err(|reason| Failed::dial(&reason))?;
                (Caller::Me(stream, peer.node.clone()), address, None)
            }
        };
        let failed = |failed: Failed| Failed {
            from: Some(from.clone()),
            ..failed
        };
        let rest = limit.saturating_sub(self.shared.now().since(since));
        let met = {
            let meeting = pin!(timeout(rest, self.meet(caller, pass.as_ref(), since)));
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
        caller: Caller,
        pass: Option<&Pass>,
        since: Time,
    ) -> Result<(Box<dyn Stream>, Frames, Established), Failed> {
        let (dialled, secured) = match caller {
            Caller::Me(stream, node) => {
                let secured = self.secure(stream, Some(&node)).await;
                (Some(node), secured)
            }
            Caller::Other(mut stream) => {
                if let (Some(pass), Some(_)) = (pass, &self.shared.security) {
                    // This side waits for the dialler's first byte before the connection waits for a turn. So a silent
                    // dialler takes no turn from another connection.
                    stream.first().await.map_err(|_| Closed::Lost)?;
                    let checked = self.secure(Box::new(stream), None);
                    (None, pass.in_turn(checked).await)
                } else {
                    (None, self.secure(Box::new(stream), None).await)
                }
            }
        };
        let (stream, vouched) = secured?;
        self.shake(stream, dialled, vouched, since).await
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
        let mut claimed = None;
        let mut look_up = |hello: &Hello| {
            let known = self.acquaintance(hello, vouched.as_ref());
            claimed = known.is_none().then(|| Box::new(hello.node.clone()));
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
                        Ok(_) => continue,
                        Err(reason) => Err(self.broken(&reason)),
                    }
                }
                Err(why) => Err(why),
            };
            match received {
                Ok(HandshakeProgress::Waiting) => {}
                Ok(HandshakeProgress::Ready(link)) => {
                    // The side that accepted the connection proves last.
                    say(&mut stream, &mut out).await?;
                    // Longer frames are allowed only now: a stranger must not make this node store a long frame.
                    frames.raise(limits);
                    return Ok((stream, frames, *link));
                }
                Err(why) => {
                    let parting = (!out.is_empty()).then(|| (stream, out.to_vec()));
                    return Err(Failed {
                        parting,
                        claimed,
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

    /// Returns the data about a node that sends HELLO; `None` if it may not connect. If it has a certificate, the name
    /// in the certificate counts.
    fn acquaintance(&self, hello: &Hello, vouched: Option<&NodeId>) -> Option<Acquaintance> {
        // A valid certificate of one peer must not let it speak as another.
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
            rights: peer.rights.get(),
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

/// Returns whether the reason means that another node than the expected one is at the other end.
const fn is_about_identity(why: Closed) -> bool {
    if let Closed::Certificate(fault) = why {
        return fault.is_of_peer();
    }
    matches!(why, Closed::Auth)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::remote::CertificateFault;

    /// Any client can send the alert that reports it.
    #[test]
    fn a_peer_that_refuses_the_certificate_here_is_not_suspected() {
        for (why, expected) in [
            (Closed::Auth, true),
            (Closed::Certificate(CertificateFault::Authority), true),
            (Closed::Certificate(CertificateFault::Stranger), true),
            (Closed::Certificate(CertificateFault::OwnAuthority), false),
            (Closed::Certificate(CertificateFault::OwnDates), false),
            (Closed::Certificate(CertificateFault::OwnRefused), false),
            (Closed::Tls, false),
            (Closed::Lost, false),
        ] {
            assert_eq!(is_about_identity(why), expected, "{why}");
        }
    }
}
