//! The replacement without the feature `sentinel`: the end of this node is not reported, and no notices are
//! received.
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

/// An empty state.
#[derive(Debug, Default)]
pub(crate) struct Ends;

impl Ends {
    pub(crate) const fn own(&self) -> Option<EndDigest> {
        None
    }

    pub(crate) const fn met(&self, _: &Established) {}

    pub(crate) const fn dismiss(&self) {}

    pub(crate) const fn forget(&self, _: &NodeId) {}
}

pub(crate) async fn keep(_: Arc<BridgeState>, _: Addr<RemoteBridge>) {}

pub(crate) async fn hear(_: Arc<BridgeState>, _: SocketAddr) {}

impl BridgeBuilder {
    pub(super) const fn ends(&mut self) -> Result<Ends, BridgeError> {
        Ok(Ends)
    }
}
