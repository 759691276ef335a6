//! The datagram that reports the end of an incarnation of a node, and the bytes that prove the end.
//!
//! ```text
//!   "abse" · version 1 · incarnation, 8 bytes · secret, 32 bytes · the node's name, up to the end
//! ```

use std::fmt;

use sha2::{Digest as _, Sha256};
use subtle::ConstantTimeEq;

use super::SentinelError;
use crate::remote::{EndDigest, NodeId, NodeIncarnation};

/// 32 random bytes that only a node and the sentinel of one of its incarnations know.
#[derive(Clone, PartialEq, Eq)]
pub struct NoticeSecret(pub(super) [u8; Self::LEN]);

impl NoticeSecret {
    pub(super) const LEN: usize = 32;

    /// Generates a secret.
    ///
    /// # Errors
    /// [`SentinelError::Random`] if the system has no random bytes.
    pub fn draw() -> Result<Self, SentinelError> {
        let mut bytes = [0; Self::LEN];
        getrandom::fill(&mut bytes).map_err(SentinelError::Random)?;
        Ok(Self(bytes))
    }

    /// Returns a secret for tests: one byte repeated.
    #[cfg(any(test, feature = "testkit"))]
    #[must_use]
    pub const fn of(byte: u8) -> Self {
        Self([byte; Self::LEN])
    }

    /// Returns the digest that the peers receive while the node runs.
    #[must_use]
    pub fn digest(&self) -> EndDigest {
        EndDigest(Sha256::digest(self.0).into())
    }

    /// Returns whether the digest belongs to these bytes. The comparison takes the same time for both results.
    #[must_use]
    pub fn has(&self, digest: EndDigest) -> bool {
        digest.0.ct_eq(&self.digest().0).into()
    }
}

impl fmt::Debug for NoticeSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("NoticeSecret")
    }
}

/// The statement "This incarnation of this node has ended."
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EndNotice {
    /// The node.
    pub node: NodeId,
    /// The incarnation that has ended. The notice is about no other incarnation.
    pub incarnation: NodeIncarnation,
    /// The bytes that prove the end.
    pub secret: NoticeSecret,
}

impl EndNotice {
    const MAGIC: &[u8] = b"abse\x01";
    /// The longest datagram, in bytes.
    pub const MAX_LEN: usize = 5 + 8 + NoticeSecret::LEN + 253;

    /// Writes the datagram.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        [
            Self::MAGIC,
            &self.incarnation.0.to_be_bytes(),
            &self.secret.0,
            self.node.as_str().as_bytes(),
        ]
        .concat()
    }

    /// Reads a datagram; `None` if it is not a notice.
    #[must_use]
    pub fn decode(datagram: &[u8]) -> Option<Self> {
        let rest = datagram.strip_prefix(Self::MAGIC)?;
        let (incarnation, rest) = rest.split_first_chunk()?;
        let (secret, name) = rest.split_first_chunk()?;
        Some(Self {
            node: NodeId::new(std::str::from_utf8(name).ok()?).ok()?,
            incarnation: NodeIncarnation(u64::from_be_bytes(*incarnation)),
            secret: NoticeSecret(*secret),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn notice() -> EndNotice {
        EndNotice {
            node: NodeId::new("host-a").unwrap(),
            incarnation: NodeIncarnation(7),
            secret: NoticeSecret::of(3),
        }
    }

    #[test]
    fn a_notice_is_read_as_it_was_written() {
        let bytes = notice().encode();
        assert!(bytes.len() <= EndNotice::MAX_LEN);
        assert_eq!(EndNotice::decode(&bytes), Some(notice()));
    }

    #[test]
    fn a_datagram_that_was_cut_or_changed_is_no_notice_or_another_one() {
        let bytes = notice().encode();
        for len in 0..45 {
            assert_eq!(EndNotice::decode(bytes.get(..len).unwrap()), None, "{len}");
        }
        for at in 0..bytes.len() {
            let mut changed = bytes.clone();
            *changed.get_mut(at).unwrap() ^= 0x80;
            assert_ne!(EndNotice::decode(&changed), Some(notice()), "{at}");
        }
        let long = [bytes, vec![b'a'; 300]].concat();
        assert_eq!(EndNotice::decode(&long), None);
    }

    #[test]
    fn a_digest_knows_its_own_bytes_only() {
        let digest = NoticeSecret::of(3).digest();
        assert!(NoticeSecret::of(3).has(digest));
        assert!(!NoticeSecret::of(4).has(digest));
        let (one, other) = (NoticeSecret::draw().unwrap(), NoticeSecret::draw().unwrap());
        assert_ne!(one, other);
    }

    #[test]
    fn a_secret_is_not_shown() {
        assert_eq!(format!("{:?}", NoticeSecret::of(3)), "NoticeSecret");
    }
}
