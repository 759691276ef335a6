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

use bytes::BytesMut;

use super::{
    Acquaintance, Closed, ClusterId, Established, Handshake, Introduction, Limits, NodeId,
    NodeIncarnation, Nonce, wire::Frames,
};
use crate::protocol::Time;

const NOW: Time = Time::ZERO;

/// One side of a handshake, with the frames that it has to send.
struct Side {
    handshake: Handshake,
    out: BytesMut,
    known: Option<Acquaintance>,
}

impl Side {
    fn new(me: Introduction, nonce: u8) -> Self {
        Self::dialling(me, nonce, None)
    }

    fn dialling(me: Introduction, nonce: u8, dialled: Option<NodeId>) -> Self {
        let mut out = BytesMut::new();
        let (nonce, limits) = (Nonce([nonce; 8]), Limits::default());
        let handshake = Handshake::begin(me, nonce, dialled, &limits, NOW, &mut out);
        Self {
            handshake,
            out,
            known: Some(known()),
        }
    }

    fn receive(&mut self, body: &[u8]) -> Result<Option<Box<Established>>, Closed> {
        let known = self.known.clone();
        self.handshake.receive(NOW, body, |_| known, &mut self.out)
    }

    fn sent(&mut self) -> Vec<Vec<u8>> {
        bodies(&self.out.split())
    }
}

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
