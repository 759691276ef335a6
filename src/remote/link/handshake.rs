//! The first frames of a connection: they decide which node the peer is, and which link this is.
//!
//! ```text
//!    this side                                   the other side
//!      begin ──────────── HELLO ───────────┐
//!            ┌─────────── HELLO ───────────┼──── begin         both at once
//!            ▼                             ▼
//!      1 one of our versions?         (the same checks)
//!      2 our cluster?
//!      3 not ourselves?
//!      4 the node that was dialled, in the table, vouched for by the certificate?
//!      5 its newest incarnation?
//!            │ no: GOODBYE(why), close
//!            ├─────── CONDITIONS ──────────┐
//!            ┌─────── CONDITIONS ──────────┤                     both at once
//!            ▼                             ▼
//!      6 both ask for a proof, or neither does?
//!            │ no: GOODBYE(secret), close
//!            ├── READY(link, proofs) ─────▶│
//!            │                             7 is one of the proofs right?
//!            │                             8 the same link? ready
//!            │◀──── READY(link, proofs) ───┘
//!      7, 8 the same: ready
//! ```
//!
//! Without a secret both sides send READY at once. With a secret, the side that accepted the connection sends READY
//! only after the other side's proof was right. So a stranger that can dial a port gets no proof on which to try
//! secrets.
//!
//! Decided here: the order of the checks, and the reason given for each refusal. Not here: the peer table, the
//! certificate, how a proof is made, which of two links to a peer stays.

use std::sync::Arc;

use bytes::BytesMut;

use crate::protocol::Time;
use crate::remote::{
    Challenge, Closed, ClusterId, Credential, EndDigest, Limits, LinkId, NodeId, NodeIncarnation,
    Nonce, Proof, SecretFault,
    link::credential::Transcript,
    wire::{self, Allowance, Bounds, Frame, Hello, LinkConditions, Versions},
};

/// The data of the node on this side, which are the same for all its connections.
#[derive(Clone, Debug)]
pub struct Introduction {
    /// Name of the node.
    pub node: NodeId,
    /// Cluster of the node.
    pub cluster: ClusterId,
    /// Incarnation of the node.
    pub incarnation: NodeIncarnation,
    /// The versions of the protocol that the node speaks; [`Versions::OURS`].
    pub versions: Versions,
    /// The digest by which other nodes will recognize that this incarnation has ended for good; `None` without a
    /// sentinel.
    pub end: Option<EndDigest>,
}

impl Introduction {
    /// Returns an introduction with the versions of this release.
    #[must_use]
    pub fn new(node: NodeId, cluster: ClusterId, incarnation: NodeIncarnation) -> Self {
        Self {
            node,
            cluster,
            incarnation,
            versions: Versions::OURS,
            end: None,
        }
    }
}

/// The data of this side about a node that sends HELLO and may connect.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Acquaintance {
    /// The latest incarnation of the node that this side ever met; `None` before the first.
    pub latest: Option<NodeIncarnation>,
    /// The linked incarnation of the node, if a later incarnation may not replace it while its process runs. This rule
    /// holds for voters without a disk: two incarnations would be two voters under one name.
    pub held_by: Option<NodeIncarnation>,
}

/// One side of the handshake of one connection.
///
/// 1. [`begin`](Self::begin) when the connection is made (and TLS is done), then [`asking`](Self::asking) if there is a
///    secret; send the bytes that they wrote.
/// 2. Give each frame's body to [`receive`](Self::receive). Send the bytes that it wrote, *also* when it makes the link
///    ready, and before you close the connection after an error. When it returns the link, call
///    [`Frames::raise`](crate::remote::wire::Frames::raise) and continue with an [`Inbound`](crate::remote::Inbound).
/// 3. At [`deadline`](Self::deadline) close with `Closed::HandshakeTimeout`.
#[derive(Debug)]
pub struct Handshake {
    me: Introduction,
    nonce: Nonce,
    dialled: Option<NodeId>,
    bounds: Bounds,
    allowance: Allowance,
    deadline: Time,
    /// The credential that makes and checks proofs, and this side's challenge, if it asks for a proof.
    asking: Option<(Arc<dyn Credential>, Challenge)>,
    transcript: Transcript,
    state: HandshakeState,
}

#[derive(Debug)]
enum HandshakeState {
    /// HELLO was sent.
    Greeting,
    /// CONDITIONS were sent. The value is the link with the node that the other side claims to be.
    Agreeing(Box<Established>),
    /// The conditions of both sides are known. READY was sent, or waits for the other side's proof.
    Accepting(Box<Established>),
    /// The handshake has ended, with a link or with an error.
    Over,
}

