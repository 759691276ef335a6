//! The description of another node by an operator.
//!
//! Decided here: nothing that is not checked elsewhere. Next: the life of a peer ([`peers`](super::peers)).

use super::{
    builder::{check_address, node_id},
    shared::BridgeState,
};
use crate::remote::{BridgeError, NodeId, Rights};

/// A node that may connect, and be connected to.
#[derive(Clone, Debug)]
pub struct Peer {
    node: String,
    pub(crate) address: Option<String>,
    pub(crate) rights: Rights,
}

impl Peer {
    /// The peer of that name at that address: `host:port`. The name of the host is resolved anew at each attempt.
    /// The peer may speak for any agent of the carried groups, as a leader, a voter or an observer, unless
    /// [`allow`](Self::allow) limits its rights.
    pub fn new(node: &str, address: &str) -> Self {
        let address = Some(address.to_owned());
        Self {
            address,
            ..Self::inbound(node)
        }
    }

    /// The peer of that name, which dials this side. This side cannot dial it, so only the deadlines of the
    /// elections notice the end of its process: give it an address where you can.
    pub fn inbound(node: &str) -> Self {
        Self {
            node: node.to_owned(),
            address: None,
            rights: Rights::all(),
        }
    }

    /// Limits the agents for which the peer may speak, and their highest role; replaces earlier rights. A message
    /// of an agent beyond these rights is not heard, and ends the link.
    #[must_use]
    pub fn allow(mut self, rights: Rights) -> Self {
        self.rights = rights;
        self
    }

    /// Checks whether a bridge can have this peer. Returns its name.
    pub(crate) fn check(
        &self,
        shared: &BridgeState,
        may_be_read: bool,
    ) -> Result<NodeId, BridgeError> {
        let node = node_id(&self.node)?;
        if node == shared.me.node {
            return Err(BridgeError::PeerIsSelf { node });
        }
        if let Some(address) = &self.address {
            let is_safe = shared.security.is_some() || may_be_read;
            check_address(&*shared.transport, address, is_safe)?;
        }
        Ok(node)
    }
}
