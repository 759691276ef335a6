//! Which side proves a secret to which side, and that no other bytes count as a proof.
//!
//! These tests use a simple proof in place of the real proof, whose tests are in `secret.rs`.

use std::{
    hash::{DefaultHasher, Hash, Hasher},
    io,
    sync::Arc,
};

use bytes::BytesMut;

use super::{Side, introduction, node};
use crate::remote::{
    Challenge, Closed, Credential, Farewell, Proof, SecretFault,
    wire::{Bounds, Frame, WireError, encode_proof},
};

/// A credential that knows these words. It accepts any proof if one of the words is `any`.
#[derive(Clone, Debug)]
struct WordCredential(Vec<&'static str>);

fn proof(word: &str, statement: &[u8]) -> Proof {
    let mut hasher = DefaultHasher::new();
    (word, statement).hash(&mut hasher);
    let short = hasher.finish().to_be_bytes();
    Proof([short; 4].concat().try_into().unwrap())
}

impl Credential for WordCredential {
    fn challenge(&self) -> io::Result<Challenge> {
        Err(io::ErrorKind::Unsupported.into())
    }

    fn prove(&self, statement: &[u8]) -> Vec<Proof> {
        self.0.iter().map(|word| proof(word, statement)).collect()
    }

    fn accepts(&self, statement: &[u8], proofs: &[Proof]) -> bool {
        let right = self.prove(statement);
        self.0.contains(&"any") || proofs.iter().any(|proof| right.contains(proof))
    }
}

/// One end of a connection, and the frames that it sends.
struct ProvingSide {
    side: Side,
    end: End,
}

/// The outcome of a handshake.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    Open,
    Ready,
    Closed(Closed),
}

