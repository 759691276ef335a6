//! HELLO: the first frame in each direction, in the same form in every version for ever.

use bytes::BytesMut;

#[cfg(feature = "testkit")]
use super::Bounds;
use super::{WireError, frame::Kind, read::Cursor, write};
use crate::remote::{ClusterId, NodeId, NodeIncarnation, Nonce};

/// The versions of the protocol that a side speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Versions {
    /// The oldest version.
    pub min: u16,
    /// The newest version.
    pub max: u16,
}

impl Versions {
    /// The versions of this release.
    pub const OURS: Self = Self { min: 1, max: 1 };

    /// Returns the newest version that both sides speak; `None` if there is none.
    #[must_use]
    pub fn common(self, other: Self) -> Option<u16> {
        let newest = self.max.min(other.max);
        (newest >= self.min.max(other.min)).then_some(newest)
    }
}

/// Optional features of a side beyond the version, one bit each. No bit is in use yet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Features(pub u64);

impl Features {
    /// The features of this release.
    pub const OURS: Self = Self(0);

    /// Returns the features that both sides have.
    #[must_use]
    pub const fn and(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    /// Returns whether it contains all features of `other`.
    #[must_use]
    pub const fn has(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }
}

/// The node of a side, its versions and its features.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hello {
    /// Its versions.
    pub versions: Versions,
    /// Its cluster.
    pub cluster: ClusterId,
    /// Its name.
    pub node: NodeId,
    /// Its incarnation.
    pub incarnation: NodeIncarnation,
    /// Its half of the link's name.
    pub nonce: Nonce,
    /// Longest frame that it accepts after the link is ready, in bytes; at least 4 KiB.
    pub frame: u32,
    /// Its features. Bits that the other side does not know are ignored.
    pub features: Features,
    /// The features that it requires of the other side. Bits that the other side does not know end the link.
    pub required: Features,
}

impl Hello {
    /// The text at the beginning of every HELLO.
    pub const MAGIC: &str = "bully";
    /// Smallest value of [`frame`](Self::frame), in bytes.
    pub const MIN_FRAME: u32 = 4 * 1024;
    pub(super) const ITEMS: usize = 11;

    /// Appends the frame.
    pub fn encode(&self, out: &mut BytesMut) {
        write::frame(out, |out| {
            write::array(out, Self::ITEMS);
            write::unsigned(out, Kind::Hello.into());
            write::text(out, Self::MAGIC);
            write::unsigned(out, self.versions.min.into());
            write::unsigned(out, self.versions.max.into());
            write::text(out, self.cluster.as_str());
            write::text(out, self.node.as_str());
            write::unsigned(out, self.incarnation.0);
            write::short_bytes(out, &self.nonce.0);
            write::unsigned(out, self.frame.into());
            write::unsigned(out, self.features.0);
            write::unsigned(out, self.required.0);
        });
    }

    /// Reads the rest of the frame after its kind.
    pub(super) fn read(cursor: &mut Cursor<'_>) -> Result<Self, WireError> {
        if cursor.text()? != Self::MAGIC {
            return Err(WireError::Value);
        }
        let versions = Versions {
            min: cursor.small()?,
            max: cursor.small()?,
        };
        let hello = Self {
            versions,
            cluster: ClusterId::new(cursor.text()?).map_err(|_| WireError::Value)?,
            node: NodeId::new(cursor.text()?).map_err(|_| WireError::Value)?,
            incarnation: NodeIncarnation(cursor.unsigned()?),
            nonce: Nonce(cursor.exactly()?),
            frame: cursor.small()?,
            features: Features(cursor.unsigned()?),
            required: Features(cursor.unsigned()?),
        };
        let holds = versions.min <= versions.max && hello.frame >= Self::MIN_FRAME;
        holds.then_some(hello).ok_or(WireError::Value)
    }

    /// Reads the body of a HELLO.
    ///
    /// # Errors
    /// [`WireError`] if the body is not a HELLO.
    #[cfg(feature = "testkit")]
    pub fn decode(body: &[u8], bounds: Bounds) -> Result<Self, WireError> {
        let super::Frame::Hello(hello) = super::Frame::decode(body, bounds)? else {
            return Err(WireError::Kind);
        };
        Ok(hello)
    }
}
