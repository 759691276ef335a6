//! CONDITIONS: on what a side insists before it links, and how much it takes afterwards.
//!
//! Sent once a side knows by its HELLO which node the other one is. HELLO keeps its form for ever; what a
//! version adds to the handshake is here.

use bytes::BytesMut;

use super::{Bounds, WireError, frame::Kind, read::Cursor, write};
use crate::remote::{Challenge, EndDigest, Limits};

/// The conditions of one side of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LinkConditions {
    /// The other side has to prove that it knows a secret, and to bind this into its proof; `None`:
    /// nothing is asked for, and nothing is proved.
    pub challenge: Option<Challenge>,
    /// What the other side may send.
    pub allowance: Allowance,
    /// By which a later word is known that this incarnation of the node has ended for good: the SHA-256 of what its
    /// sentinel says then. Only what comes over a link that was proved counts.
    pub end: Option<EndDigest>,
}

/// How much a side takes before it closes a link for it, as its [`Limits`] say. The longest frame is in HELLO.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Allowance {
    /// Bytes per second in the long run; 64 KiB at least.
    pub rate: u64,
    /// Bytes at once on top of that; 128 KiB at least.
    pub burst: u64,
    /// What a message may be made of, and the most entries of one array of a frame. No less than the least that
    /// [`Limits`] may be set to.
    pub bounds: Bounds,
    /// The most groups that the other side may announce.
    pub groups: usize,
    /// The most agents that it may announce, in all groups.
    pub agents: usize,
}

impl Allowance {
    /// The smallest that [`rate`](Self::rate) may be, in bytes per second.
    pub const MIN_RATE: u64 = 64 * 1024;
    /// The smallest that [`burst`](Self::burst) may be, in bytes.
    pub const MIN_BURST: u64 = 128 * 1024;
    /// The least that [`bounds`](Self::bounds) may be: what elections say fits.
    pub const MIN_BOUNDS: Bounds = Bounds {
        depth: 4,
        items: 64,
        text: 256,
    };

    /// What these limits allow a peer.
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

    /// What two sides both allow.
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

    /// Whether a link can be of any use to a side that is allowed this much: with less a frame could not be sent at
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
            write::unsigned(out, Kind::Conditions.into());
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

    /// The rest of the frame after its kind.
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
        Some(bytes) => write::short_bytes(out, &bytes),
        None => write::nil(out),
    }
}

fn read_some(cursor: &mut Cursor<'_>) -> Result<Option<[u8; 32]>, WireError> {
    if cursor.nil() {
        return Ok(None);
    }
    cursor.exactly().map(Some)
}