/// A link that both sides accept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Established {
    /// The other side.
    pub peer: NodeId,
    /// Incarnation of the other side.
    pub incarnation: NodeIncarnation,
    /// The link.
    pub link: LinkId,
    /// The version that both sides speak.
    pub version: u16,
    /// The longest frame that the other side takes, in bytes.
    pub frame: usize,
    /// The rates and numbers beyond which the other side closes the link.
    pub allowance: Allowance,
    /// The digest by which this side will recognize the end of the other side's process; `None` if the other side gave
    /// no digest.
    pub end: Option<EndDigest>,
}

impl Handshake {
    /// Begins a handshake: writes HELLO to `out`.
    ///
    /// `dialled` is the node that should answer, if this side made the connection. `since` is the time at which the
    /// connection was made: TLS counts towards the limit.
    pub fn begin(
        me: Introduction,
        nonce: Nonce,
        dialled: Option<NodeId>,
        limits: &Limits,
        since: Time,
        out: &mut BytesMut,
    ) -> Self {
        let mut hello = BytesMut::new();
        Hello {
            versions: me.versions,
            cluster: me.cluster.clone(),
            node: me.node.clone(),
            incarnation: me.incarnation,
            nonce,
            frame: u32::try_from(limits.frame()).unwrap_or(u32::MAX),
        }
        .encode(&mut hello);
        out.extend_from_slice(&hello);
        Self {
            me,
            nonce,
            dialled,
            bounds: limits.bounds(),
            allowance: Allowance::of(limits),
            deadline: since.after(limits.handshake()),
            asking: None,
            transcript: Transcript {
                here: hello.to_vec(),
                there: Vec::new(),
            },
            state: HandshakeState::Greeting,
        }
    }

    /// Makes both sides prove that they know the secret, and whether they dialled or accepted. A peer that asks for no
    /// proof is refused.
    ///
    /// Call this method before [`receive`](Self::receive), with a challenge generated for this connection alone.
    #[must_use]
    pub fn asking(mut self, credential: Arc<dyn Credential>, challenge: Challenge) -> Self {
        self.asking = Some((credential, challenge));
        self
    }

    /// Returns the time at which the handshake fails if it has not ended.
    #[cfg(feature = "testkit")]
    #[must_use]
    pub fn deadline(&self) -> Time {
        self.deadline
    }

    /// Handles the body of a frame; appends the answer to `out`.
    ///
    /// `look_up` is called once, for a node that passed all other checks. It returns `None` if the node is not in the
    /// table, or if the connection's certificate names another node.
    ///
    /// # Errors
    /// The reason to close the connection. `out` may contain a GOODBYE: send it before. After an error no more frames
    /// are handled.
    pub fn receive(
        &mut self,
        now: Time,
        body: &[u8],
        look_up: impl FnOnce(&Hello) -> Option<Acquaintance>,
        out: &mut BytesMut,
    ) -> Result<Option<Box<Established>>, Closed> {
        // A step that fails ends the handshake: a stranger has only one try at a proof.
        let state = std::mem::replace(&mut self.state, HandshakeState::Over);
        let next = self.step(now, state, body, look_up, out);
        match next {
            Ok((state, progress)) => {
                self.state = state;
                Ok(progress)
            }
            Err(why) => {
                if let Some(farewell) = why.farewell() {
                    wire::encode_goodbye(farewell, out);
                }
                Err(why)
            }
        }
    }

    fn step(
        &mut self,
        now: Time,
        state: HandshakeState,
        body: &[u8],
        look_up: impl FnOnce(&Hello) -> Option<Acquaintance>,
        out: &mut BytesMut,
    ) -> Result<(HandshakeState, Option<Box<Established>>), Closed> {
        if now >= self.deadline {
            // The driver's timer may be late: no link is made after the deadline in any case.
            return Err(Closed::HandshakeTimeout);
        }
        match (state, Frame::decode(body, self.bounds)?) {
            (HandshakeState::Greeting, Frame::Hello(hello)) => {
                let established = self.judge(&hello, look_up)?;
                self.transcript.hear(body);
                self.state_conditions(out);
                Ok((HandshakeState::Agreeing(Box::new(established)), None))
            }
            (HandshakeState::Agreeing(mut established), Frame::Conditions(conditions)) => {
                self.agree(&conditions)?;
                self.transcript.hear(body);
                established.allowance = conditions.allowance;
                established.end = conditions.end;
                if !self.proves_last() {
                    self.accept(established.link, out);
                }
                Ok((HandshakeState::Accepting(established), None))
            }
            (HandshakeState::Accepting(established), Frame::Ready { link, proofs }) => {
                self.believe(&proofs)?;
                // The name of a link depends on both nonces, so a READY that was recorded on another link contains
                // another name.
                if link != established.link {
                    return Err(Closed::WrongLink);
                }
                if self.proves_last() {
                    self.accept(link, out);
                }
                Ok((HandshakeState::Over, Some(established)))
            }
            (
                HandshakeState::Greeting
                | HandshakeState::Agreeing(_)
                | HandshakeState::Accepting(_),
                Frame::Goodbye { why },
            ) => Err(Closed::Goodbye(why)),
            _ => Err(Closed::Protocol),
        }
    }

