//! Decides which notices a bridge believes, because any host can send datagrams to it.
//!
//! A digest is noted when it arrives over an authenticated link. A notice is believed if it names a node that gave a
//! digest, names exactly the incarnation for which the node gave the digest, and contains the bytes of the digest. Each
//! notice is believed only once.

use std::collections::BTreeMap;

use super::EndNotice;
use crate::remote::{EndDigest, NodeId, NodeIncarnation};

/// Reason why a datagram is ignored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, thiserror::Error)]
#[non_exhaustive]
pub enum NoticeRefused {
    /// The datagram is not a notice.
    #[error(
        "the datagram is not a notice that a node has ended, so it is ignored: find the program that sends to this port"
    )]
    Malformed,
    /// No node with this name gave a digest.
    #[error(
        "the notice that a node has ended names a node that announced no sentinel here, so it is ignored: if the node is not yours, find out who sends it"
    )]
    UnknownNode,
    /// The notice contains another incarnation than the incarnation for which the node gave its digest.
    #[error(
        "the notice that a node has ended is about another start of the node than the linked process, so it is ignored: if the node was not started again, find out who sends it"
    )]
    OtherIncarnation,
    /// The bytes in the notice do not match the digest that the node gave.
    #[error(
        "the notice that a node has ended lacks the secret bytes of that node, so it is ignored, as it is forged or of a former sentinel of the node: if this repeats, find out who sends it"
    )]
    WrongBytes,
    /// The notice was already received.
    #[error(
        "the notice that a node has ended was received before, so it is ignored: there is nothing to do, because it is sent several times"
    )]
    Replayed,
}

impl NoticeRefused {
    /// Returns the name under which this reason is counted.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Malformed => "notice_malformed",
            Self::UnknownNode => "notice_unknown_node",
            Self::OtherIncarnation => "notice_other_incarnation",
            Self::WrongBytes => "notice_wrong_bytes",
            Self::Replayed => "notice_replayed",
        }
    }
}

/// The digest that one node gave.
#[derive(Clone, Copy, Debug)]
struct Given {
    incarnation: NodeIncarnation,
    digest: EndDigest,
    has_ended: bool,
}

/// The digests of the peers' sentinels: one entry for each peer that gave a digest.
#[derive(Clone, Debug, Default)]
pub struct Notices {
    given: BTreeMap<NodeId, Given>,
}

impl Notices {
    /// Notes the digest that a node gave for this incarnation over an authenticated link. It replaces the node's
    /// earlier digest, of an earlier incarnation or an earlier sentinel.
    ///
    /// The caller passes only names of configured peers, so there are never more entries than peers.
    pub fn note(&mut self, node: &NodeId, incarnation: NodeIncarnation, digest: EndDigest) {
        let has_ended = self
            .given
            .get(node)
            .is_some_and(|known| known.incarnation == incarnation && known.has_ended);
        let given = Given {
            incarnation,
            digest,
            has_ended,
        };
        self.given.insert(node.clone(), given);
    }

    /// Forgets the digest of a node that is no longer a peer, or whose new link brought no digest.
    pub fn forget(&mut self, node: &NodeId) {
        self.given.remove(node);
    }

    /// Handles a datagram. Returns the node, and its incarnation that has certainly ended.
    ///
    /// # Errors
    /// [`NoticeRefused`]: the datagram changes nothing. Count it.
    pub fn hear(&mut self, datagram: &[u8]) -> Result<(NodeId, NodeIncarnation), NoticeRefused> {
        let notice = EndNotice::decode(datagram).ok_or(NoticeRefused::Malformed)?;
        let given = self.given.get_mut(&notice.node);
        let given = given.ok_or(NoticeRefused::UnknownNode)?;
        if given.incarnation != notice.incarnation {
            return Err(NoticeRefused::OtherIncarnation);
        }
        if !notice.secret.has(given.digest) {
            return Err(NoticeRefused::WrongBytes);
        }
        if given.has_ended {
            return Err(NoticeRefused::Replayed);
        }
        given.has_ended = true;
        Ok((notice.node, notice.incarnation))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::remote::sentinel::NoticeSecret;

    fn node(name: &str) -> NodeId {
        NodeId::new(name).unwrap()
    }

    fn datagram(name: &str, incarnation: u64, secret: u8) -> Vec<u8> {
        let notice = EndNotice {
            node: node(name),
            incarnation: NodeIncarnation(incarnation),
            secret: NoticeSecret::of(secret),
        };
        notice.encode()
    }

    fn given() -> Notices {
        let mut notices = Notices::default();
        notices.note(&node("a"), NodeIncarnation(5), NoticeSecret::of(1).digest());
        notices.note(&node("b"), NodeIncarnation(5), NoticeSecret::of(2).digest());
        notices
    }

    #[test]
    fn the_right_bytes_end_exactly_the_incarnation_that_they_were_given_for_and_once() {
        let mut notices = given();
        let ended = Ok((node("a"), NodeIncarnation(5)));
        assert_eq!(notices.hear(&datagram("a", 5, 1)), ended);
        let again = notices.hear(&datagram("a", 5, 1));
        assert_eq!(again, Err(NoticeRefused::Replayed));
    }

    #[test]
    fn whatever_else_a_stranger_sends_is_refused_by_name_and_changes_nothing() {
        let mut notices = given();
        let cases = [
            (b"abse".to_vec(), NoticeRefused::Malformed),
            (datagram("c", 5, 1), NoticeRefused::UnknownNode),
            (datagram("a", 4, 1), NoticeRefused::OtherIncarnation),
            (datagram("a", 6, 1), NoticeRefused::OtherIncarnation),
            (datagram("a", 5, 9), NoticeRefused::WrongBytes),
            // The bytes of one node prove nothing about another one.
            (datagram("a", 5, 2), NoticeRefused::WrongBytes),
        ];
        for (bytes, expected) in cases {
            assert_eq!(notices.hear(&bytes), Err(expected));
        }
        assert!(notices.hear(&datagram("a", 5, 1)).is_ok());
    }

    #[test]
    fn a_late_notice_about_a_former_incarnation_does_not_touch_the_node_that_is_back() {
        let mut notices = given();
        notices.note(&node("a"), NodeIncarnation(6), NoticeSecret::of(3).digest());
        let late = notices.hear(&datagram("a", 5, 1));
        assert_eq!(late, Err(NoticeRefused::OtherIncarnation));
        assert!(notices.hear(&datagram("a", 6, 3)).is_ok());
    }

    #[test]
    fn a_new_sentinel_of_the_same_incarnation_makes_the_bytes_of_the_former_one_void() {
        let mut notices = given();
        notices.note(&node("a"), NodeIncarnation(5), NoticeSecret::of(4).digest());
        let former = notices.hear(&datagram("a", 5, 1));
        assert_eq!(former, Err(NoticeRefused::WrongBytes));
        assert!(notices.hear(&datagram("a", 5, 4)).is_ok());
    }

    #[test]
    fn a_node_that_is_forgotten_is_unknown() {
        let mut notices = given();
        notices.forget(&node("a"));
        let unknown = notices.hear(&datagram("a", 5, 1));
        assert_eq!(unknown, Err(NoticeRefused::UnknownNode));
    }
}
