//! Measures how long a disk takes to write a vote, before any agent votes.
//!
//! Decided here: the writes of a trial. They go to a record file beside the store's file, in the same way as votes, and
//! the file is removed at the end. Not here: how long a write may take (`config/preflight/`).

use std::{
    ffi::OsString,
    path::{Path, PathBuf},
    sync::Arc,
    thread,
    time::{Duration, Instant},
};

use bully_register::record_file::{Host, RecordFile, RecordFileError};

use super::{StoreError, error::explain, format, writer::Writer};

/// Writes records to a file beside `store` for the time `within`, at least three records. Returns, for each record, the
/// time until it was durable.
///
/// # Errors
/// [`StoreError`] if a record cannot be written, or the file cannot be removed again.
pub(crate) async fn time_writes(
    store: &Path,
    within: Duration,
) -> Result<Vec<Duration>, StoreError> {
    let writer = Writer::new().map_err(StoreError::NoThread)?;
    let path = beside(store);
    let failed = StoreError::Failed { path: path.clone() };
    let written = writer.run(move || write(&path, within));
    written.await.unwrap_or(Err(failed))
}

fn beside(store: &Path) -> PathBuf {
    let mut name = OsString::from(store);
    name.push(".preflight");
    name.into()
}

fn write(path: &Path, within: Duration) -> Result<Vec<Duration>, StoreError> {
    let explained = |error| explain(path, error);
    // A trial whose process was killed may have left its file, which is used again.
    let made = match RecordFile::create(Arc::new(Host), path, format::MAX_LEN, &RECORD) {
        Err(RecordFileError::Exists) => RecordFile::open(Arc::new(Host), path),
        made => made,
    };
    let mut file = made.map_err(explained)?;
    let written = write_for(&mut file, within);
    let removed = file.remove();
    let written = written.map_err(explained)?;
    removed.map_err(explained)?;
    Ok(written)
}

#[expect(
    clippy::disallowed_methods,
    reason = "a disk takes its time by the host's clock"
)]
fn write_for(file: &mut RecordFile, within: Duration) -> Result<Vec<Duration>, RecordFileError> {
    // The first write to an opened file also syncs the former record, so that is done before the measurement.
    file.confirm()?;
    let began = Instant::now();
    let mut took = Vec::new();
    while took.len() < FEWEST || (began.elapsed() < within && took.len() < MOST) {
        let begins = Instant::now();
        file.write(&RECORD)?;
        took.push(begins.elapsed());
        thread::park_timeout(PAUSE);
    }
    Ok(took)
}

/// A record as long as a vote with its names.
const RECORD: [u8; 512] = [b' '; 512];

const FEWEST: usize = 3;
const MOST: usize = 1_000;

/// Pause between two writes. It is needed because writes without a pause can be faster than the rare writes of an
/// agent.
const PAUSE: Duration = Duration::from_millis(20);

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use std::fs;

    use super::*;
    use crate::store::FileStore;

    fn names(folder: &Path) -> Vec<OsString> {
        let mut names: Vec<_> = fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().file_name())
            .collect();
        names.sort();
        names
    }

    #[actix_rt::test]
    async fn writes_beside_a_store_are_timed_and_leave_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("jobs");
        let identity = || {
            let name = || "x".parse().unwrap();
            crate::store::StoreIdentity {
                cluster: name(),
                group: name(),
                node: name(),
            }
        };
        let store = FileStore::<u64>::create(&path, identity()).unwrap();
        let before = fs::read(&path).unwrap();
        // A killed process has left a file.
        let left = RecordFile::create(Arc::new(Host), &beside(&path), format::MAX_LEN, b"x");
        drop(left.unwrap());
        for _ in 0..2 {
            let took = time_writes(&path, Duration::ZERO).await.unwrap();
            assert_eq!(took.len(), FEWEST);
            assert!(took.iter().all(|took| !took.is_zero()), "{took:?}");
            assert_eq!(names(folder.path()), ["jobs"]);
        }
        assert_eq!(fs::read(&path).unwrap(), before, "an agent may use it");
        drop(store);
    }

    #[actix_rt::test]
    async fn a_folder_that_is_not_there_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("none").join("jobs");
        let refused = time_writes(&path, Duration::ZERO).await.unwrap_err();
        assert!(refused.to_string().contains("jobs.preflight"), "{refused}");
    }
}
