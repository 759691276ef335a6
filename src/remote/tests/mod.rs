//! The handshake, the judge and the limits, row by row of what each bad input gets.
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

/// A node of which nothing is known but that it may connect.
fn known() -> Acquaintance {
    Acquaintance::default()
}

/// The bodies of these frames.
fn bodies(bytes: &[u8]) -> Vec<Vec<u8>> {
    let mut frames = Frames::new(&Limits::default());
    frames.feed(bytes);
    let next = || frames.next(Time::ZERO).unwrap().map(<[u8]>::to_vec);
    std::iter::from_fn(next).collect()
}
