//! What the file of a store looks like; pure functions.
//!
//! Three lines of text, so that an operator can read them:
//!
//! ```text
//! actix-bully store 2
//! {"cluster":"production","group":"jobs","node":"api-1","generation":3,"incarnation":1795309200000000000,"record":{"term":7,"voted_for":"api-2"}}
//! crc32 53efe448
//! ```
//!
//! | bytes | what |
//! |---|---|
//! | 0..18 | `actix-bully store ` |
//! | 18..  | the version of the format, decimal, 0 to 255; a line feed |
//! | ..    | one line of JSON without spaces: the identity, the last generation that wrote, the last incarnation that was remembered (0: none), then the record, `null` if none was ever saved; a line feed |
//! | last 15 | `crc32 `, the CRC-32 (IEEE) of all bytes before in 8 lower-case hexadecimal digits, a line feed |
//!
//! | version | releases | what it has |
//! |---|---|---|
//! | 1 | 0.1 | identity and record; at most 4,096 bytes |
//! | 2 | since 0.2 | `generation` and `incarnation` as well; at most 65,536 bytes |
//!
//! Beginning and end are the same in every version, so a damaged file is never taken for one of
//! another version. One of an earlier version is read, and kept in that version until the operator
//! upgrades it (`first.rs`); one of a later version is refused.
//!
//! Exactly one text of the present version belongs to what it says: what is decoded must encode to
//! the bytes that were read. So nothing that a file says is ever skipped, such as a field that a
//! newer release has added, and nothing that it has to say is ever left out.
//!
//! # A record that gets a field
//! The field is `#[serde(default)]`, and its default is what is true of a record that never had it.
//! From a file of an earlier version it is taken so, and all that the file does say has to come
//! back unchanged. In a file of the present version the same field has to be there, since what is
//! decoded would encode to another text. So a record changes only together with the version.
//! Where the file stands in an earlier version, the field stands beside it or is refused there: `first.rs` lists which.

use std::{io, io::Write, path::Path};

use serde::{Deserialize, Serialize, de::DeserializeOwned, de::IgnoredAny};
use serde_json::Value;

use super::{Damage, Generation, StoreError, StoreIdentity};
use crate::protocol::{AgentId, Incarnation};

/// A file is never larger, and no more of one is read. There is room for a record with two lists,
/// the voters and those that are to follow them, of 100 names each that are as long as a name may be
/// (256 bytes: 52 kB), with their epochs. A block of a disk is the unit that is written anyway, so a small record
/// costs what it did.
pub(super) const MAX_LEN: usize = 65_536;

const BEGINNING: &str = "actix-bully store ";
const VERSION: u8 = 2;
const CHECKSUM_LEN: usize = 15;

/// In which format a file is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Format {
    /// Version 1, and a supplement beside it.
    First,
    Second,
}

impl Format {
    pub(super) const fn version(self) -> u8 {
        match self {
            Self::First => 1,
            Self::Second => VERSION,
        }
    }

    /// Of a text that [`decode`] has taken.
    pub(super) fn of(text: &[u8]) -> Self {
        match check(text, BEGINNING) {
            Ok(1) => Self::First,
            Ok(_) | Err(_) => Self::Second,
        }
    }
}

/// What a file says beside its identity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FileState<R> {
    /// The last generation that wrote.
    pub(super) generation: Generation,
    /// The last incarnation that was remembered.
    pub(super) incarnation: Incarnation,
    pub(super) record: Option<R>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Contents<R> {
    cluster: AgentId,
    group: AgentId,
    node: AgentId,
    generation: u64,
    incarnation: Incarnation,
    record: Option<R>,
}

/// Version 1.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Contents1<R> {
    cluster: AgentId,
    group: AgentId,
    node: AgentId,
    record: R,
}

/// The text of a file.
///
/// # Errors
/// [`StoreError::Encode`], [`StoreError::TooLarge`], and [`StoreError::Altered`] when the record
/// would not be the same when read again.
pub(super) fn encode<D>(
    identity: &StoreIdentity,
    kept: &FileState<&D>,
) -> Result<Vec<u8>, StoreError>
where
    D: PartialEq + Serialize + DeserializeOwned,
{
    let text = write(identity, kept).map_err(StoreError::Encode)?;
    if text.len() > MAX_LEN {
        return Err(StoreError::TooLarge {
            len: text.len(),
            max: MAX_LEN,
        });
    }
    match decode::<D>(Path::new(""), &text, identity) {
        Ok(again) if again.as_ref() == *kept => Ok(text),
        _ => Err(StoreError::Altered),
    }
}

/// What the text of a file says; the path is for the errors.
///
/// # Errors
/// [`StoreError::Damaged`], [`StoreError::Version`], [`StoreError::Foreign`],
/// [`StoreError::Record`].
pub(super) fn decode<D>(
    path: &Path,
    text: &[u8],
    expected: &StoreIdentity,
) -> Result<FileState<D>, StoreError>
where
    D: Serialize + DeserializeOwned,
{
    let damaged = |damage| StoreError::Damaged {
        path: path.into(),
        damage,
    };
    let version = check(text, BEGINNING).map_err(damaged)?;
    if !(1..=VERSION).contains(&version) {
        return Err(StoreError::Version {
            path: path.into(),
            found: version,
            supported: VERSION,
        });
    }
    let json = json_line(text).ok_or_else(|| damaged(Damage::Form))?;
    // The owner before the record: a wrong path is named as such, whatever the record is.
    let found = match version {
        1 => serde_json::from_slice(json).map(Contents1::<IgnoredAny>::owner),
        _ => serde_json::from_slice(json).map(Contents::<IgnoredAny>::owner),
    };
    let found = found.map_err(|_| damaged(Damage::Form))?;
    if found != *expected {
        return Err(StoreError::Foreign {
            path: path.into(),
            expected: Box::new(expected.clone()),
            found: Box::new(found),
        });
    }
    let kept = match version {
        1 => read_1(json),
        _ => read(json, text, &found),
    };
    kept.ok_or_else(|| StoreError::Record { path: path.into() })
}

