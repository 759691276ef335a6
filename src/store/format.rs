//! The text of a store's file; pure functions.
//!
//! The text is the record of a [`RecordFile`](bully_register::record_file): two lines, which an operator can read.
//!
//! ```text
//! actix-bully store 1
//! {"cluster":"production","group":"jobs","node":"api-1","store":1234,"generation":3,"incarnation":1795309200000000000,"record":{"term":7,"voted_for":"api-2"}}
//! ```
//!
//! | bytes | what |
//! |---|---|
//! | 0..18 | `actix-bully store ` |
//! | 18..  | the version of the format, decimal, 0 to 255; a line feed |
//! | ..    | one line of JSON without spaces: the identity, the id of the store, the last generation that wrote, the last incarnation that was remembered (0: none), then the record, `null` if none was ever saved; a line feed |
//!
//! The record file computes the checksum. The first line has the same form in every version; other versions are
//! refused.
//!
//! Each state has exactly one text: a text is accepted only if the state that it describes encodes to the same bytes.
//! So a text with a missing field is refused, and a field of a newer release is never ignored.
//!
//! # A new field in a record
//! A text without the new field encodes to a different text, so it is refused. A record therefore changes only together
//! with the version. The release with the new version reads both versions.

use std::{io, io::Write, path::Path};

use serde::{Deserialize, Serialize, de::DeserializeOwned, de::IgnoredAny};

use super::{Generation, StoreError, StoreIdentity};
use crate::protocol::{AgentId, Incarnation, StoreId};

/// Longest text, in bytes. It has room for a vote with two lists of 100 voters (the present and the next list), with
/// the longest names and addresses, and for the memory that a voter keeps of each listed voter. It fits into a slot of
/// 512 KiB, whose header and note take 44 bytes.
pub(super) const MAX_LEN: usize = (512 << 10) - 44;

const BEGINNING: &str = "actix-bully store ";
const VERSION: u8 = 1;

/// The content of a file without its identity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FileState<R> {
    /// Random id from the creation of the store.
    pub(super) store: StoreId,
    /// The last generation (start of an agent) that wrote.
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
    store: StoreId,
    generation: u64,
    incarnation: Incarnation,
    record: Option<R>,
}

/// Returns the text of a file.
///
/// # Errors
/// [`StoreError::Encode`], [`StoreError::TooLarge`], and [`StoreError::Altered`] if the record would be different when
/// it is read again.
pub(super) fn encode<D>(
    identity: &StoreIdentity,
    kept: &FileState<D>,
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
        Ok(again) if again == *kept => Ok(text),
        _ => Err(StoreError::Altered),
    }
}

/// Decodes the text of a file. `path` is only used in errors.
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
    let form = || StoreError::Damaged {
        path: path.into(),
        damage: "its record is not that of a store".to_owned(),
    };
    let (version, json) = lines(text).ok_or_else(form)?;
    if version != VERSION {
        return Err(StoreError::Version {
            path: path.into(),
            found: version.into(),
            supported: VERSION.into(),
        });
    }
    // The owner is checked before the record, so that a wrong path gets its own error, whatever the record is.
    let contents: Contents<IgnoredAny> = serde_json::from_slice(json).map_err(|_| form())?;
    let found = contents.owner();
    if found != *expected {
        return Err(StoreError::Foreign {
            path: path.into(),
            expected: Box::new(expected.clone()),
            found: Box::new(found),
        });
    }
    read(json, text, &found).ok_or_else(|| StoreError::Record { path: path.into() })
}

/// Splits a text into the version and the line of JSON.
fn lines(text: &[u8]) -> Option<(u8, &[u8])> {
    let mut lines = text
        .strip_prefix(BEGINNING.as_bytes())?
        .split(|byte| *byte == b'\n');
    let version = str::from_utf8(lines.next()?).ok()?.parse().ok()?;
    Some((version, lines.next()?))
}

/// Decodes a text. Returns `None` unless the same state would encode to the same bytes.
fn read<D>(json: &[u8], text: &[u8], identity: &StoreIdentity) -> Option<FileState<D>>
where
    D: Serialize + DeserializeOwned,
{
    let contents: Contents<D> = serde_json::from_slice(json).ok()?;
    let kept = FileState {
        store: contents.store,
        generation: Generation::new(contents.generation),
        incarnation: contents.incarnation,
        record: contents.record,
    };
    let again = write(identity, &kept).ok()?;
    (again == text).then_some(kept)
}

fn write<D: Serialize>(identity: &StoreIdentity, kept: &FileState<D>) -> io::Result<Vec<u8>> {
    let contents = Contents {
        cluster: identity.cluster.clone(),
        group: identity.group.clone(),
        node: identity.node.clone(),
        store: kept.store,
        generation: kept.generation.number(),
        incarnation: kept.incarnation,
        record: kept.record.as_ref(),
    };
    let mut text = format!("{BEGINNING}{VERSION}\n").into_bytes();
    serde_json::to_writer(&mut text, &contents)?;
    text.write_all(b"\n")?;
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

impl<R> FileState<R> {
    /// Returns the state of a new file.
    pub(super) fn nothing(store: StoreId) -> Self {
        Self {
            store,
            generation: Generation::default(),
            incarnation: Incarnation::default(),
            record: None,
        }
    }
}
