//! The description of another node by an operator.
//!
//! Nothing is decided here. Read next when a peer is dialled, and which of two links stays ([`peers`](super::peers)).

use super::{
    builder::{check_address, node_id},
    shared::BridgeState,
};
use crate::remote::{BridgeError, NodeId, Rights};

/// A node that may connect to this node, and to which this node may connect.
#[derive(Clone, Debug)]
pub struct Peer {
    node: String,
    pub(crate) address: Option<String>,
    pub(crate) rights: Rights,
}

impl Peer {
    /// Returns the peer `node` at the address `host:port`. The host name is resolved again at each attempt. The peer
    /// may send messages for any agent of the carried groups, as a leader, a voter or an observer, unless
    /// [`allow`](Self::allow) limits its rights.
    pub fn new(node: &str, address: &str) -> Self {
        let address = Some(address.to_owned());
        Self {
            address,
            ..Self::inbound(node)
        }
    }

    /// Returns the peer `node`, which dials this side. This side cannot dial it, so only the deadlines of the elections
    /// show that its process has ended: give the peer an address where you can.
    pub fn inbound(node: &str) -> Self {
        Self {
            node: node.to_owned(),
            address: None,
            rights: Rights::all(),
        }
    }

    /// Limits the agents for which the peer may send messages, and their highest role; replaces earlier rights. A
    /// message beyond these rights is not delivered, and ends the link.
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
