//! The payload of a message: an accepted payload is the only spelling of its message, and another decoder reads the
//! same.
//!
//! The first byte chooses the type.

use std::fmt::Debug;

use actix_bully::{
    elections::AnyMessage,
    remote::internals::wire::{Bounds, Frame, decode_payload, encode_payload},
};
use bytes::BytesMut;
use serde::{Deserialize, Serialize, de::DeserializeOwned};

use crate::again;

/// Decodes the bytes as one type of message.
pub fn check(data: &[u8]) {
    let [kind, payload @ ..] = data else {
        return;
    };
    match kind % 4 {
        0 => one_spelling::<AnyMessage>(payload),
        1 => one_spelling::<Zoo>(payload),
        2 => one_spelling::<(f32, f64)>(payload),
        _ => {
            if let Ok(frame) = Frame::decode(payload, Bounds::default()) {
                again::compare(payload, frame);
            }
        }
    }
}

/// A type with every shape that a message may have, and a recursive one.
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
    encode_payload(&message, &mut again).expect("a decoded message can be encoded");
    assert_eq!(again, payload, "{message:?}");
    let other: M = rmp_serde::from_slice(payload).expect("the other decoder accepts it too");
    let mut encoded = BytesMut::new();
    encode_payload(&other, &mut encoded).expect("a decoded message can be encoded");
    assert_eq!(encoded, payload, "{other:?}");
}