impl ProvingSide {
    /// Creates a side that dials `dialled`, or listens, with this nonce and this challenge.
    fn new(
        name: &str,
        words: &[&'static str],
        dialled: Option<&str>,
        [nonce, challenge]: [u8; 2],
    ) -> Self {
        let mut side = Side::dialling(introduction(name), nonce, dialled.map(node));
        if !words.is_empty() {
            let words = Arc::new(WordCredential(words.to_vec()));
            side.handshake = side.handshake.asking(words, Challenge([challenge; 32]));
        }
        let end = End::Open;
        Self { side, end }
    }

    /// Returns `a`, which dials `b`.
    fn dialler(words: &[&'static str]) -> Self {
        Self::new("a", words, Some("b"), [1, 11])
    }

    /// Returns `b`, which listens.
    fn acceptor(words: &[&'static str]) -> Self {
        Self::new("b", words, None, [2, 22])
    }

    /// Returns the next frames that this side sends.
    fn says(&mut self) -> Vec<Vec<u8>> {
        self.side.sent()
    }

    fn hears_all(&mut self, bodies: &[Vec<u8>]) {
        for body in bodies {
            self.hears(body);
        }
    }

    fn hears(&mut self, body: &[u8]) {
        if self.end != End::Open {
            return;
        }
        self.end = match self.side.receive(body) {
            Ok(None) => End::Open,
            Ok(Some(_)) => End::Ready,
            Err(why) => End::Closed(why),
        };
    }
}

/// Passes on the frames of both sides until neither side sends another frame. `on_its_way` may change each frame to
/// `b`.
fn pass_on(a: &mut ProvingSide, b: &mut ProvingSide, mut on_its_way: impl FnMut(&mut Vec<u8>)) {
    loop {
        let (to_b, to_a) = (a.says(), b.says());
        if to_a.is_empty() && to_b.is_empty() {
            return;
        }
        for mut body in to_b {
            on_its_way(&mut body);
            b.hears(&body);
        }
        a.hears_all(&to_a);
    }
}

/// Passes on the first frames of both sides, up to their proofs.
fn greet(a: &mut ProvingSide, b: &mut ProvingSide) {
    for _ in 0..2 {
        let (to_b, to_a) = (a.says(), b.says());
        b.hears_all(&to_b);
        a.hears_all(&to_a);
    }
}

/// Returns a dialler and an acceptor that know the same secret.
fn both() -> (ProvingSide, ProvingSide) {
    (
        ProvingSide::dialler(&["new"]),
        ProvingSide::acceptor(&["new"]),
    )
}

/// Returns the outcomes for a dialler and an acceptor that know these words.
fn meet(dialler: &[&'static str], acceptor: &[&'static str]) -> [End; 2] {
    let (mut a, mut b) = (
        ProvingSide::dialler(dialler),
        ProvingSide::acceptor(acceptor),
    );
    pass_on(&mut a, &mut b, |_| ());
    [a.end, b.end]
}

const TOLD: End = End::Closed(Closed::Goodbye(Farewell::Secret));

const fn refused(fault: SecretFault) -> End {
    End::Closed(Closed::Secret(fault))
}

#[test]
fn two_nodes_are_linked_if_both_know_a_secret_that_the_other_accepts_or_neither_has_one() {
    let (none, old, both, new) = (&[][..], &["old"][..], &["new", "old"][..], &["new"][..]);
    for (one, other) in [
        (none, none),
        (old, old),
        (old, both),
        (both, both),
        (both, new),
        (new, new),
    ] {
        assert_eq!(meet(one, other), [End::Ready; 2], "{one:?}, {other:?}");
        assert_eq!(meet(other, one), [End::Ready; 2], "{other:?}, {one:?}");
    }
    let (here, there) = (
        refused(SecretFault::NotHere),
        refused(SecretFault::NotThere),
    );
    let unproved = refused(SecretFault::Unproved);
    for (dialler, acceptor, ends) in [
        (new, none, [there, here]),
        (none, new, [here, there]),
        (old, new, [TOLD, unproved]),
    ] {
        assert_eq!(meet(dialler, acceptor), ends, "{dialler:?}, {acceptor:?}");
    }
    // The dialler judges the proof too, although the listener with `any` has accepted the dialler's proof.
    assert_eq!(meet(new, &["wrong", "any"])[0], unproved);
}

/// A stranger that can dial learns nothing from which it could find the secret.
#[test]
fn the_dialler_is_given_no_proof_before_its_own_was_right() {
    let (mut a, mut b) = (
        ProvingSide::dialler(&["wrong"]),
        ProvingSide::acceptor(&["new"]),
    );
    let mut said = Vec::new();
    for _ in 0..4 {
        let (to_b, to_a) = (a.says(), b.says());
        b.hears_all(&to_b);
        a.hears_all(&to_a);
        said.extend(to_a);
    }
    assert_eq!(b.end, refused(SecretFault::Unproved));
    assert_eq!(said.len(), 3, "HELLO, CONDITIONS and GOODBYE: {said:02x?}");
    let has_proof = |body: &Vec<u8>| {
        matches!(
            Frame::decode(body, Bounds::default()),
            Ok(Frame::Ready { .. })
        )
    };
    assert!(!said.iter().any(has_proof));
}

/// A stranger repeats to `b` all frames that `a` sent to `b` over an earlier connection.
#[test]
fn a_conversation_that_was_overheard_proves_nothing() {
    let (mut a, mut b) = both();
    let mut overheard = Vec::new();
    pass_on(&mut a, &mut b, |body| overheard.push(body.clone()));
    assert_eq!(b.end, End::Ready);
    assert_eq!(overheard.len(), 3);
    // Another challenge alone is enough, even if both links have the same id by chance.
    for (nonce, challenge) in [(2, 23), (3, 22), (3, 23)] {
        let mut again = ProvingSide::new("b", &["new"], None, [nonce, challenge]);
        again.hears_all(&overheard);
        assert_eq!(again.end, refused(SecretFault::Unproved));
    }
    let mut same = ProvingSide::new("b", &["new"], None, [2, 22]);
    same.hears_all(&overheard);
    assert_eq!(
        same.end,
        End::Ready,
        "only what was drawn makes the difference"
    );
}

/// A stranger listens at the address that `a` dials, and sends `a`'s own proof back.
#[test]
fn ones_own_proof_sent_back_proves_nothing() {
    let mut a = ProvingSide::dialler(&["new"]);
    let mut stranger = ProvingSide::acceptor(&["wrong"]);
    greet(&mut a, &mut stranger);
    let own = a.says().remove(0);
    let is_ready = matches!(
        Frame::decode(&own, Bounds::default()),
        Ok(Frame::Ready { .. })
    );
    assert!(is_ready);
    a.hears(&own);
    assert_eq!(a.end, refused(SecretFault::Unproved));
}

/// A stranger dials both `a` and `b`, claims to each that it is the other, and passes on their frames.
#[test]
fn a_third_that_dials_both_cannot_pass_for_either() {
    let (mut a, mut b) = (
        ProvingSide::new("a", &["new"], None, [1, 11]),
        ProvingSide::acceptor(&["new"]),
    );
    pass_on(&mut a, &mut b, |_| ());
    assert_eq!(
        [a.end, b.end],
        [End::Open; 2],
        "each waits for a dialler's proof"
    );
    // The stranger also fails with a forged proof of its own in place of the dialler's proof.
    let (mut a, mut b) = (
        ProvingSide::new("a", &["new"], None, [1, 11]),
        ProvingSide::acceptor(&["new"]),
    );
    forge(&mut a, &mut b);
    assert_eq!(b.end, refused(SecretFault::Unproved));
}

/// Lets both sides greet each other, and then sends a forged proof to `b`.
fn forge(a: &mut ProvingSide, b: &mut ProvingSide) {
    greet(a, b);
    let mut ready = BytesMut::new();
    encode_proof(link(), &[Proof([7; 32])], &mut ready);
    b.hears(&ready[4..]);
}

fn link() -> crate::remote::LinkId {
    crate::remote::LinkId([[1; 8], [2; 8]].concat().try_into().unwrap())
}

/// The proof covers all earlier frames, so a stranger between the two sides can change no bit of them.
#[test]
fn nothing_that_was_said_before_can_be_changed_on_its_way() {
    let mut lengths = Vec::new();
    let (mut a, mut b) = both();
    pass_on(&mut a, &mut b, |body| lengths.push(body.len()));
    for (which, length) in lengths.into_iter().enumerate() {
        for bit in 0..length * 8 {
            let (mut a, mut b) = both();
            let mut passed = 0;
            pass_on(&mut a, &mut b, |body| {
                if passed == which {
                    body[bit / 8] ^= 1 << (bit % 8);
                }
                passed += 1;
            });
            assert!(
                matches!(b.end, End::Closed(_)),
                "{which}, {bit}: {:?}",
                b.end
            );
            assert_ne!(a.end, End::Ready, "{which}, {bit}");
        }
    }
}

/// READY has one form for each situation: a side must not send a proof that the other side did not request.
#[test]
fn a_proof_that_was_not_asked_for_has_no_place() {
    let (mut a, mut b) = (ProvingSide::dialler(&[]), ProvingSide::acceptor(&[]));
    forge(&mut a, &mut b);
    assert_eq!(b.end, End::Closed(Closed::Protocol));
}

#[test]
fn a_proof_that_is_cut_or_left_out_is_none() {
    let answer = |ready: &[u8]| {
        let (mut a, mut b) = both();
        greet(&mut a, &mut b);
        b.hears(ready);
        b.end
    };
    let head = [&b"\x93\x01\xc4\x10"[..], &link().0].concat();
    let none = [&head[..], b"\x90"].concat();
    assert_eq!(answer(&none), refused(SecretFault::Unproved));
    for len in 0..32_u8 {
        let cut = [&head[..], &[0x91, 0xc4, len], &vec![0; len.into()]].concat();
        let malformed = End::Closed(Closed::Malformed(WireError::Value));
        assert_eq!(answer(&cut), malformed, "{len}");
    }
    let one = [&b"\xc4\x20"[..], &[0; 32]].concat();
    let three = [&head[..], &[0x93], &one.repeat(3)].concat();
    let malformed = End::Closed(Closed::Malformed(WireError::Items));
    assert_eq!(answer(&three), malformed);
}
