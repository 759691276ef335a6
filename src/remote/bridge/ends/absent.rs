//! Without the feature `sentinel`: nothing is told of the end of this node, and nothing is heard of others'.
#![expect(
    clippy::unnecessary_wraps,
    clippy::unused_async,
    clippy::unused_self,
    reason = "the same functions as with the feature"
)]

use std::{net::SocketAddr, sync::Arc};

use actix::Addr;

use crate::remote::{
    BridgeBuilder, BridgeError, EndDigest, Established, NodeId, RemoteBridge,
    bridge::shared::BridgeState,
};

/// Nothing.
#[derive(Debug, Default)]
pub(crate) struct Ends;

impl Ends {
    /// None.
    pub(crate) const fn own(&self) -> Option<EndDigest> {
        None
    }

    /// Notes nothing.
    pub(crate) const fn met(&self, _: &Established) {}

    /// There is none to dismiss.
    pub(crate) const fn dismiss(&self) {}

    /// Forgets nothing.
    pub(crate) const fn forget(&self, _: &NodeId) {}
}

/// There is none to keep.
pub(crate) async fn keep(_: Arc<BridgeState>, _: Addr<RemoteBridge>) {}

/// Hears nothing.
pub(crate) async fn hear(_: Arc<BridgeState>, _: SocketAddr) {}

impl BridgeBuilder {
    pub(super) const fn ends(&mut self) -> Result<Ends, BridgeError> {
        Ok(Ends)
    }
}
