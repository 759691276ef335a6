//! The first frames of a connection: who is it, and which link is this?
//!
//! ```text
//!    this side                                   the other side
//!      begin ──────────── HELLO ───────────┐
//!            ┌─────────── HELLO ───────────┼──── begin         both at once
//!            ▼                             ▼
//!      1 one of our versions?         (the same checks)
//!      2 our cluster?
//!      3 not ourselves?
//!      4 all required features?
//!      5 whom we dialled, in the table, vouched for by the certificate?
//!      6 its newest life?
//!            │ no: GOODBYE(why), close
//!            └─────────── READY(link) ───▶ the same link? ready
//!      the same link? ◀── READY(link) ────────┘
//!      ready
//! ```
//!
//! Decided here: the order of the checks, and what each refusal is called. Not here: the peer
//! table, the certificate, which of two links to a peer stays.

use bytes::BytesMut;

use super::{
    Closed, ClusterId, Limits, LinkId, NodeId, NodeIncarnation, Nonce, Rights,
    wire::{self, Bounds, Features, Frame, Hello, Versions},
};
use crate::protocol::Time;

/// Who this side is: the same for all its connections.
#[derive(Clone, Debug)]
pub struct Introduction {
    /// Its name.
    pub node: NodeId,
    /// Its cluster.
    pub cluster: ClusterId,
    /// Its life.
    pub incarnation: NodeIncarnation,
    /// What it speaks; [`Versions::OURS`].
    pub versions: Versions,
    /// What it can do; [`Features::OURS`].
    pub features: Features,
    /// What the other side must be able to do.
    pub required: Features,
}

impl Introduction {
    /// With the versions and features of this release.
    #[must_use]
    pub fn new(node: NodeId, cluster: ClusterId, incarnation: NodeIncarnation) -> Self {
        Self {
            node,
            cluster,
            incarnation,
            versions: Versions::OURS,
            features: Features::OURS,
            required: Features::default(),
        }
    }
}

/// What is known here of a node that says HELLO, and that may connect.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Acquaintance {
    /// What it may announce.
    pub rights: Rights,
    /// The latest life of it that was ever met, if any.
    pub latest: Option<NodeIncarnation>,
}

/// One side of the handshake of one connection.
///
/// # How a driver uses it
/// 1. [`begin`](Self::begin) when the connection is made (and TLS is done); send what it wrote.
/// 2. Give each frame's body to [`receive`](Self::receive); send what it wrote, *also* before
///    closing when it failed. On [`Progress::Ready`] call
///    [`Frames::raise`](super::wire::Frames::raise) and go on with an
///    [`Inbound`](super::Inbound).
/// 3. At [`deadline`](Self::deadline) close with [`Closed::HandshakeTimeout`].
#[derive(Debug)]
pub struct Handshake {
    me: Introduction,
    nonce: Nonce,
    dialled: Option<NodeId>,
    bounds: Bounds,
    deadline: Time,
    state: State,
}

#[derive(Debug)]
enum State {
    /// HELLO was sent.
    Greeting,
    /// READY was sent: the other side is this one.
    Accepting(Box<Established>),
    /// It ended, one way or the other.
    Over,
}

/// How far a handshake is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Progress {
    /// More frames are needed.
    Waiting,
    /// The link is ready.
    Ready(Box<Established>),
}

/// A link that both sides accept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Established {
    /// The other side.
    pub peer: NodeId,
    /// Its life.
    pub incarnation: NodeIncarnation,
    /// The link.
    pub link: LinkId,
    /// The version both speak.
    pub version: u16,
    /// What both can do.
    pub features: Features,
    /// The longest frame that the other side takes, in bytes.
    pub frame: usize,
    /// What the other side may announce.
    pub rights: Rights,
}

impl Handshake {
    /// Begins: writes HELLO to `out`.
    ///
    /// `dialled` is who should answer, if this side made the connection. `since` is when the
    /// connection was made: TLS counts towards the limit.
    pub fn begin(
        me: Introduction,
        nonce: Nonce,
        dialled: Option<NodeId>,
        limits: &Limits,
        since: Time,
        out: &mut BytesMut,
    ) -> Self {
        Hello {
            versions: me.versions,
            cluster: me.cluster.clone(),
            node: me.node.clone(),
            incarnation: me.incarnation,
            nonce,
            frame: u32::try_from(limits.frame()).unwrap_or(u32::MAX),
            features: me.features,
            required: me.required,
        }
        .encode(out);
        Self {
            me,
            nonce,
            dialled,
            bounds: limits.bounds(),
            deadline: since.after(limits.handshake()),
            state: State::Greeting,
        }
    }

    /// When to give up.
    #[must_use]
    pub fn deadline(&self) -> Time {
        self.deadline
    }

    /// Takes the body of a frame; what is to be sent is appended to `out`.
    ///
    /// `who` is asked once, for a node that passed all other checks: `None` if it is not in the
    /// table, or is not whom the connection's certificate names.
    ///
    /// # Errors
    /// Why to close the connection; `out` may hold a GOODBYE to be sent before. Nothing more is
    /// taken afterwards.
    pub fn receive(
        &mut self,
        now: Time,
        body: &[u8],
        who: impl FnOnce(&Hello) -> Option<Acquaintance>,
        out: &mut BytesMut,
    ) -> Result<Progress, Closed> {
        let state = std::mem::replace(&mut self.state, State::Over);
        let next = self.step(now, state, body, who, out);
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
        &self,
        now: Time,
        state: State,
        body: &[u8],
        who: impl FnOnce(&Hello) -> Option<Acquaintance>,
        out: &mut BytesMut,
    ) -> Result<(State, Progress), Closed> {
        if now >= self.deadline {
            return Err(Closed::HandshakeTimeout);
        }
        match (state, Frame::decode(body, self.bounds)?) {
            (State::Greeting, Frame::Hello(hello)) => {
                let established = self.judge(&hello, who)?;
                wire::encode_ready(established.link, out);
                Ok((State::Accepting(Box::new(established)), Progress::Waiting))
            }
            (State::Accepting(established), Frame::Ready { link }) => {
                if link != established.link {
                    return Err(Closed::WrongLink);
                }
                Ok((State::Over, Progress::Ready(established)))
            }
            (State::Greeting | State::Accepting(_), Frame::Goodbye { why }) => {
                Err(Closed::Goodbye(why))
            }
            _ => Err(Closed::Protocol),
        }
    }

    fn judge(
        &self,
        hello: &Hello,
        who: impl FnOnce(&Hello) -> Option<Acquaintance>,
    ) -> Result<Established, Closed> {
        let me = &self.me;
        let version = me.versions.common(hello.versions).ok_or(Closed::Version)?;
        if hello.cluster != me.cluster {
            return Err(Closed::Cluster);
        }
        if hello.node == me.node {
            return Err(Closed::IsSelf);
        }
        if !me.features.has(hello.required) || !hello.features.has(me.required) {
            return Err(Closed::Feature);
        }
        if self
            .dialled
            .as_ref()
            .is_some_and(|node| *node != hello.node)
        {
            return Err(Closed::Auth);
        }
        let Acquaintance { rights, latest } = who(hello).ok_or(Closed::Auth)?;
        if latest.is_some_and(|latest| latest > hello.incarnation) {
            return Err(Closed::Stale);
        }
        Ok(Established {
            peer: hello.node.clone(),
            incarnation: hello.incarnation,
            link: LinkId::between((&me.node, self.nonce), (&hello.node, hello.nonce)),
            version,
            features: me.features.and(hello.features),
            frame: usize::try_from(hello.frame).unwrap_or(usize::MAX),
            rights,
        })
    }
}
