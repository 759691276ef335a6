//! The owner of a store's record.

use std::fmt;

use crate::protocol::AgentId;

/// The owner of a store's record. It is written into the file when the store is created, and compared when the store is
/// opened.
///
/// A vote belongs to one node of one cluster. A node that used the record of another node would not know its own vote,
/// and could vote twice.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct StoreIdentity {
    /// The cluster: the name that separates deployments, such as `staging` and `production`.
    pub cluster: AgentId,
    /// The group within the cluster: a node may vote in several groups.
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
