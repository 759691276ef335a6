//! The handshake, the judge and the limits, row by row of what each bad input gets.
#![expect(
    clippy::arithmetic_side_effects,
    reason = "a test that overflows fails"
)]

mod actor;
mod handshake;
mod inbound;
mod limits;
mod peers;
mod proofs;
mod registry;
#[cfg(feature = "secret")]
mod secret;
mod walk;

use super::{ClusterId, Introduction, NodeId, NodeIncarnation};

fn node(name: &str) -> NodeId {
    NodeId::new(name).unwrap()
}

fn introduction(name: &str) -> Introduction {
    let cluster = ClusterId::new("shop").unwrap();
    Introduction::new(node(name), cluster, NodeIncarnation(100))
}
