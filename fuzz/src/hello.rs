//! A stream of bytes on a new connection, from a stranger that found the port.
//!
//! The first byte chooses whether this side dialled, whether it knows the other side, and whether it asks for a proof.

use std::{io, sync::Arc};

use actix_bully::{
    protocol::Time,
    remote::{
        Challenge, ClusterId, Credential, Limits, LinkId, NodeId, NodeIncarnation, Proof,
        internals::{
            Acquaintance, Handshake, Introduction, Nonce,
            wire::{Frame, Frames, Hello, Versions},
        },
    },
};
use bytes::BytesMut;

use crate::again;

const MINE: Nonce = Nonce([1; 8]);
/// The only proof that is accepted.
const RIGHT: Proof = Proof([2; 32]);

/// Accepts the right proof, with any statement.
#[derive(Debug)]
struct Lock;

impl Credential for Lock {
    fn challenge(&self) -> io::Result<Challenge> {
        Ok(Challenge([3; 32]))
    }

    fn prove(&self, _: &[u8]) -> Vec<Proof> {
        vec![Proof([1; 32])]
    }

    fn accepts(&self, _: &[u8], proofs: &[Proof]) -> bool {
        proofs.contains(&RIGHT)
    }
}

/// Plays a handshake with the bytes.
pub fn check(data: &[u8]) {
    becomes_ready(data);
}

/// Plays a handshake with the bytes. Returns whether the link becomes ready.
pub fn becomes_ready(data: &[u8]) -> bool {
    let [how, stream @ ..] = data else {
        return false;
    };
    let (limits, now) = (Limits::default(), Time::ZERO);
    let name = |name| NodeId::new(name).expect("a name");
    let cluster = ClusterId::new("shop").expect("a name");
    let me = Introduction::new(name("host-a"), cluster, NodeIncarnation(100));
    let dialled = (how & 1 != 0).then(|| name("host-b"));
    let mut out = BytesMut::new();
    let mut handshake = Handshake::begin(me.clone(), MINE, dialled.clone(), &limits, now, &mut out);
    let is_asking = how & 8 != 0;
    if is_asking {
        let challenge = Lock.challenge().expect("a challenge");
        handshake = handshake.asking(Arc::new(Lock), challenge);
    }
    let (mut is_proved, mut has_agreed) = (false, false);
    let mut version = Versions::OURS.max;
    let mut frames = Frames::new(&limits);
    for bytes in stream.chunks(Limits::READ_AHEAD) {
        frames.feed(bytes);
        assert!(frames.capacity() <= Limits::EARLY_FRAME + 4 + Limits::READ_AHEAD);
        while let Ok(Some(body)) = frames.next(now) {
            if let Ok(frame) = Frame::decode(body, limits.bounds()) {
                match &frame {
                    Frame::Conditions(conditions) => {
                        has_agreed = conditions.challenge.is_some() == is_asking;
                    }
                    Frame::Ready { proofs, .. } => is_proved |= proofs.contains(&RIGHT),
                    _ => {}
                }
                again::compare(body, frame);
            }
            let mut said = None;
            let look_up = |hello: &Hello| {
                said = Some(hello.clone());
                (how & 2 == 0).then(|| Acquaintance {
                    latest: (how & 4 != 0).then_some(NodeIncarnation(50)),
                    ..Acquaintance::default()
                })
            };
            let progress = handshake.receive(now, body, look_up, &mut out);
            let is_owed = dialled.is_some() || !is_asking || is_proved;
            assert!(
                is_owed || !has_ready(&out, &limits),
                "READY only after a proof"
            );
            if let Some(hello) = &said {
                assert_eq!(hello.cluster, me.cluster);
                assert_ne!(hello.node, me.node);
                assert!(dialled.as_ref().is_none_or(|node| *node == hello.node));
                version = me.versions.common(hello.versions).unwrap_or(version);
            }
            match progress {
                Err(_) => return false,
                Ok(None) => {
                    assert!(
                        said.is_some() || has_agreed,
                        "the peer sent its HELLO or its CONDITIONS"
                    );
                }
                Ok(Some(link)) => {
                    assert_eq!(how & 2, 0, "a stranger is never ready");
                    assert!(
                        has_agreed && is_proved == is_asking,
                        "the link has a proof if it needs one"
                    );
                    assert!(how & 4 == 0 || link.incarnation >= NodeIncarnation(50));
                    assert_eq!(link.version, version);
                    assert_ne!(link.link, LinkId([0; 16]));
                    return true;
                }
            }
        }
    }
    false
}

/// Returns whether this side has sent READY.
fn has_ready(said: &[u8], limits: &Limits) -> bool {
    let mut frames = Frames::new(limits);
    frames.feed(said);
    while let Ok(Some(body)) = frames.next(Time::ZERO) {
        if let Ok(Frame::Ready { .. }) = Frame::decode(body, limits.bounds()) {
            return true;
        }
    }
    false
}
