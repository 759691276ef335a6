//! Messages: every type has one form on the wire.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::{Debug, Write as _},
};

use bytes::BytesMut;
use serde::{Deserialize, Serialize, de::DeserializeOwned};

use super::{bounds, hex, reviewed, rows, written};
use crate::elections::AnyMessage;
use crate::{
    protocol::{AgentId, Contact, Decree, Incarnation, NewVoter, PeerMessage, Term},
    remote::wire::{WireError, decode_payload, encode_payload},
};
use bully_core::elections::{
    fixture::any::one_of_each_form,
    message::{Behind, ClaimReply, Micros},
    vote::SealRecord,
};

pub(super) fn encode<M: Serialize>(message: &M) -> Vec<u8> {
    written(|out| encode_payload(message, out).unwrap())
}

/// Encodes a message without the checks of this crate, as a peer with other code may do.
fn written_unchecked<M: Serialize>(message: &M) -> Vec<u8> {
    rmp_serde::to_vec(message).unwrap()
}

fn decode<M: DeserializeOwned>(bytes: &[u8]) -> Result<M, WireError> {
    decode_payload(bytes, bounds())
}

/// Encodes and decodes a message, and compares the result of a second decoder.
fn round_trip<M: Serialize + DeserializeOwned + Debug + PartialEq>(message: &M) {
    let bytes = encode(message);
    assert_eq!(decode::<M>(&bytes).as_ref(), Ok(message));
    assert_eq!(rmp_serde::from_slice::<M>(&bytes).unwrap(), *message);
    // Reading every beginning of a long message would take the square of its length.
    for len in (0..bytes.len()).step_by(1 + bytes.len() / 2_000) {
        assert!(decode::<M>(&bytes[..len]).is_err(), "{len} of {bytes:02x?}");
    }
    let longer = [&bytes[..], &[0xc0]].concat();
    assert_eq!(decode::<M>(&longer), Err(WireError::Trailing));
}

/// The longest list that a group may decide fits into a frame and its bounds, in each message that carries the list.
#[test]
fn the_longest_list_of_voters_crosses() {
    let voters = (0..100).map(|n| NewVoter {
        id: AgentId::new(&format!("agent-{n:03}")).unwrap(),
        contact: Some(Contact {
            node: "n".repeat(100),
            address: "a".repeat(110),
        }),
    });
    let next = Decree {
        epoch: u64::MAX,
        voters: voters.collect(),
        vote_quorum: Some(100),
        lease_quorum: Some(100),
    };
    let term = Term(u64::MAX);
    let reply = ClaimReply {
        term,
        seen: term,
        granted: true,
        retry: Micros(u64::MAX),
        incarnation: Incarnation(1),
        seal: Some(Box::new(SealRecord { term, next })),
        ..ClaimReply::default()
    };
    let bytes = encode(&AnyMessage::from(reply.clone()));
    assert!(decode(&bytes) == Ok(AnyMessage::from(reply)));
}

/// The longest list of a ring fits as well.
#[cfg(feature = "classics")]
#[test]
fn the_longest_list_of_members_of_a_ring_crosses() {
    use bully_classics::ring::{Bounded, Collect, Entrant, RingElectionId};

    let lowest = i64::MIN;
    let score = Some((lowest, lowest, lowest, lowest).into());
    let entrant = |n| Entrant {
        id: AgentId::new(&format!("{n:0>width$}", width = AgentId::MAX_LEN)).unwrap(),
        incarnation: Incarnation(u64::MAX),
        score,
        defers: true,
    };
    let first = entrant(0);
    let mut collect = Collect {
        election: RingElectionId {
            term: Term(u64::MAX),
            score,
            origin: first.id.clone(),
            incarnation: first.incarnation,
        },
        entrants: Bounded::of(first),
    };
    assert!((1..1_000).any(|n| !collect.entrants.push(entrant(n))));
    round_trip(&collect);
}

/// Each form of each message crosses. A field that is added, removed or moved changes the golden text. Such a change
/// needs a new version of the wire.
#[test]
fn every_message_of_an_election_crosses_and_has_its_bytes() {
    let mut text = String::new();
    let kinds = messages_of::<AnyMessage>(&mut text);
    assert_eq!(kinds.len(), 22, "one of each kind: {kinds:?}");
    #[cfg(feature = "classics")]
    {
        use bully_classics::{ballot, invitation, reorganization, ring};
        messages_of::<ring::RingMessage>(&mut text);
        messages_of::<ballot::BallotMessage>(&mut text);
        messages_of::<invitation::InvitationMessage>(&mut text);
        messages_of::<reorganization::ReorganizationMessage>(&mut text);
    }
    if cfg!(feature = "classics") {
        reviewed("messages.txt", &text);
    }
}

