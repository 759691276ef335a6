//! CONDITIONS: the requirements of a side before it links, and the amounts that it accepts afterwards.
//!
//! A side sends its CONDITIONS as soon as it has received the other side's HELLO, which contains the name of the other
//! node. HELLO keeps its form for ever; additions of a version to the handshake are in CONDITIONS.

use bytes::BytesMut;

use super::{Bounds, WireError, frame::kind, read::Cursor, write};
use crate::remote::{Challenge, EndDigest, Limits};

/// The conditions of one side of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LinkConditions {
    /// The challenge that the other side has to include in its proof of a secret; `None`: no proof is required, and
    /// none is given.
    pub challenge: Option<Challenge>,
    /// Limits for the traffic of the other side.
    pub allowance: Allowance,
    /// The digest of the proof that this incarnation of the node has ended for good: the SHA-256 of the bytes that its
    /// sentinel then sends. The digest is used only if it came over a link whose ends have proved their names.
    pub end: Option<EndDigest>,
}

/// The amounts that a side accepts before it closes a link, by its [`Limits`]. The longest frame is in HELLO.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Allowance {
    /// Number of bytes per second in the long run; 64 KiB at least.
    pub rate: u64,
    /// Number of bytes at once on top of the rate; 128 KiB at least.
    pub burst: u64,
    /// The bounds of a message, and the largest number of entries of one array of a frame. Never below the smallest
    /// values of [`Limits`].
    pub bounds: Bounds,
    /// Largest number of groups that the other side may announce.
    pub groups: usize,
    /// Largest number of agents that the other side may announce, in all groups.
    pub agents: usize,
}

impl Allowance {
    /// Smallest value of [`rate`](Self::rate), in bytes per second.
    pub const MIN_RATE: u64 = 64 * 1024;
    /// Smallest value of [`burst`](Self::burst), in bytes.
    pub const MIN_BURST: u64 = 128 * 1024;
    /// Smallest value of [`bounds`](Self::bounds). Every message of an election fits into it.
    pub const MIN_BOUNDS: Bounds = Bounds {
        depth: 4,
        items: 64,
        text: 256,
    };

    /// Returns the allowance of a peer under these limits.
    #[must_use]
    pub fn of(limits: &Limits) -> Self {
        let number = |bytes: usize| u64::try_from(bytes).unwrap_or(u64::MAX);
        Self {
            rate: number(limits.rate()),
            burst: number(limits.burst()),
            bounds: limits.bounds(),
            groups: limits.groups(),
            agents: limits.agents(),
        }
    }

    /// Returns an allowance with the smaller of the two values of each field: the amounts that both sides accept.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self {
            rate: self.rate.min(other.rate),
            burst: self.burst.min(other.burst),
            bounds: Bounds {
                depth: self.bounds.depth.min(other.bounds.depth),
                items: self.bounds.items.min(other.bounds.items),
                text: self.bounds.text.min(other.bounds.text),
            },
            groups: self.groups.min(other.groups),
            agents: self.agents.min(other.agents),
        }
    }

    const fn counts(&self) -> [usize; 4] {
        [
            self.bounds.items,
            self.bounds.text,
            self.groups,
            self.agents,
        ]
    }

    /// Returns whether a link can be used with this allowance: with a smaller allowance, a frame could not be sent at
    /// all, or only once in hours.
    fn is_enough(&self) -> bool {
        let (bounds, least) = (self.bounds, Self::MIN_BOUNDS);
        self.rate >= Self::MIN_RATE
            && self.burst >= Self::MIN_BURST
            && bounds.depth >= least.depth
            && bounds.items >= least.items
            && bounds.text >= least.text
            && self.groups.min(self.agents) >= 1
    }
}

impl LinkConditions {
    pub(super) const ITEMS: usize = 10;

    /// Appends the frame.
    pub fn encode(&self, out: &mut BytesMut) {
        write::frame(out, |out| {
            write::array(out, Self::ITEMS);
            write::unsigned(out, kind::CONDITIONS);
            write_some(self.challenge.map(|challenge| challenge.0), out);
            write::unsigned(out, self.allowance.rate);
            write::unsigned(out, self.allowance.burst);
            write::unsigned(out, self.allowance.bounds.depth.into());
            for count in self.allowance.counts() {
                write::unsigned(out, u64::try_from(count).unwrap_or(u64::MAX));
            }
            write_some(self.end.map(|end| end.0), out);
        });
    }

    /// Reads the rest of the frame after its kind.
    pub(super) fn read(cursor: &mut Cursor<'_>) -> Result<Self, WireError> {
        let conditions = Self {
            challenge: read_some(cursor)?.map(Challenge),
            allowance: Allowance {
                rate: cursor.unsigned()?,
                burst: cursor.unsigned()?,
                bounds: Bounds {
                    depth: cursor.small()?,
                    items: cursor.small()?,
                    text: cursor.small()?,
                },
                groups: cursor.small()?,
                agents: cursor.small()?,
            },
            end: read_some(cursor)?.map(EndDigest),
        };
        let is_enough = conditions.allowance.is_enough();
        is_enough.then_some(conditions).ok_or(WireError::Value)
    }
}

fn write_some(bytes: Option<[u8; 32]>, out: &mut BytesMut) {
    match bytes {
        Some(bytes) => write::bytes(out, &bytes),
        None => write::nil(out),
    }
}

fn read_some(cursor: &mut Cursor<'_>) -> Result<Option<[u8; 32]>, WireError> {
    if cursor.nil() {
        return Ok(None);
    }
    cursor.exactly().map(Some)
}
