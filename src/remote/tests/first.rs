//! The handshake with a node of release 0.1, which speaks version 1 alone.

use bytes::BytesMut;

use super::{introduction, node};
use crate::{
    protocol::Time,
    remote::{
        Acquaintance, Challenge, Closed, Credential, Established, Handshake, HandshakeProgress,
        Introduction, Limits, Nonce, Proof, Rights, SecretFault,
        wire::{Allowance, Bounds, Frame, Frames, Versions, encode_ready},
    },
};

const NOW: Time = Time::ZERO;

/// A side that speaks these versions, and what it has said.
fn side(name: &str, nonce: u8, versions: Versions) -> (Handshake, BytesMut) {
    let me = Introduction {
        versions,
        ..introduction(name)
    };
    let mut out = BytesMut::new();
    let nonce = Nonce([nonce; 8]);
    let handshake = Handshake::begin(me, nonce, None, &Limits::default(), NOW, &mut out);
    (handshake, out)
}

const FIRST: Versions = Versions { min: 1, max: 1 };

fn bodies(bytes: &[u8]) -> Vec<Vec<u8>> {
    let mut frames = Frames::new(&Limits::default());
    frames.feed(bytes);
    let next = || frames.next(NOW).unwrap().map(<[u8]>::to_vec);
    std::iter::from_fn(next).collect()
}

fn hear(
    side: &mut Handshake,
    body: &[u8],
    out: &mut BytesMut,
) -> Result<HandshakeProgress, Closed> {
    let known = Acquaintance {
        rights: Rights::all(),
        latest: None,
        ..Acquaintance::default()
    };
    side.receive(NOW, body, |_| Some(known), out)
}

/// Both sides' links, and what each said in all.
fn meet(ours: Versions, theirs: Versions) -> [(Box<Established>, Vec<Vec<u8>>); 2] {
    let (mut a, mut to_b) = side("host-a", 1, ours);
    let (mut b, mut to_a) = side("host-b", 2, theirs);
    let (mut at_a, mut at_b) = (None, None);
    let (mut said_a, mut said_b) = (Vec::new(), Vec::new());
    for _ in 0..3 {
        let (from_a, from_b) = (bodies(&to_b.split()), bodies(&to_a.split()));
        for body in &from_b {
            if let HandshakeProgress::Ready(link) = hear(&mut a, body, &mut to_b).unwrap() {
                at_a = Some(link);
            }
        }
        for body in &from_a {
            if let HandshakeProgress::Ready(link) = hear(&mut b, body, &mut to_a).unwrap() {
                at_b = Some(link);
            }
        }
        said_a.extend(from_a);
        said_b.extend(from_b);
    }
    [(at_a.unwrap(), said_a), (at_b.unwrap(), said_b)]
}

#[test]
fn both_say_hello_and_ready_and_nothing_else() {
    let [(at_a, said_a), (at_b, said_b)] = meet(Versions::OURS, FIRST);
    assert_eq!((at_a.version, at_b.version), (1, 1));
    assert_eq!(at_a.peer, node("host-b"));
    assert_eq!(at_a.link, at_b.link);
    // HELLO begins with 9b, READY of version 1 with 92 01.
    for said in [&said_a, &said_b] {
        let begin: Vec<&[u8]> = said.iter().map(|body| &body[..2]).collect();
        assert_eq!(begin, [[0x9b, 0x00], [0x92, 0x01]]);
    }
    assert_eq!(at_a.allowance, Allowance::of(&Limits::default()));
}

#[test]
fn two_of_this_release_speak_the_newer_version() {
    let [(at_a, said), (at_b, _)] = meet(Versions::OURS, Versions::OURS);
    assert_eq!((at_a.version, at_b.version), (2, 2));
    assert_eq!(said.len(), 3, "HELLO, CONDITIONS, READY");
}

#[test]
fn a_frame_of_version_2_has_no_place_on_a_link_of_version_1() {
    let [(link, _), _] = meet(Versions::OURS, FIRST);
    let conditions = &meet(Versions::OURS, Versions::OURS)[1].1[1];
    let mut ready = BytesMut::new();
    encode_ready(link.link, &mut ready);
    for body in [&bodies(&ready)[0], conditions] {
        let (mut a, _) = side("host-a", 1, Versions::OURS);
        let (_, hello) = side("host-b", 2, FIRST);
        let mut out = BytesMut::new();
        assert!(hear(&mut a, &bodies(&hello)[0], &mut out).is_ok());
        let closed = hear(&mut a, body, &mut out);
        assert!(matches!(closed, Err(Closed::Malformed(_))), "{closed:?}");
    }
    let first = [&[0x92, 0x01, 0xc4, 0x10][..], &link.link.0].concat();
    let is_read = |version| Frame::decode_of(version, &first, Bounds::default()).is_ok();
    assert_eq!((is_read(1), is_read(2)), (true, false));
}

/// A secret of any kind: version 1 has no room for its proof.
#[derive(Debug)]
struct Any;

impl Credential for Any {
    fn challenge(&self) -> std::io::Result<Challenge> {
        Ok(Challenge([7; 32]))
    }

    fn prove(&self, _: &[u8]) -> Vec<Proof> {
        Vec::new()
    }

    fn accepts(&self, _: &[u8], _: &[Proof]) -> bool {
        true
    }
}

#[test]
fn a_node_with_a_secret_links_to_none_that_cannot_prove_it() {
    let (a, _) = side("host-a", 1, Versions::OURS);
    let mut a = a.asking(std::sync::Arc::new(Any), Challenge([7; 32]));
    let (_, hello) = side("host-b", 2, FIRST);
    let closed = hear(&mut a, &bodies(&hello)[0], &mut BytesMut::new());
    assert_eq!(closed, Err(Closed::Secret(SecretFault::NotThere)));
}
