//! Names and numbers of processes: the node, its cluster, its incarnation, and its links.
//!
//! Decided here: the form of a valid node name. Not here: the agents for which a node may send messages
//! ([`Rights`](super::Rights)), and which of two links to one peer stays.

use std::{fmt, str::FromStr, sync::Arc};

use serde::{Serialize, Serializer};

use crate::protocol::{AgentId, IdError};

/// The name of one process that takes part through a bridge, unique within its cluster.
///
/// It is also a DNS name, because a certificate contains it: labels of 1 to 63 lower-case letters, digits and inner
/// hyphens, joined by dots, at most 253 bytes. The last label has a letter, so that no name looks like an address.
/// A clone copies a pointer.
///
/// ```
/// use actix_bully::remote::NodeId;
/// assert!("host-a.example".parse::<NodeId>().is_ok());
/// assert!("Host_A".parse::<NodeId>().is_err());
/// assert!("10.0.0.1".parse::<NodeId>().is_err());
/// ```
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeId(Arc<str>);

impl NodeId {
    for_tests! {
        /// Longest name in bytes: the longest DNS name.
        const MAX_LEN: usize = 253;
    }

    /// Checks a name.
    ///
    /// # Errors
    /// [`NodeIdError`] if the name does not have the form above.
    pub fn new(name: &str) -> Result<Self, NodeIdError> {
        let has_letter = |label: &str| label.contains(|c: char| c.is_ascii_lowercase());
        let (len, most) = (name.len(), Self::MAX_LEN);
        let refused = if name.is_empty() {
            "a node's name is empty: give it the host's DNS name, or a word like host-a".into()
        } else if len > most {
            format!("a node's name of {len} bytes exceeds the limit of {most} bytes: shorten it")
        } else if name.split('.').any(|label| !is_label(label)) {
            "a node's name has a wrong part between its dots: give each part 1 to 63 lower-case letters, digits and inner hyphens, as in host-a.example".into()
        } else if !name.rsplit('.').next().is_some_and(has_letter) {
            "the last label of a node's name needs a letter: give a name in place of an address"
                .into()
        } else {
            return Ok(Self(name.into()));
        };
        Err(NodeIdError(refused.into()))
    }

    /// Returns the name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Returns whether the text is a label of a DNS name in lower case (RFC 1123, section 2.1).
fn is_label(label: &str) -> bool {
    (1..=63).contains(&label.len())
        && !label.starts_with('-')
        && !label.ends_with('-')
        && label
            .bytes()
            .all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-')
}

impl fmt::Display for NodeId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

impl Serialize for NodeId {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(self)
    }
}

impl fmt::Debug for NodeId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

impl FromStr for NodeId {
    type Err = NodeIdError;
    fn from_str(name: &str) -> Result<Self, NodeIdError> {
        Self::new(name)
    }
}

/// The reason why a node's name was refused.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct NodeIdError(Box<str>);

debug_is_text!(NodeIdError);

/// The name of a cluster: nodes of different clusters refuse each other.
///
/// The rules are the same as for an [`AgentId`].
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ClusterId(AgentId);

impl ClusterId {
    /// Checks a name.
    ///
    /// # Errors
    /// [`IdError`], for the same reasons as for an [`AgentId`].
    pub fn new(name: &str) -> Result<Self, IdError> {
        AgentId::new(name).map(Self)
    }

    /// Returns the name as text.
    pub fn as_str(&self) -> &str {
        self.0.as_str()
    }
}

impl fmt::Display for ClusterId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// The incarnation of a node. After each restart of the node it is larger, by more than the number of starts and
/// restarts of agents on the node before.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeIncarnation(pub u64);

impl fmt::Display for NodeIncarnation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl Serialize for NodeIncarnation {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(self)
    }
}

/// The half of a [`LinkId`] that one side generates for a new link. It must be unpredictable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Nonce(pub [u8; 8]);

/// The name of one link between two nodes: 128 bits. Each side generates one half.
///
/// Both sides compute the name and compare it. Of two links between the same incarnations of two nodes, the link with
/// the larger name stays.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LinkId(pub [u8; 16]);

impl LinkId {
    for_tests! {
        #[doc(hidden)]
        /// Computes the name of the link between `a` and `b` from their nonces. The order of the two sides does not
        /// matter.
        #[must_use]
        fn between(a: (&NodeId, Nonce), b: (&NodeId, Nonce)) -> Self {
            let (first, second) = if a.0 <= b.0 { (a.1, b.1) } else { (b.1, a.1) };
            let mut id = [0; 16];
            let (left, right) = id.split_at_mut(8);
            left.copy_from_slice(&first.0);
            right.copy_from_slice(&second.0);
            Self(id)
        }
    }
}

impl fmt::Display for LinkId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl Serialize for LinkId {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(self)
    }
}

impl fmt::Debug for LinkId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_node_is_named_like_a_host() {
        for good in ["a", "host-a", "api-3.eu.example", "3.x", &"a".repeat(63)] {
            assert!(NodeId::new(good).is_ok(), "{good}");
        }
        let long = [
            "a".repeat(63),
            "b".repeat(63),
            "c".repeat(63),
            "d".repeat(62),
        ]
        .join(".");
        for (bad, why) in [
            (long.as_str(), "limit of 253 bytes"),
            ("", "is empty"),
            ("a..b", "wrong part"),
            (".a", "wrong part"),
            ("-a", "wrong part"),
            ("a-.b", "wrong part"),
            ("A", "wrong part"),
            ("a_b", "wrong part"),
            ("*.a", "wrong part"),
            (&"a".repeat(64), "wrong part"),
            ("10.0.0.1", "needs a letter"),
        ] {
            let refused = NodeId::new(bad).unwrap_err().to_string();
            assert!(refused.contains(why), "{bad}: {refused}");
        }
    }

    #[test]
    fn both_sides_give_a_link_the_same_name() {
        let (a, b) = (NodeId::new("a").unwrap(), NodeId::new("b").unwrap());
        let (mine, theirs) = (Nonce([1; 8]), Nonce([2; 8]));
        let link = LinkId::between((&a, mine), (&b, theirs));
        assert_eq!(link, LinkId::between((&b, theirs), (&a, mine)));
        assert_eq!(link.to_string(), "01010101010101010202020202020202");
    }
}
