//! One frame of any kind, and the small frames: READY, PING, PONG, TWIN, GOODBYE.

use bytes::BytesMut;

use super::{Bounds, Hello, LinkConditions, Messages, RosterFrame, WireError, read::Cursor, write};
use crate::remote::{Farewell, LinkId, Proof};

/// The first item of every frame.
pub(super) mod kind {
    pub(in crate::remote::wire) const HELLO: u64 = 0;
    pub(in crate::remote::wire) const READY: u64 = 1;
    pub(in crate::remote::wire) const ROSTER: u64 = 2;
    pub(in crate::remote::wire) const MESSAGES: u64 = 3;
    pub(in crate::remote::wire) const PING: u64 = 4;
    pub(in crate::remote::wire) const PONG: u64 = 5;
    pub(in crate::remote::wire) const GOODBYE: u64 = 6;
    pub(in crate::remote::wire) const CONDITIONS: u64 = 7;
    pub(in crate::remote::wire) const TWIN: u64 = 8;
}

/// One decoded frame. Its names and content are borrowed from the bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Frame<'a> {
    /// The identity of the other side.
    Hello(Hello),
    /// The other side accepts this link.
    Ready {
        /// The link that the other side accepts.
        link: LinkId,
        /// Proofs that the other side knows the secret, if this side required a proof. One of them has to be right.
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
        /// The token of the [`Ping`](Self::Ping) to which this is the answer.
        token: u64,
    },
    /// "An earlier process claims to be your node, and I refused it."
    Twin {
        /// The frame's number.
        seq: u64,
    },
    /// "I close this link." The frame has no number, because it may come at any time.
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
            (kind::HELLO, Hello::ITEMS) => Self::Hello(Hello::read(&mut cursor)?),
            (kind::READY, 3) => Self::Ready {
                link: LinkId(cursor.exactly()?),
                proofs: read_proofs(&mut cursor)?,
            },
            (kind::ROSTER, RosterFrame::ITEMS) => {
                return RosterFrame::read(cursor).map(Self::Roster);
            }
            (kind::MESSAGES, Messages::ITEMS) => return Messages::read(cursor).map(Self::Messages),
            (kind::PING, 3) => Self::Ping {
                seq: cursor.unsigned()?,
                token: cursor.unsigned()?,
            },
            (kind::PONG, 3) => Self::Pong {
                seq: cursor.unsigned()?,
                token: cursor.unsigned()?,
            },
            (kind::GOODBYE, 2) => Self::Goodbye {
                why: Farewell::from(cursor.small::<u8>()?),
            },
            (kind::CONDITIONS, LinkConditions::ITEMS) => {
                Self::Conditions(LinkConditions::read(&mut cursor)?)
            }
            (kind::TWIN, 2) => Self::Twin {
                seq: cursor.unsigned()?,
            },
            (kind::HELLO..=kind::TWIN, _) => return Err(WireError::Type),
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

/// Appends READY with proofs; at most [`Proof::MOST`] of them are written.
pub fn encode_proof(link: LinkId, proofs: &[Proof], out: &mut BytesMut) {
    write::frame(out, |out| {
        write::array(out, 3);
        write::unsigned(out, kind::READY);
        write::bytes(out, &link.0);
        write::array(out, proofs.len().min(Proof::MOST));
        for proof in proofs.iter().take(Proof::MOST) {
            write::bytes(out, &proof.0);
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
    encode_token(kind::PING, seq, token, out);
}

/// Appends PONG.
pub fn encode_pong(seq: u64, token: u64, out: &mut BytesMut) {
    encode_token(kind::PONG, seq, token, out);
}

/// Appends TWIN.
pub fn encode_twin(seq: u64, out: &mut BytesMut) {
    write::frame(out, |out| {
        write::array(out, 2);
        write::unsigned(out, kind::TWIN);
        write::unsigned(out, seq);
    });
}

/// Appends GOODBYE.
pub fn encode_goodbye(why: Farewell, out: &mut BytesMut) {
    write::frame(out, |out| {
        write::array(out, 2);
        write::unsigned(out, kind::GOODBYE);
        write::unsigned(out, why.code().into());
    });
}

fn encode_token(kind: u64, seq: u64, token: u64, out: &mut BytesMut) {
    write::frame(out, |out| {
        write::array(out, 3);
        write::unsigned(out, kind);
        write::unsigned(out, seq);
        write::unsigned(out, token);
    });
}
