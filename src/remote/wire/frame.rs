//! One frame of any kind, and the small frames: READY, PING, PONG, TWIN, GOODBYE.

use bytes::BytesMut;

use super::{Bounds, Hello, LinkConditions, Messages, RosterFrame, WireError, read::Cursor, write};
use crate::remote::{Farewell, LinkId, Proof};

/// The first item of every frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Hello,
    Ready,
    Roster,
    Messages,
    Ping,
    Pong,
    Goodbye,
    Conditions,
    Twin,
}

impl From<Kind> for u64 {
    fn from(kind: Kind) -> Self {
        match kind {
            Kind::Hello => 0,
            Kind::Ready => 1,
            Kind::Roster => 2,
            Kind::Messages => 3,
            Kind::Ping => 4,
            Kind::Pong => 5,
            Kind::Goodbye => 6,
            Kind::Conditions => 7,
            Kind::Twin => 8,
        }
    }
}

/// One decoded frame. Its names and contents are borrowed from the bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Frame<'a> {
    /// The identity of the other side.
    Hello(Hello),
    /// The other side accepts this link.
    Ready {
        /// The link that the other side accepts.
        link: LinkId,
        /// Proofs that it knows the secret, if this side required a proof. One of them has to be right.
        proofs: Vec<Proof>,
    },
    /// The requirements of the other side, and the amounts that it accepts.
    Conditions(LinkConditions),
    /// The agents on the other side.
    Roster(RosterFrame<'a>),
    /// Messages of the agents on the other side.
    Messages(Messages<'a>),
    /// "Are you there?"
    Ping {
        /// The frame's number.
        seq: u64,
        /// A number that the answer has to contain.
        token: u64,
    },
    /// "I am."
    Pong {
        /// The frame's number.
        seq: u64,
        /// The token of the [`Ping`](Self::Ping) that this answers.
        token: u64,
    },
    /// "An earlier process says that it is your node, and I refused it."
    Twin {
        /// The frame's number.
        seq: u64,
    },
    /// "I close this link." No number: it may come at any time.
    Goodbye {
        /// The reason.
        why: Farewell,
    },
}

impl<'a> Frame<'a> {
    /// Reads the body of a frame. Messages and the entries of a roster are read one by one later.
    ///
    /// # Errors
    /// [`WireError`]: close the link.
    pub fn decode(body: &'a [u8], bounds: Bounds) -> Result<Self, WireError> {
        let mut cursor = Cursor::new(body, bounds);
        let items = cursor.array()?;
        let frame = match (cursor.unsigned()?, items) {
            (0, Hello::ITEMS) => Self::Hello(Hello::read(&mut cursor)?),
            (1, 3) => Self::Ready {
                link: LinkId(cursor.exactly()?),
                proofs: read_proofs(&mut cursor)?,
            },
            (2, RosterFrame::ITEMS) => return RosterFrame::read(cursor).map(Self::Roster),
            (3, Messages::ITEMS) => return Messages::read(cursor).map(Self::Messages),
            (4, 3) => Self::Ping {
                seq: cursor.unsigned()?,
                token: cursor.unsigned()?,
            },
            (5, 3) => Self::Pong {
                seq: cursor.unsigned()?,
                token: cursor.unsigned()?,
            },
            (6, 2) => Self::Goodbye {
                why: Farewell::from(cursor.small::<u8>()?),
            },
            (7, LinkConditions::ITEMS) => Self::Conditions(LinkConditions::read(&mut cursor)?),
            (8, 2) => Self::Twin {
                seq: cursor.unsigned()?,
            },
            (0..=8, _) => return Err(WireError::Type),
            _ => return Err(WireError::Kind),
        };
        cursor.end()?;
        Ok(frame)
    }

    /// Returns the frame's number, if its kind has one.
    #[must_use]
    pub const fn seq(&self) -> Option<u64> {
        match self {
            Self::Roster(RosterFrame { seq, .. })
            | Self::Messages(Messages { seq, .. })
            | Self::Twin { seq }
            | Self::Ping { seq, .. }
            | Self::Pong { seq, .. } => Some(*seq),
            Self::Hello(_) | Self::Ready { .. } | Self::Conditions(_) | Self::Goodbye { .. } => {
                None
            }
        }
    }
}

/// Appends READY of a side that does not have to prove anything.
#[cfg(feature = "testkit")]
pub fn encode_ready(link: LinkId, out: &mut BytesMut) {
    encode_proof(link, &[], out);
}

/// Appends READY with proofs; at most [`Proof::MOST`] of them are written.
pub fn encode_proof(link: LinkId, proofs: &[Proof], out: &mut BytesMut) {
    write::frame(out, |out| {
        write::array(out, 3);
        write::unsigned(out, Kind::Ready.into());
        write::short_bytes(out, &link.0);
        write::array(out, proofs.len().min(Proof::MOST));
        for proof in proofs.iter().take(Proof::MOST) {
            write::short_bytes(out, &proof.0);
        }
    });
}

fn read_proofs(cursor: &mut Cursor<'_>) -> Result<Vec<Proof>, WireError> {
    let len = cursor.array()?;
    // To check a proof costs a MAC for each secret, and its sender has proved nothing so far.
    if len > Proof::MOST {
        return Err(WireError::Items);
    }
    (0..len).map(|_| cursor.exactly().map(Proof)).collect()
}

/// Appends PING.
pub fn encode_ping(seq: u64, token: u64, out: &mut BytesMut) {
    encode_token(Kind::Ping, seq, token, out);
}

/// Appends PONG.
pub fn encode_pong(seq: u64, token: u64, out: &mut BytesMut) {
    encode_token(Kind::Pong, seq, token, out);
}

/// Appends TWIN.
pub fn encode_twin(seq: u64, out: &mut BytesMut) {
    write::frame(out, |out| {
        write::array(out, 2);
        write::unsigned(out, Kind::Twin.into());
        write::unsigned(out, seq);
    });
}

/// Appends GOODBYE.
pub fn encode_goodbye(why: Farewell, out: &mut BytesMut) {
    write::frame(out, |out| {
        write::array(out, 2);
        write::unsigned(out, Kind::Goodbye.into());
        write::unsigned(out, why.code().into());
    });
}

fn encode_token(kind: Kind, seq: u64, token: u64, out: &mut BytesMut) {
    write::frame(out, |out| {
        write::array(out, 3);
        write::unsigned(out, kind.into());
        write::unsigned(out, seq);
        write::unsigned(out, token);
    });
}
