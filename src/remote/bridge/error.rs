//! The reasons why a bridge does not start, and why a peer is not added.

use std::{io, path::PathBuf, time::Duration};

use crate::{group::OpenError, protocol::IdError, store::StoreError};
use bully_register::calls::Contradiction;

use crate::remote::{NodeId, NodeIdError};

/// The reason why a bridge does not start, or why a peer is not added. Nothing was changed, except the incarnation that
/// a node [remembers](crate::remote::BridgeBuilder::remember): the next start uses a later incarnation.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum BridgeError {
    /// A node's name is not valid.
    #[error("the name of node {name:?} is refused: {reason}")]
    Node {
        /// The name.
        name: String,
        /// The reason.
        #[source]
        reason: NodeIdError,
    },
    /// The cluster's name is not valid.
    #[error("the cluster's name is not valid: {0} (the rules are those of an agent's name)")]
    Cluster(#[source] IdError),
    /// Two calls set the same option.
    #[error(
        "the calls `{first}(..)` and `{second}(..)` contradict each other: remove one of the two"
    )]
    Contradiction {
        /// One of the calls.
        first: &'static str,
        /// The other call.
        second: &'static str,
    },
    /// The bridge has no group to carry.
    #[error("the bridge carries no group: call .carry(&group)")]
    NoGroup,
    /// Two groups have the same name.
    #[error("two groups are called {name}: messages name a group, so give each its own name")]
    TwoGroups {
        /// The name.
        name: String,
    },
    /// A peer with this name already exists.
    #[error("{node} is a peer already: list it once, or call `remove_peer(..)` first")]
    PeerTaken {
        /// The name.
        node: NodeId,
    },
    /// A peer has this bridge's own name.
    #[error("{node} is this bridge itself: take it out of the peers")]
    PeerIsSelf {
        /// The name.
        node: NodeId,
    },
    /// The certificate of this node contains the name of another node.
    #[error(
        "this bridge is {node}, but its certificate is that of {found}: give it its own certificate, or call it {found}"
    )]
    OtherNode {
        /// The node that the certificate names.
        found: NodeId,
        /// The bridge.
        node: NodeId,
    },
    /// Messages would cross a network on which others can read them.
    #[error(
        "{address} may be on another host, and nothing is encrypted: use TLS, or call .dangerous_plaintext() if no other process is on that network"
    )]
    Plaintext {
        /// The address.
        address: String,
    },
    /// The bridge cannot listen at the address.
    #[error(
        "cannot listen at {address}: choose an address of this host and a port that no other process uses ({reason})"
    )]
    Listen {
        /// The address.
        address: String,
        /// The reason.
        #[source]
        reason: io::Error,
    },
    /// The node's last incarnation cannot be read from the file, or the new incarnation cannot be saved in the file.
    #[error("the number of this node's last start cannot be kept in {}: check the file, its folder and its permissions, and give each node a file of its own ({reason})", path.display())]
    Memory {
        /// The file.
        path: PathBuf,
        /// The reason.
        #[source]
        reason: io::Error,
    },
    /// The node's last incarnation cannot be read from the store of its votes, or the new incarnation cannot be saved
    /// in the store.
    #[error(
        "the number of this node's last start cannot be kept in the store of its votes: {reason}"
    )]
    MemoryStore {
        /// The reason.
        #[source]
        reason: StoreError,
    },
    /// A group cannot be opened to other hosts.
    #[error("group {group} cannot be carried: {reason}")]
    Open {
        /// Name of the group.
        group: String,
        /// The reason.
        #[source]
        reason: OpenError,
    },
    /// A sentinel needs peers that prove their names. Otherwise another process could learn the digest by which the end
    /// of this node is recognized.
    #[cfg(feature = "sentinel")]
    #[cfg_attr(docsrs, doc(cfg(feature = "sentinel")))]
    #[error(
        "a sentinel needs links that prove which nodes are at their ends: use .tls(..) or .secret(..), or remove .sentinel(..)"
    )]
    SentinelUnproven,
    /// No random bytes could be generated for the sentinel.
    #[cfg(feature = "sentinel")]
    #[cfg_attr(docsrs, doc(cfg(feature = "sentinel")))]
    #[error("the sentinel cannot be used: {0}")]
    Sentinel(#[source] crate::remote::sentinel::SentinelError),
    /// The [transport](crate::remote::transport) does not [open](crate::remote::transport::Transport::open). The
    /// contained error holds the transport's own error: call `get_ref` on it, then `downcast_ref`.
    #[error(transparent)]
    Transport(io::Error),
    /// The calling thread has no runtime.
    #[error("a bridge starts on an arbiter: call .start() inside of a running System")]
    NoRuntime,
}

debug_is_text!(BridgeError);

/// A bridge has stopped before every peer had received its last messages and the goodbye.
#[derive(Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "a peer did not take its last messages within {limit:?}, and the bridge has stopped anyway: look whether that peer hangs, or allow a longer time"
)]
pub struct DrainTimedOut {
    /// The time limit.
    pub limit: Duration,
}

debug_is_text!(DrainTimedOut);

impl From<Contradiction> for BridgeError {
    fn from(Contradiction { first, second }: Contradiction) -> Self {
        Self::Contradiction { first, second }
    }
}
