//! The name and the content of a key's file; pure functions.
//!
//! The record of the file is the line `bully entry NUMBER KEY`, and then the value. The number is random, and differs
//! in each write: otherwise an entry that was removed and written again could be mistaken for the earlier entry.
//!
//! Decided here: the file contains the whole key, and a read compares it, because the file's name has only the
//! beginning and a hash of the key.

use crate::{MOST_BYTES, RegisterKey};

/// Longest record, in bytes: four names of 256 bytes, the rest of the line, and a value.
pub(super) const MOST_RECORD: usize = MOST_BYTES + 4 * 257 + 64;

/// Suffix of the name of every file.
const ENDING: &str = ".entry";
/// Longest part of a key in a file name, in bytes.
const BEGINNING: usize = 64;
const HEAD: &[u8] = b"bully entry ";

/// Returns the name of a key's file: the beginning of the key, so that an operator finds the file, and a hash.
pub(super) fn file_name(key: &RegisterKey) -> String {
    format!(
        "{}-{:016x}{ENDING}",
        beginning(key.as_str()),
        hash(key.as_str())
    )
}

/// Returns whether a file with this name may belong to a key below `prefix`.
pub(super) fn may_be_below(name: &str, prefix: &RegisterKey) -> bool {
    name.ends_with(ENDING) && name.starts_with(&beginning(&format!("{prefix}/")))
}

/// Returns the readable first part of a file name. The part does not begin with a dot, because a dot would hide the
/// file.
fn beginning(key: &str) -> String {
    let plain = |byte: u8| match char::from(byte) {
        letter if letter.is_ascii_alphanumeric() || letter == '-' => letter,
        _ => '_',
    };
    key.bytes().take(BEGINNING).map(plain).collect()
}

/// Returns the hash FNV-1a of a text (64 bits), which is the same in every process.
pub(super) fn hash(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

pub(super) fn encode(key: &RegisterKey, number: u64, value: &[u8]) -> Vec<u8> {
    let mut record = HEAD.to_vec();
    record.extend(format!("{number:016x} {key}\n").into_bytes());
    record.extend(value);
    record
}

/// Returns key and value of a record; `None` if no register wrote the record.
pub(super) fn decode(record: &[u8]) -> Option<(RegisterKey, &[u8])> {
    let rest = record.strip_prefix(HEAD)?;
    let end = rest.iter().position(|byte| *byte == b'\n')?;
    let (line, value) = rest.split_at_checked(end)?;
    let (number, key) = std::str::from_utf8(line).ok()?.split_once(' ')?;
    let is_number = number.len() == 16 && number.bytes().all(|byte| byte.is_ascii_hexdigit());
    let value = value.get(1..)?;
    if !is_number || value.len() > MOST_BYTES {
        return None;
    }
    Some((key.parse().ok()?, value))
}
