//! What the file of a store looks like; pure functions.
//!
//! Three lines of text, so that an operator can read them:
//!
//! ```text
//! actix-bully store 1
//! {"cluster":"production","group":"jobs","node":"api-1","record":{"term":7,"voted_for":"api-2"}}
//! crc32 da2d377f
//! ```
//!
//! | bytes | what |
//! |---|---|
//! | 0..18 | `actix-bully store ` |
//! | 18..  | the version of the format, decimal, 0 to 255; a line feed |
//! | ..    | one line of JSON without spaces: the identity, then the record, `null` if none was ever saved; a line feed |
//! | last 15 | `crc32 `, the CRC-32 (IEEE) of all bytes before in 8 lower-case hexadecimal digits, a line feed |
//!
//! Version history: 1, the first. Beginning and end are the same in every version, so a damaged
//! file is never taken for one of another version.
//!
//! Exactly one text belongs to an identity and a record: what is decoded must encode to the bytes
//! that were read. So nothing that a file says is ever skipped, such as a field that a newer
//! release has added.

use std::{io, io::Write, path::Path};

use serde::{Deserialize, Serialize, de::DeserializeOwned, de::IgnoredAny};

use super::{Damage, StoreError, StoreIdentity};
use crate::protocol::AgentId;

/// A file is never larger.
pub(super) const MAX_LEN: usize = 4096;

const BEGINNING: &str = "actix-bully store ";
const VERSION: u8 = 1;
const CHECKSUM_LEN: usize = 15;

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Contents<R> {
    cluster: AgentId,
    group: AgentId,
    node: AgentId,
    record: Option<R>,
}

/// The text of a file.
///
/// # Errors
/// [`StoreError::Encode`], [`StoreError::TooLarge`], and [`StoreError::Altered`] when the record
/// would not be the same when read again.
pub(super) fn encode<D>(identity: &StoreIdentity, record: Option<&D>) -> Result<Vec<u8>, StoreError>
where
    D: PartialEq + Serialize + DeserializeOwned,
{
    let text = write(identity, record).map_err(StoreError::Encode)?;
    if text.len() > MAX_LEN {
        return Err(StoreError::TooLarge {
            len: text.len(),
            max: MAX_LEN,
        });
    }
    match decode::<D>(Path::new(""), &text, identity) {
        Ok(again) if again.as_ref() == record => Ok(text),
        _ => Err(StoreError::Altered),
    }
}

/// The record in the text of a file; the path is for the errors.
///
/// # Errors
/// [`StoreError::Damaged`], [`StoreError::Version`], [`StoreError::Foreign`],
/// [`StoreError::Record`].
pub(super) fn decode<D>(
    path: &Path,
    text: &[u8],
    expected: &StoreIdentity,
) -> Result<Option<D>, StoreError>
where
    D: Serialize + DeserializeOwned,
{
    let damaged = |damage| StoreError::Damaged {
        path: path.into(),
        damage,
    };
    let version = check(text).map_err(damaged)?;
    if version != VERSION {
        return Err(StoreError::Version {
            path: path.into(),
            found: version,
            supported: VERSION,
        });
    }
    let json = json_line(text).ok_or_else(|| damaged(Damage::Form))?;
    let anybody: Contents<IgnoredAny> =
        serde_json::from_slice(json).map_err(|_| damaged(Damage::Form))?;
    let found = StoreIdentity {
        cluster: anybody.cluster,
        group: anybody.group,
        node: anybody.node,
    };
    if found != *expected {
        return Err(StoreError::Foreign {
            path: path.into(),
            expected: Box::new(expected.clone()),
            found: Box::new(found),
        });
    }
    let other = || StoreError::Record { path: path.into() };
    let contents: Contents<D> = serde_json::from_slice(json).map_err(|_| other())?;
    match write(&found, contents.record.as_ref()) {
        Ok(again) if again == text => Ok(contents.record),
        _ => Err(other()),
    }
}

fn write<D: Serialize>(identity: &StoreIdentity, record: Option<&D>) -> io::Result<Vec<u8>> {
    let StoreIdentity {
        cluster,
        group,
        node,
    } = identity.clone();
    let mut text = format!("{BEGINNING}{VERSION}\n").into_bytes();
    serde_json::to_writer(
        &mut text,
        &Contents {
            cluster,
            group,
            node,
            record,
        },
    )?;
    text.write_all(b"\n")?;
    let checksum = checksum_line(&text);
    text.write_all(checksum.as_bytes())?;
    Ok(text)
}

/// The version of a text that begins and ends as in every version.
fn check(text: &[u8]) -> Result<u8, Damage> {
    if text.len() > MAX_LEN {
        return Err(Damage::TooLarge { max: MAX_LEN });
    }
    let rest = text
        .strip_prefix(BEGINNING.as_bytes())
        .ok_or(Damage::Header)?;
    let (sealed, seal) = text
        .split_last_chunk::<CHECKSUM_LEN>()
        .ok_or(Damage::Checksum)?;
    if *seal != *checksum_line(sealed).as_bytes() {
        return Err(Damage::Checksum);
    }
    let digits = rest.split(|byte| *byte == b'\n').next();
    digits
        .and_then(|digits| str::from_utf8(digits).ok())
        .and_then(|digits| digits.parse().ok())
        .ok_or(Damage::Form)
}

fn json_line(text: &[u8]) -> Option<&[u8]> {
    text.split(|byte| *byte == b'\n').nth(1)
}

fn checksum_line(text: &[u8]) -> String {
    format!("crc32 {:08x}\n", crc32fast::hash(text))
}
