//! A stream of bytes on a new connection, from whoever found the port.
//!
//! The first byte says whether this side dialled, and whether it knows the other.

use actix_bully::{
    protocol::Time,
    remote::{
        Acquaintance, ClusterId, Handshake, Introduction, Limits, LinkId, NodeId, NodeIncarnation,
        Nonce, Progress, Rights,
        wire::{Frame, Frames, Hello},
    },
};
use bytes::BytesMut;

use crate::again;

const MINE: Nonce = Nonce([1; 8]);

/// Greets whoever it is.
pub fn check(data: &[u8]) {
    let [how, stream @ ..] = data else {
        return;
    };
    let (limits, now) = (Limits::default(), Time::ZERO);
    let name = |name| NodeId::new(name).expect("a name");
    let cluster = ClusterId::new("shop").expect("a name");
    let me = Introduction::new(name("host-a"), cluster, NodeIncarnation(100));
    let dialled = (how & 1 != 0).then(|| name("host-b"));
    let mut out = BytesMut::new();
    let mut handshake = Handshake::begin(me.clone(), MINE, dialled.clone(), &limits, now, &mut out);
    let mut frames = Frames::new(&limits);
    for bytes in stream.chunks(Limits::READ_AHEAD) {
        frames.feed(bytes);
        assert!(frames.capacity() <= limits.early_frame() + 4 + Limits::READ_AHEAD);
        while let Ok(Some(body)) = frames.next(now) {
            if let Ok(frame) = Frame::decode(body, limits.bounds()) {
                again::compare(body, frame);
            }
            let mut said = None;
            let who = |hello: &Hello| {
                said = Some(hello.clone());
                (how & 2 == 0).then(|| Acquaintance {
                    rights: Rights::all(),
                    latest: (how & 4 != 0).then_some(NodeIncarnation(50)),
                })
            };
            let progress = handshake.receive(now, body, who, &mut out);
            if let Some(hello) = &said {
                assert_eq!(hello.cluster, me.cluster);
                assert_ne!(hello.node, me.node);
                assert!(dialled.as_ref().is_none_or(|node| *node == hello.node));
            }
            match progress {
                Err(_) => return,
                Ok(Progress::Waiting) => assert!(said.is_some(), "it said who it is"),
                Ok(Progress::Ready(link)) => {
                    assert_eq!(how & 2, 0, "a stranger is never ready");
                    assert!(how & 4 == 0 || link.incarnation >= NodeIncarnation(50));
                    assert_eq!(link.version, 2);
                    assert_ne!(link.link, LinkId([0; 16]));
                    return;
                }
            }
        }
    }
}
