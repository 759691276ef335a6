//! The way back: a file that release 0.1 can still read, and beside it what that has no room for.
//!
//! A store that was found in format 1 stays in it, byte for byte as release 0.1 would write it, until the
//! operator [upgrades](super::FileStore::upgrade) it. The *supplement* is a second file, `NAME.supplement`:
//!
//! ```text
//! actix-bully supplement 1
//! {"cluster":"production","group":"jobs","node":"api-1","generation":3,"incarnation":17,"added":{"promise":1200000}}
//! crc32 694f0b20
//! ```
//!
//! Release 0.1 does not look at it: of its folder it reads and removes only what begins with `.NAME.` and ends
//! with `.unsaved`. It stands under the lock of the store's own file, which both releases take.
//!
//! # What the two files say together ([`join`])
//! | format 1 | supplement | the record | generation, incarnation |
//! |---|---|---|---|
//! | no record yet | any | none: nothing was ever promised, since a record comes first | as there |
//! | a record | missing | with no promise: its voter abstains for its own | 0: nothing is known |
//! | a record | whole | with the longest promise that it names | as there |
//! | any | damaged, of another node, of a later version | refused: a longer promise may be forgotten | |
//! | format 2 | any | that of the file; what was left beside it is removed | as in the file |
//!
//! # Why neither has to name the other
//! Each fact in the supplement is true beside *any* record that the file has had since. So it does not matter which
//! of the two files was written last, nor whether release 0.1 has voted meanwhile:
//!
//! - *A promise that became longer* was written before it was given, and a longer one is never wrong: its voter
//!   abstains for longer than it has to, once.
//! - *A promise that became shorter* was written after a quarantine of the longer one was sat out
//!   (`record-longest-promise`), so the longer one holds no more, whatever the vote is.
//! - *A generation, an incarnation* only grow, and release 0.1 knows neither.
//! - *Release 0.1 has voted meanwhile:* it promised what its timings said. They have to be those of this
//!   release as long as there is a way back (no lease counts across the two versions of the wire otherwise),
//!   so what it promised is no longer than this voter's own promise, for which it abstains anyway. What the
//!   supplement says of earlier promises still counts.
//!
//! The supplement is written first, then the file; a save has ended when both are durable, and nothing is
//! said before. A crash between them leaves a new supplement beside an old record, which is such a pair.
//!
//! A field for which this does not hold may not stand in the supplement: see [`BESIDE`] and [`AFTERWARDS`].

use std::{fmt, path::Path};

use serde::{
    Deserialize, Deserializer, Serialize, Serializer,
    de::{DeserializeOwned, MapAccess, Visitor},
};
use serde_json::{
    Map, Value,
    value::{RawValue, to_raw_value},
};

use super::{
    Damage, Generation, StoreError, StoreIdentity,
    format::{self, FileState, MAX_LEN},
};
use crate::protocol::{AgentId, Incarnation};

/// A file of format 1 is never larger: release 0.1 reads no more.
const MAX_FIRST: usize = 4096;
const BEGINNING: &str = "actix-bully supplement ";
const VERSION: u8 = 1;

/// Fields that records of this crate have got since format 1, each true beside any record that the file
/// has had since it was written.
const BESIDE: [&str; 1] = ["promise"];
/// Fields that it has got which are not: release 0.1 would act against them. A store has to be upgraded
/// before they are anything but `null`.
const AFTERWARDS: [&str; 1] = ["voters"];

/// What format 1 has no room for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Supplement {
    generation: Generation,
    incarnation: Incarnation,
    added: Map<String, Value>,
}

/// The texts of both files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct FileTexts {
    pub(super) file: Vec<u8>,
    pub(super) supplement: Vec<u8>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct SupplementContents {
    cluster: AgentId,
    group: AgentId,
    node: AgentId,
    generation: u64,
    incarnation: Incarnation,
    added: Map<String, Value>,
}

/// The texts of both files.
///
/// # Errors
/// As [`format::encode`], and [`StoreError::NotUpgraded`] for what must not stand beside format 1.
pub(super) fn encode<D>(
    identity: &StoreIdentity,
    kept: &FileState<&D>,
) -> Result<FileTexts, StoreError>
where
    D: PartialEq + Serialize + DeserializeOwned,
{
    let Split { record, added } = split(kept.record)?;
    let supplement = Supplement {
        generation: kept.generation,
        incarnation: kept.incarnation,
        added,
    };
    let texts = FileTexts {
        file: format::write_1(identity, &record).map_err(StoreError::Encode)?,
        supplement: supplement.write(identity)?,
    };
    for (text, max) in [(&texts.file, MAX_FIRST), (&texts.supplement, MAX_LEN)] {
        let len = text.len();
        if len > max {
            return Err(StoreError::TooLarge { len, max });
        }
    }
    let nowhere = Path::new("");
    let file = format::decode(nowhere, &texts.file, identity);
    let again = Supplement::decode(nowhere, &texts.supplement, identity)
        .and_then(|found| join::<D>(nowhere, &texts.file, file?, Some(found)));
    match again {
        Ok(again) if again.as_ref() == *kept => Ok(texts),
        _ => Err(StoreError::Altered),
    }
}