/// Adds each form of each message with its bytes to the text. Returns the kinds of the messages.
fn messages_of<M>(text: &mut String) -> BTreeSet<&'static str>
where
    M: PeerMessage + Serialize + DeserializeOwned + Debug + PartialEq,
{
    let messages = one_of_each_form::<M>();
    for message in &messages {
        round_trip(message);
        let bytes = encode(message);
        let digits: Vec<_> = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        writeln!(text, "{message:?}\n  {}", digits.concat()).unwrap();
    }
    messages.iter().map(PeerMessage::kind).collect()
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Unit;

#[derive(Debug, PartialEq, Serialize, Deserialize)]
enum Any {
    Plain,
    Pair(u8, i16),
    Named { a: Option<char>, b: () },
    Boxed(Box<Self>),
    List(Vec<Unit>),
}

#[test]
fn every_flat_type_crosses() {
    round_trip(&(true, false, 1u8, 300u16, 1u32, u64::MAX));
    round_trip(&(-1i8, -300i16, 70_000i32, i64::MIN, 1.5f32, -0.0f64));
    round_trip(&("text".to_owned(), '\u{df}', Some(Some(3)), None::<u8>));
    round_trip(&vec![Any::Plain, Any::Pair(1, -2), Any::Plain]);
    round_trip(&[
        Any::Named {
            a: Some('x'),
            b: (),
        },
        Any::List(vec![Unit, Unit]),
    ]);
    round_trip(&Any::Boxed(Box::new(Any::Boxed(Box::new(Any::Plain)))));
    round_trip(&(0..16).collect::<Vec<u16>>());
}

/// No encoder may send these bytes, although `rmp-serde` would accept some of them.
#[test]
fn only_one_spelling_is_taken() {
    let behind = AnyMessage::from(Behind { seen: Term(5) });
    assert_eq!(encode(&behind), hex("81 a6626568696e64 91 05"));
    for (bytes, due, what) in rows(
        "
                                                     | Truncated   | nothing
        c0                                           | Type        | nil
        a6626568696e64                               | Type        | a variant without content
        81 a6626568696e65 91 05                      | Value       | no such variant
        81 a66265ff696e64 91 05                      | Utf8        | a name in no text
        81 a6626568696e64 90                         | Type        | a field less
        81 a6626568696e64 92 05 05                   | Type        | a field more
        81 a6626568696e64 91 ff                      | Value       | a number below zero
        81 a6626568696e64 91 a0                      | Type        | a text for a number
        81 a6626568696e64 91 ca40a00000              | Type        | a number with a point
        82 a6626568696e64 91 05 a6626568696e64 91 05 | Type        | a key twice
        81 a6726573 69676e 93 05 a0 c0               | Value       | an empty name
        81 a6726573 69676e 93 05 a12a c0             | Value       | a name that is none
        81 a26f6b 93 92 00 00 00 81 a57374616c65 c0  | Type        | a unit with content
        81 a26f6b 93 92 00 00 00 a86e6f745f66726565  | Type        | a content left out
        81 a6626568696e64 81 a47365656e 05           | Type        | a struct as a map
        81 09 91 05                                  | Type        | a variant by its number
        81 a6626568696e64 91 cc05                    | NotShortest | a longer number
        81 d906626568696e64 91 05                    | NotShortest | a longer name
        81 a6626568696e64 dc0001 05                  | NotShortest | a longer array
        de0001 a6626568696e64 91 05                  | Type        | a longer map
        81 c406626568696e64 91 05                    | Type        | a name as bytes
        81 a6626568696e64 91 05 c0                   | Trailing    | more bytes
    ",
    ) {
        let why = decode::<AnyMessage>(&bytes).unwrap_err();
        assert_eq!(format!("{why:?}"), due, "{what}");
    }
}

#[test]
fn maps_and_untagged_types_are_refused() {
    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    #[serde(untagged)]
    enum Untagged {
        Number(u8),
    }
    let map = written_unchecked(&BTreeMap::from([(1, 2)]));
    assert_eq!(decode::<BTreeMap<u8, u8>>(&map), Err(WireError::Type));
    assert_eq!(decode::<Untagged>(&[5]), Err(WireError::Type));
    assert!(decode::<serde::de::IgnoredAny>(&[5]).is_err());
}

/// A message that no receiver can read would be lost without any report.
#[test]
fn a_map_is_refused_where_it_is_sent_however_deep_it_lies() {
    #[derive(Serialize)]
    enum Holds<T> {
        Struct { map: T },
        Tuple(u8, T),
        Newtype(T),
    }
    fn refused<M: Serialize>(message: M) {
        let mut out = BytesMut::from(&b"before"[..]);
        let refused = encode_payload(&message, &mut out).unwrap_err();
        let expected = "the message cannot be encoded: a map does not cross, since its entries have no order: send a list of pairs";
        assert_eq!(refused.to_string(), expected);
        assert_eq!(out, &b"before"[..]);
    }
    let map = BTreeMap::from([(1, 2)]);
    refused(map.clone());
    refused(Some((1, [map.clone()])));
    refused(vec![Holds::Struct { map: map.clone() }]);
    refused(Holds::Tuple(1, map.clone()));
    refused(Holds::Newtype(map.clone()));
    assert_eq!(encode(&None::<BTreeMap<u8, u8>>), [0xc0]);
    assert_eq!(encode(&Vec::from_iter(map)), [0x91, 0x92, 1, 2]);
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Endless(Option<Box<Self>>);

/// The nesting of the type counts, even where no byte is read.
#[test]
fn nothing_nests_without_an_end() {
    assert_eq!(decode::<Endless>(&[0xc3]), Err(WireError::Depth));
    assert_eq!(decode::<Endless>(&[0xc0]), Ok(Endless(None)));
    let nested = |depth| {
        let mut bytes = b"\x81\xa5Boxed".repeat(depth);
        bytes.extend_from_slice(b"\xa5Plain");
        decode::<Any>(&bytes)
    };
    assert!(nested(11).is_ok());
    assert_eq!(nested(12), Err(WireError::Depth));
    assert_eq!(nested(60_000), Err(WireError::Depth));
}
