//! Reads a folder of records: the list of records with their reasons, and one record.
//!
//! Decided here: only records in the folder are read; how long a record may be; and how the reason why a record was
//! saved is found in the record. Not here: which files are records, and how they are written (`saved.rs`).

use std::{
    fs,
    io::{self, Read, Seek, SeekFrom},
};

use serde::Serialize;

use super::saved::{PREFIX, RecordFolder, SUFFIX};
use crate::record::{TraceEntry, What};

impl RecordFolder {
    /// Returns the newest records, at most `most` records.
    pub(crate) fn newest(&self, most: usize) -> io::Result<Vec<SavedRecord>> {
        let mut present = self.present()?;
        // File names begin with the time, so their order is the order of time.
        present.sort_unstable_by(|one, other| other.cmp(one));
        present.truncate(most);
        let listed = present.into_iter().map(|(file, bytes)| {
            let reason = self.reason(&file, bytes).unwrap_or_default();
            SavedRecord::named(file, bytes, reason)
        });
        Ok(listed.collect())
    }

    /// Returns the reason why the record was saved: the last finding in it, which is near the end of the file.
    fn reason(&self, name: &str, bytes: u64) -> Option<String> {
        let mut file = fs::File::open(self.path.join(name)).ok()?;
        file.seek(SeekFrom::Start(bytes.saturating_sub(TAIL)))
            .ok()?;
        let mut tail = Vec::new();
        file.take(TAIL).read_to_end(&mut tail).ok()?;
        tail.rsplit(|byte| *byte == b'\n').find_map(|line| {
            let entry = serde_json::from_slice(line).ok()?;
            let TraceEntry {
                what: What::Mark(text),
                ..
            } = entry
            else {
                return None;
            };
            Some(text.chars().take(LONGEST_REASON).collect())
        })
    }

    /// Returns the contents of a record. The name is compared with the names in the folder, so it cannot lead to a file
    /// outside of the folder.
    pub(crate) fn read(&self, name: &str, most: u64) -> Result<Vec<u8>, SavedError> {
        let present = self.present()?;
        let Some((name, _)) = present.iter().find(|(known, _)| known == name) else {
            return Err(SavedError::Unknown);
        };
        let mut bytes = Vec::new();
        // The read has a limit of its own, because the file may grow while it is read.
        let file = fs::File::open(self.path.join(name))?;
        file.take(most.saturating_add(1)).read_to_end(&mut bytes)?;
        if u64::try_from(bytes.len()).is_ok_and(|len| len <= most) {
            return Ok(bytes);
        }
        Err(SavedError::Large { most })
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct SavedRecord {
    /// The name of the record's file.
    file: String,
    /// The time at which the agent kept the record; `None` if the file name contains no time.
    unix_ms: Option<u64>,
    /// The names of the group and the agent, as the file name has them.
    of: String,
    bytes: u64,
    /// The reason why the record was saved; empty if the record contains none.
    reason: String,
}

impl SavedRecord {
    fn named(file: String, bytes: u64, reason: String) -> Self {
        let stem = file.strip_prefix(PREFIX).unwrap_or(&file);
        let stem = stem.strip_suffix(SUFFIX).unwrap_or(stem);
        let (time, of) = stem.split_once('-').unwrap_or(("", stem));
        Self {
            unix_ms: time.parse().ok(),
            of: of.to_owned(),
            file,
            bytes,
            reason,
        }
    }
}

/// The reason why a record cannot be read.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SavedError {
    #[error("the record does not exist any more: load the list of records again")]
    Unknown,
    #[error(
        "the record has more than {most} bytes: show its file by `cargo run --example cluster -- --show FILE` in the repository of actix-bully"
    )]
    Large { most: u64 },
    #[error(
        "the folder of the records cannot be read: is it there, and may this user read it? ({0})"
    )]
    Io(#[from] io::Error),
}

/// Longest part at the end of a file that is searched for the reason, in bytes; and the longest part of the reason that
/// is shown, in characters.
const TAIL: u64 = 16 << 10;
const LONGEST_REASON: usize = 300;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_are_listed_and_read_and_nothing_else_is() {
        let outer = tempfile::tempdir().unwrap();
        let path = outer.path().join("records");
        fs::create_dir(&path).unwrap();
        let folder = RecordFolder::new(&path);
        let outside = outer.path().join("record-1-secret.jsonl");
        fs::write(&outside, "secret").unwrap();
        fs::write(path.join("notes.txt"), "mine").unwrap();
        fs::create_dir(path.join("record-2-folder.jsonl")).unwrap();
        folder
            .write("record-0000000000007-g-a.jsonl", "seven")
            .unwrap();
        folder
            .write("record-0000000000009-g-<b>.jsonl", "nine")
            .unwrap();
        folder.write("record-odd.jsonl", "odd").unwrap();
        #[cfg(unix)]
        std::os::unix::fs::symlink(&outside, path.join("record-3-link.jsonl")).unwrap();

        let listed = folder.newest(10).unwrap();
        let told: Vec<_> = listed
            .iter()
            .map(|one| (one.unix_ms, &*one.of, one.bytes))
            .collect();
        assert_eq!(
            told,
            [(None, "odd", 3), (Some(9), "g-<b>", 4), (Some(7), "g-a", 5)]
        );
        assert_eq!(folder.newest(2).unwrap(), listed[..2]);
        assert!(listed.iter().all(|one| one.reason.is_empty()));
        let marked =
            "{\"at_ns\":1,\"what\":{\"mark\":\"no leader\"}}\n{\"at_ns\":2,\"what\":\"ended\"}\n";
        let long = format!("{}\n{marked}", "x".repeat(20_000));
        folder
            .write("record-0000000000008-g-a.jsonl", &long)
            .unwrap();
        assert_eq!(folder.newest(9).unwrap()[2].reason, "no leader");
        assert_eq!(
            folder.read("record-0000000000007-g-a.jsonl", 5).unwrap(),
            b"seven"
        );
        let large = folder
            .read("record-0000000000007-g-a.jsonl", 4)
            .unwrap_err();
        assert!(matches!(large, SavedError::Large { most: 4 }), "{large}");
        for name in [
            "",
            "notes.txt",
            "../record-1-secret.jsonl",
            "record-1-secret.jsonl",
            "record-2-folder.jsonl",
            "record-3-link.jsonl",
            "record-/../../record-1-secret.jsonl",
            "./record-odd.jsonl",
        ] {
            let wrong = folder.read(name, 100).unwrap_err();
            assert!(matches!(wrong, SavedError::Unknown), "{name}: {wrong}");
        }
        let gone = RecordFolder::new(outer.path().join("none"));
        assert!(matches!(gone.read("x", 1).unwrap_err(), SavedError::Io(_)));
    }
}
