//! The bytes of the wire, for each frame and each part of a frame.
#![expect(
    clippy::arithmetic_side_effects,
    reason = "a test that overflows fails"
)]

mod frames;
mod golden;
mod hostile;
mod messages;
mod numbers;
mod payload;
mod roster;

use std::{env, fs, path::Path};

use bytes::BytesMut;

use super::Bounds;

/// Returns the bytes that `write` wrote.
fn written(write: impl FnOnce(&mut BytesMut)) -> Vec<u8> {
    let mut out = BytesMut::new();
    write(&mut out);
    out.to_vec()
}

/// Parses hexadecimal digits. Spaces and line ends do not count.
fn hex(text: &str) -> Vec<u8> {
    let digits: Vec<_> = text.chars().filter_map(|c| c.to_digit(16)).collect();
    digits
        .chunks(2)
        .map(|pair| u8::try_from(pair[0] * 16 + pair[1]).unwrap())
        .collect()
}

/// Returns the body of the only frame in these bytes.
fn body(frame: &[u8]) -> &[u8] {
    let (head, body) = frame.split_first_chunk::<4>().unwrap();
    let len = usize::try_from(u32::from_be_bytes(*head)).unwrap();
    assert_eq!(body.len(), len, "the length is that of the body");
    body
}

fn bounds() -> Bounds {
    Bounds::default()
}

/// Compares a text with the golden text of this name. `BLESS=1` rewrites the golden text.
#[track_caller]
fn reviewed(name: &str, text: &str) {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/remote/wire/tests");
    let file = file.join(name);
    if env::var_os("BLESS").is_some() {
        fs::write(&file, text).unwrap();
    }
    let golden = fs::read_to_string(&file).unwrap();
    assert!(text == golden, "BLESS=1 rewrites {file:?}");
}

/// Returns the rows of a table: bytes, the name of their error, and a description.
fn rows(table: &str) -> impl Iterator<Item = (Vec<u8>, &str, &str)> {
    let lines = table.lines().filter(|line| !line.trim().is_empty());
    lines.map(|line| {
        let mut cells = line.split('|').map(str::trim);
        let mut next = || cells.next().unwrap();
        (hex(next()), next(), next())
    })
}
