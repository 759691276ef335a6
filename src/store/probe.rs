//! Measures how long a disk takes for a record, without a write to the record's own file.
//!
//! Decided here: a probe writes a file of its own, `<record>.probe`, which no agent reads. The file stays, so that only
//! the first probe has to create it.

use std::{
    ffi::OsString,
    fs::OpenOptions,
    io::{self, Write as _},
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

/// Length of a write: one block, like a record.
const LENGTH: usize = 4_096;

/// Writes a block to a file beside the file `record`. Returns the time until the block was durable. Blocks.
///
/// # Errors
/// The error of the system.
pub(crate) fn probe(record: &Path) -> io::Result<Duration> {
    let mut file = OpenOptions::new()
        .create(true)
        .truncate(false)
        .write(true)
        .open(beside(record))?;
    #[expect(
        clippy::disallowed_methods,
        reason = "a thread that writes knows no virtual time"
    )]
    let began = Instant::now();
    file.write_all(&[0; LENGTH])?;
    file.sync_data()?;
    Ok(began.elapsed())
}

fn beside(record: &Path) -> PathBuf {
    let mut name = OsString::from(record);
    name.push(".probe");
    name.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_probe_leaves_the_record_alone() {
        let dir = tempfile::tempdir().unwrap();
        let record = dir.path().join("vote");
        std::fs::write(&record, "kept").unwrap();
        for _ in 0..2 {
            assert!(probe(&record).unwrap() > Duration::ZERO);
        }
        assert_eq!(std::fs::read(&record).unwrap(), b"kept");
        let length = std::fs::metadata(beside(&record)).unwrap().len();
        assert_eq!(usize::try_from(length).unwrap(), LENGTH);
        assert!(probe(&dir.path().join("none/vote")).is_err());
    }
}