    fn state_conditions(&mut self, out: &mut BytesMut) {
        let mut conditions = BytesMut::new();
        LinkConditions {
            challenge: self.asking.as_ref().map(|(_, challenge)| *challenge),
            allowance: self.allowance,
            end: self.me.end,
        }
        .encode(&mut conditions);
        self.transcript.here.extend_from_slice(&conditions);
        out.extend_from_slice(&conditions);
    }

    /// A peer that asks for no proof gives no proof. To accept that peer would make the secret optional.
    fn agree(&self, conditions: &LinkConditions) -> Result<(), Closed> {
        match (&self.asking, conditions.challenge) {
            (Some(_), Some(_)) | (None, None) => Ok(()),
            (Some(_), None) => Err(Closed::Secret(SecretFault::NotThere)),
            (None, Some(_)) => Err(Closed::Secret(SecretFault::NotHere)),
        }
    }

    /// Writes READY, with proofs if the sides ask for them.
    fn accept(&self, link: LinkId, out: &mut BytesMut) {
        let proofs = self.asking.as_ref().map(|(credential, _)| {
            let dialled = self.has_dialled();
            credential.prove(&self.transcript.ours(dialled))
        });
        wire::encode_proof(link, &proofs.unwrap_or_default(), out);
    }

    fn believe(&self, proofs: &[Proof]) -> Result<(), Closed> {
        let Some((credential, _)) = &self.asking else {
            // A proof that was not asked for is an error.
            return proofs.is_empty().then_some(()).ok_or(Closed::Protocol);
        };
        let dialled = self.has_dialled();
        let statement = self.transcript.theirs(dialled);
        if credential.accepts(&statement, proofs) {
            Ok(())
        } else {
            Err(Closed::Secret(SecretFault::Unproved))
        }
    }

    const fn has_dialled(&self) -> bool {
        self.dialled.is_some()
    }

    fn proves_last(&self) -> bool {
        self.asking.is_some() && !self.has_dialled()
    }

    fn judge(
        &self,
        hello: &Hello,
        look_up: impl FnOnce(&Hello) -> Option<Acquaintance>,
    ) -> Result<Established, Closed> {
        let me = &self.me;
        let version = me.versions.common(hello.versions).ok_or(Closed::Version)?;
        if hello.cluster != me.cluster {
            return Err(Closed::Cluster);
        }
        // This check comes before the check of the dialled name, because an address that leads back to this node must
        // get the reason `IsSelf`, and not `OtherNode`.
        if hello.node == me.node {
            return Err(Closed::IsSelf);
        }
        if self
            .dialled
            .as_ref()
            .is_some_and(|node| *node != hello.node)
        {
            return Err(Closed::OtherNode);
        }
        let Acquaintance { latest, held_by } = look_up(hello).ok_or(Closed::Auth)?;
        // The same incarnation is welcome: its link broke, and it connects again.
        if latest.is_some_and(|latest| latest > hello.incarnation) {
            return Err(Closed::Stale);
        }
        let is_held = held_by.is_some_and(|held_by| held_by < hello.incarnation);
        if is_held {
            return Err(Closed::NameHeld);
        }
        Ok(Established {
            peer: hello.node.clone(),
            incarnation: hello.incarnation,
            link: LinkId::between((&me.node, self.nonce), (&hello.node, hello.nonce)),
            version,
            frame: usize::try_from(hello.frame).unwrap_or(usize::MAX),
            // The default, until the peer's CONDITIONS arrive with its own allowance.
            allowance: self.allowance.and(Allowance::of(&Limits::default())),
            end: None,
        })
    }
}