/// What a file of format 1, with this text, says together with what stands beside it.
///
/// # Errors
/// [`StoreError::Record`] when what stands there is no part of such a record.
pub(super) fn join<D>(
    path: &Path,
    text: &[u8],
    file: FileState<D>,
    supplement: Option<Supplement>,
) -> Result<FileState<D>, StoreError>
where
    D: Serialize + DeserializeOwned,
{
    let Some(supplement) = supplement else {
        return Ok(file);
    };
    let other = || StoreError::Record { path: path.into() };
    let mut record = file.record;
    if let Some(found) = record.as_ref().filter(|_| !supplement.added.is_empty()) {
        let mut value = serde_json::to_value(found).map_err(|_| other())?;
        let fields = value.as_object_mut().ok_or_else(other)?;
        for (name, added) in supplement.added {
            // What the file names itself is newer, whichever release wrote it.
            if !format::names_1(text, &name) {
                fields.insert(name, added);
            }
        }
        record = serde_json::from_value(value).map_err(|_| other())?;
    }
    Ok(FileState {
        generation: supplement.generation,
        incarnation: supplement.incarnation,
        record,
    })
}

/// For tests: what is found of a record that was saved in format 1, with its supplement or without.
///
/// # Errors
/// As when it is saved, and as when it is found.
#[cfg(feature = "testkit")]
pub fn found_in_first_format<D>(
    identity: &StoreIdentity,
    record: &D,
    is_beside: bool,
) -> Result<Option<D>, StoreError>
where
    D: PartialEq + Serialize + DeserializeOwned,
{
    let kept = FileState {
        record: Some(record),
        ..FileState::nothing()
    };
    let (texts, nowhere) = (encode(identity, &kept)?, Path::new(""));
    let file = format::decode(nowhere, &texts.file, identity)?;
    let supplement = Supplement::decode(nowhere, &texts.supplement, identity)?;
    let found = join(nowhere, &texts.file, file, is_beside.then_some(supplement));
    found.map(|found| found.record)
}

impl Supplement {
    /// What a supplement says; the path is for the errors.
    ///
    /// # Errors
    /// [`StoreError::Supplement`], [`StoreError::Version`], [`StoreError::Foreign`].
    pub(super) fn decode(
        path: &Path,
        text: &[u8],
        expected: &StoreIdentity,
    ) -> Result<Self, StoreError> {
        let damaged = |damage| StoreError::Supplement {
            path: path.into(),
            damage,
        };
        let version = format::check(text, BEGINNING).map_err(damaged)?;
        if version != VERSION {
            return Err(StoreError::Version {
                path: path.into(),
                found: version,
                supported: VERSION,
            });
        }
        let form = || damaged(Damage::Form);
        let json = format::json_line(text).ok_or_else(form)?;
        let contents: SupplementContents = serde_json::from_slice(json).map_err(|_| form())?;
        let found = StoreIdentity {
            cluster: contents.cluster,
            group: contents.group,
            node: contents.node,
        };
        if found != *expected {
            return Err(StoreError::Foreign {
                path: path.into(),
                expected: Box::new(expected.clone()),
                found: Box::new(found),
            });
        }
        let read = Self {
            generation: Generation::new(contents.generation),
            incarnation: contents.incarnation,
            added: contents.added,
        };
        let is_known = read
            .added
            .keys()
            .all(|name| BESIDE.contains(&name.as_str()));
        // One spelling only, as of a store.
        if is_known && read.write(expected).is_ok_and(|again| again == text) {
            Ok(read)
        } else {
            Err(form())
        }
    }

    fn write(&self, identity: &StoreIdentity) -> Result<Vec<u8>, StoreError> {
        let contents = SupplementContents {
            cluster: identity.cluster.clone(),
            group: identity.group.clone(),
            node: identity.node.clone(),
            generation: self.generation.number(),
            incarnation: self.incarnation,
            added: self.added.clone(),
        };
        format::seal(BEGINNING, VERSION, &contents).map_err(StoreError::Encode)
    }
}

/// A record as format 1 has it, and what it has no room for.
#[derive(Default)]
struct Split {
    record: Option<Box<RawValue>>,
    added: Map<String, Value>,
}

fn split<D: Serialize>(record: Option<&D>) -> Result<Split, StoreError> {
    let failed = |source: serde_json::Error| StoreError::Encode(source.into());
    let mut added = Map::new();
    let Some(record) = record else {
        return Ok(Split::default());
    };
    let whole = to_raw_value(record).map_err(failed)?;
    if !whole.get().starts_with('{') {
        let record = Some(whole);
        return Ok(Split { record, added });
    }
    let mut kept = Fields::default();
    for (name, value) in serde_json::from_str::<Fields>(whole.get())
        .map_err(failed)?
        .0
    {
        if BESIDE.contains(&name.as_str()) {
            let value = serde_json::from_str(value.get()).map_err(failed)?;
            added.insert(name, value);
        } else if let Some(field) = AFTERWARDS.into_iter().find(|field| *field == name) {
            if value.get() != "null" {
                return Err(StoreError::NotUpgraded { field });
            }
        } else {
            kept.0.push((name, value));
        }
    }
    let record = Some(to_raw_value(&kept).map_err(failed)?);
    Ok(Split { record, added })
}

/// The fields of a record, in its own order, each as it was written.
#[derive(Default)]
struct Fields(Vec<(String, Box<RawValue>)>);

impl Serialize for Fields {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, value)| (name, value)))
    }
}

impl<'de> Deserialize<'de> for Fields {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct InOrder;
        impl<'de> Visitor<'de> for InOrder {
            type Value = Fields;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a record with fields")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Fields, A::Error> {
                let mut fields = Fields::default();
                while let Some(field) = map.next_entry()? {
                    fields.0.push(field);
                }
                Ok(fields)
            }
        }
        deserializer.deserialize_map(InOrder)
    }
}
