//! A bridge whose network is zenoh.
//!
//! Decided here: that it is checked and opened in place of a socket that listens. What it is:
//! [`zenoh`](crate::remote::zenoh).

use std::sync::Arc;

use crate::remote::{
    BridgeBuilder, BridgeError, ClusterId, NodeId,
    zenoh::{ZenohError, ZenohNetwork, ZenohOptions},
};

impl BridgeBuilder {
    /// zenoh as the network, in place of [`listen`](Self::listen) and the addresses of peers. Default: sockets.
    pub fn zenoh(mut self, options: ZenohOptions) -> Self {
        self.zenoh = Some(options);
        self
    }

    /// Opens the zenoh session, if there is to be one.
    pub(super) fn open_zenoh(
        &mut self,
        node: &NodeId,
        cluster: &ClusterId,
    ) -> Result<(), BridgeError> {
        let Some(options) = self.zenoh.take() else {
            return Ok(());
        };
        if let Some(address) = self.listen.take() {
            return Err(ZenohError::Listen { address }.into());
        }
        let may_be_read = self.security.is_some() || self.is_dangerous;
        let network = ZenohNetwork::open(&options, (node, cluster), may_be_read)?;
        self.transport = Some(Arc::new(network));
        self.listen = Some(node.to_string());
        Ok(())
    }
}
