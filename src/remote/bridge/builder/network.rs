//! The network of a bridge, from the start of the bridge on.
//!
//! Decided here: a network is opened before the bridge listens; a network with its own listener needs no address; and
//! no unencrypted bytes leave this host by mistake. Read next about the networks
//! ([`transport`](crate::remote::transport)).

use super::BridgeBuilder;
use crate::remote::{
    BridgeError, ClusterId, NodeId,
    transport::{Listener, StartingBridge, Transport},
};

impl BridgeBuilder {
    /// Opens the network, and begins to listen.
    pub(super) fn open_network(
        &self,
        transport: &dyn Transport,
        node: &NodeId,
        cluster: &ClusterId,
    ) -> Result<Option<Box<dyn Listener>>, BridgeError> {
        let may_be_read = self.security.is_some() || self.is_dangerous;
        let opened = transport.open(&StartingBridge {
            listen: self.listen.as_deref(),
            may_be_read,
            ..StartingBridge::new(node, cluster)
        });
        let own = opened.map_err(BridgeError::Transport)?;
        let Some(address) = &self.listen else {
            return Ok(own);
        };
        if own.is_some() {
            let (first, second) = ("transport", "listen");
            return Err(BridgeError::Contradiction { first, second });
        }
        check_address(transport, address, may_be_read)?;
        let listening = transport.listen(address);
        let address = address.clone();
        let failed = |reason| BridgeError::Listen { address, reason };
        listening.map(Some).map_err(failed)
    }
}

/// Refuses an address if other processes could read the bytes on the way.
pub(in crate::remote::bridge) fn check_address(
    transport: &dyn Transport,
    address: &str,
    is_safe: bool,
) -> Result<(), BridgeError> {
    if is_safe || transport.is_loopback(address) {
        return Ok(());
    }
    let address = address.to_owned();
    Err(BridgeError::Plaintext { address })
}