/// Of the present version: nothing but what would be written.
fn read<D>(json: &[u8], text: &[u8], identity: &StoreIdentity) -> Option<FileState<D>>
where
    D: Serialize + DeserializeOwned,
{
    let contents: Contents<D> = serde_json::from_slice(json).ok()?;
    let kept = FileState {
        generation: Generation::new(contents.generation),
        incarnation: contents.incarnation,
        record: contents.record,
    };
    let again = write(identity, &kept.as_ref()).ok()?;
    (again == text).then_some(kept)
}

/// Of version 1: a record that may lack what was added since, but says nothing that is skipped.
fn read_1<D>(json: &[u8]) -> Option<FileState<D>>
where
    D: Serialize + DeserializeOwned,
{
    let upgraded: Contents1<Option<D>> = serde_json::from_slice(json).ok()?;
    let before: Contents1<Value> = serde_json::from_slice(json).ok()?;
    let after = serde_json::to_value(&upgraded.record).ok()?;
    keeps_all(&before.record, &after).then_some(FileState {
        generation: Generation::default(),
        incarnation: Incarnation::default(),
        record: upgraded.record,
    })
}

/// Whether all that `before` says is said by `after` as well, which may have more fields. No deeper
/// than JSON may be nested when it is read.
fn keeps_all(before: &Value, after: &Value) -> bool {
    match (before, after) {
        (Value::Object(before), Value::Object(after)) => before
            .iter()
            .all(|(name, value)| after.get(name).is_some_and(|now| keeps_all(value, now))),
        (Value::Array(before), Value::Array(after)) => {
            let pairs = || before.iter().zip(after);
            before.len() == after.len() && pairs().all(|(value, now)| keeps_all(value, now))
        }
        (before, after) => before == after,
    }
}

fn write<D: Serialize>(identity: &StoreIdentity, kept: &FileState<&D>) -> io::Result<Vec<u8>> {
    let contents = Contents {
        cluster: identity.cluster.clone(),
        group: identity.group.clone(),
        node: identity.node.clone(),
        generation: kept.generation.number(),
        incarnation: kept.incarnation,
        record: kept.record,
    };
    seal(BEGINNING, VERSION, &contents)
}

/// The text of version 1, byte for byte as release 0.1 would write it.
pub(super) fn write_1<R: Serialize>(identity: &StoreIdentity, record: &R) -> io::Result<Vec<u8>> {
    let contents = Contents1 {
        cluster: identity.cluster.clone(),
        group: identity.group.clone(),
        node: identity.node.clone(),
        record,
    };
    seal(BEGINNING, 1, &contents)
}

/// Whether the record of a text of version 1 names that field itself.
pub(super) fn names_1(text: &[u8], field: &str) -> bool {
    let json = json_line(text).unwrap_or_default();
    let contents = serde_json::from_slice::<Contents1<Value>>(json);
    contents.is_ok_and(|contents| contents.record.get(field).is_some())
}

/// The three lines of every file.
pub(super) fn seal<C: Serialize>(
    beginning: &str,
    version: u8,
    contents: &C,
) -> io::Result<Vec<u8>> {
    let mut text = format!("{beginning}{version}\n").into_bytes();
    serde_json::to_writer(&mut text, contents)?;
    text.write_all(b"\n")?;
    let checksum = checksum_line(&text);
    text.write_all(checksum.as_bytes())?;
    Ok(text)
}

impl<R> Contents<R> {
    fn owner(self) -> StoreIdentity {
        StoreIdentity {
            cluster: self.cluster,
            group: self.group,
            node: self.node,
        }
    }
}

impl<R> Contents1<R> {
    fn owner(self) -> StoreIdentity {
        StoreIdentity {
            cluster: self.cluster,
            group: self.group,
            node: self.node,
        }
    }
}

impl<R> FileState<R> {
    /// What a new file says.
    pub(super) fn nothing() -> Self {
        Self {
            generation: Generation::default(),
            incarnation: Incarnation::default(),
            record: None,
        }
    }

    pub(super) fn as_ref(&self) -> FileState<&R> {
        FileState {
            generation: self.generation,
            incarnation: self.incarnation,
            record: self.record.as_ref(),
        }
    }
}

/// The version of a text that begins and ends as in every version.
pub(super) fn check(text: &[u8], beginning: &str) -> Result<u8, Damage> {
    if text.len() > MAX_LEN {
        return Err(Damage::TooLarge { max: MAX_LEN });
    }
    let after = text
        .strip_prefix(beginning.as_bytes())
        .ok_or(Damage::Header)?;
    let (sealed, seal) = text
        .split_last_chunk::<CHECKSUM_LEN>()
        .ok_or(Damage::Checksum)?;
    if *seal != *checksum_line(sealed).as_bytes() {
        return Err(Damage::Checksum);
    }
    let digits = after.split(|byte| *byte == b'\n').next();
    digits
        .and_then(|digits| str::from_utf8(digits).ok())
        .and_then(|digits| digits.parse().ok())
        .ok_or(Damage::Form)
}

pub(super) fn json_line(text: &[u8]) -> Option<&[u8]> {
    text.split(|byte| *byte == b'\n').nth(1)
}

fn checksum_line(text: &[u8]) -> String {
    format!("crc32 {:08x}\n", crc32fast::hash(text))
}
