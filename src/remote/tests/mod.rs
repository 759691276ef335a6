//! The handshake, the judge of frames and the limits, each with a table of bad inputs.
#![expect(
    clippy::arithmetic_side_effects,
    reason = "a test that overflows fails"
)]

mod actor;
mod handshake;
mod inbound;
mod limits;
mod proofs;
mod registry;
#[cfg(feature = "secret")]
mod secret;
mod walk;

use super::{Acquaintance, ClusterId, Introduction, Limits, NodeId, NodeIncarnation, wire::Frames};
use crate::protocol::Time;

fn node(name: &str) -> NodeId {
    NodeId::new(name).unwrap()
}

fn introduction(name: &str) -> Introduction {
    let cluster = ClusterId::new("shop").unwrap();
    Introduction::new(node(name), cluster, NodeIncarnation(100))
}

/// Returns the knowledge about a node that may connect and has never connected.
fn known() -> Acquaintance {
    Acquaintance::default()
}

/// Returns the bodies of the frames in these bytes.
fn bodies(bytes: &[u8]) -> Vec<Vec<u8>> {
    let mut frames = Frames::new(&Limits::default());
    frames.feed(bytes);
    let next = || frames.next(Time::ZERO).unwrap().map(<[u8]>::to_vec);
    std::iter::from_fn(next).collect()
}
