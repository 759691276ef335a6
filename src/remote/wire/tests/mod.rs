//! The wire, byte by byte.
#![expect(
    clippy::arithmetic_side_effects,
    reason = "a test that overflows fails"
)]

mod frames;
mod golden;
mod messages;
mod numbers;
mod payload;
mod roster;

use bytes::BytesMut;

use super::Bounds;

/// What `write` wrote.
fn written(write: impl FnOnce(&mut BytesMut)) -> Vec<u8> {
    let mut out = BytesMut::new();
    write(&mut out);
    out.to_vec()
}

/// Bytes as hexadecimal digits; spaces and lines between them do not count.
fn hex(text: &str) -> Vec<u8> {
    let digits: Vec<_> = text.chars().filter_map(|c| c.to_digit(16)).collect();
    digits
        .chunks(2)
        .map(|pair| u8::try_from(pair[0] * 16 + pair[1]).unwrap())
        .collect()
}

/// The body of the only frame in there.
fn body(frame: &[u8]) -> &[u8] {
    let (head, body) = frame.split_first_chunk::<4>().unwrap();
    let len = usize::try_from(u32::from_be_bytes(*head)).unwrap();
    assert_eq!(body.len(), len, "the length is that of the body");
    body
}

fn bounds() -> Bounds {
    Bounds::default()
}
