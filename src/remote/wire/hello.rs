//! HELLO: the first frame in each direction, in the same form in every version for ever.

use bytes::BytesMut;

use super::{WireError, frame::kind, read::Cursor, write};
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

    /// Returns the newest version that both sides speak; `None` without a common version.
    #[must_use]
    pub fn common(self, other: Self) -> Option<u16> {
        let newest = self.max.min(other.max);
        (newest >= self.min.max(other.min)).then_some(newest)
    }
}

/// The node of a side, and its versions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hello {
    /// The versions that the side speaks.
    pub versions: Versions,
    /// Cluster of the side.
    pub cluster: ClusterId,
    /// Name of the node.
    pub node: NodeId,
    /// Incarnation of the node.
    pub incarnation: NodeIncarnation,
    /// The side's half of the link's name.
    pub nonce: Nonce,
    /// Longest frame that the side accepts after the link is ready, in bytes; at least 4 KiB.
    pub frame: u32,
}

impl Hello {
    /// The text at the beginning of every HELLO.
    pub const MAGIC: &str = "bully";
    /// Smallest value of [`frame`](Self::frame), in bytes.
    pub const MIN_FRAME: u32 = 4 * 1024;
    pub(super) const ITEMS: usize = 9;

    /// Appends the frame.
    pub fn encode(&self, out: &mut BytesMut) {
        write::frame(out, |out| {
            write::array(out, Self::ITEMS);
            write::unsigned(out, kind::HELLO);
            write::text(out, Self::MAGIC);
            write::unsigned(out, self.versions.min.into());
            write::unsigned(out, self.versions.max.into());
            write::text(out, self.cluster.as_str());
            write::text(out, self.node.as_str());
            write::unsigned(out, self.incarnation.0);
            write::bytes(out, &self.nonce.0);
            write::unsigned(out, self.frame.into());
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
        };
        let holds = versions.min <= versions.max && hello.frame >= Self::MIN_FRAME;
        holds.then_some(hello).ok_or(WireError::Value)
    }
}
