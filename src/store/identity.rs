//! Whose record a store keeps.

use std::fmt;

use crate::protocol::AgentId;

/// Whose record a store keeps: written into the file when it is created, compared when it is
/// opened.
///
/// A vote belongs to one node of one cluster. With the record of another one a node would forget
/// its own, and could vote twice.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct StoreIdentity {
    /// The cluster: what tells one deployment from another, such as `staging` from `production`.
    pub cluster: AgentId,
    /// The group within the cluster: a node may vote in several.
    pub group: AgentId,
    /// The node: the agent that votes.
    pub node: AgentId,
}

impl fmt::Display for StoreIdentity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            cluster,
            group,
            node,
        } = self;
        write!(f, "node {node} of group {group} in cluster {cluster}")
    }
}
