//! The payload of a message: what is taken has one spelling, and another decoder reads the same.
//!
//! The first byte chooses the type, or version 1 of the wire: what it says is said today, and back, in the same bytes.

use std::fmt::Debug;

use actix_bully::{
    elections::bully::BullyMessage,
    remote::internals::wire::{
        Bounds, FirstTimings, Frame, Versions, decode_payload, encode_payload, from_first, to_first,
    },
};
use bytes::BytesMut;
use serde::{Deserialize, Serialize, de::DeserializeOwned};

use crate::again;

/// Decodes the bytes as one type of message.
pub fn check(data: &[u8]) {
    let [kind, payload @ ..] = data else {
        return;
    };
    if kind & FIRST != 0 {
        said_by_the_first_version(payload);
        return;
    }
    match kind % 4 {
        0 => one_spelling::<BullyMessage>(payload),
        1 => one_spelling::<Zoo>(payload),
        2 => one_spelling::<(f32, f64)>(payload),
        _ => {
            if let Ok(frame) = Frame::decode(payload, Bounds::default()) {
                again::compare(Versions::OURS.max, payload, frame);
            }
        }
    }
}

/// This bit of the first byte: a message or a frame of version 1.
const FIRST: u8 = 0x80;

fn said_by_the_first_version(payload: &[u8]) {
    if let Ok(frame) = Frame::decode_of(Versions::FIRST, payload, Bounds::default()) {
        again::compare(Versions::FIRST, payload, frame);
    }
    let mut today = BytesMut::new();
    let Ok(true) = from_first(payload, Bounds::default(), FirstTimings::Equal, &mut today) else {
        return;
    };
    let message: BullyMessage =
        decode_payload(&today, Bounds::default()).expect("a message of today");
    let mut again = BytesMut::new();
    assert!(
        to_first(&today, FirstTimings::Equal, &mut again),
        "{message:?}"
    );
    assert_eq!(again, payload, "{message:?}");
    // Of unknown timings no more is heard than counts there, and it is the same.
    let mut counts = BytesMut::new();
    let is_heard = from_first(
        payload,
        Bounds::default(),
        FirstTimings::Unknown,
        &mut counts,
    );
    assert_eq!(is_heard == Ok(true), counts == today);
    let mut said = BytesMut::new();
    assert_eq!(
        to_first(&today, FirstTimings::Unknown, &mut said),
        is_heard == Ok(true)
    );
}

/// Every shape that a message may have, and one that recurses.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
enum Zoo {
    Unit,
    Text(String),
    Numbers(u8, i8, u16, i16, u32, i32, u64, i64),
    Named {
        flag: bool,
        message: Option<char>,
        list: Vec<Vec<u16>>,
    },
    Nested(Box<Self>),
    Some(Option<Option<()>>),
    Pair((Empty, [Option<u8>; 3])),
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Empty;

fn one_spelling<M: Serialize + DeserializeOwned + Debug>(payload: &[u8]) {
    let Ok(message) = decode_payload::<M>(payload, Bounds::default()) else {
        return;
    };
    let mut again = BytesMut::new();
    encode_payload(&message, &mut again).expect("what was decoded can be encoded");
    assert_eq!(again, payload, "{message:?}");
    let other: M = rmp_serde::from_slice(payload).expect("the other decoder takes it too");
    let mut encoded = BytesMut::new();
    encode_payload(&other, &mut encoded).expect("what was decoded can be encoded");
    assert_eq!(encoded, payload, "{other:?}");
}
