//! Tests of a record in a file: its bytes, its calls, its errors, its crashes.

/// Asserts that an outcome is an error of this form.
macro_rules! assert_refused {
    ($outcome:expr, $error:pat) => {{
        let outcome = $outcome;
        assert!(matches!(&outcome, Err($error)), "{outcome:?}");
    }};
}

mod calls;
mod crashes;
mod named;
mod seen;
mod slots;

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use tempfile::TempDir;

use super::{
    RecordFile, RecordFileError,
    tried::{self, Tried},
};

fn place() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("jobs");
    (folder, path)
}

fn create(system: &Arc<Tried>, path: &Path) -> Result<RecordFile, RecordFileError> {
    RecordFile::create(Arc::<Tried>::clone(system), path, LIMIT, b"record 1")
}

fn open(system: &Arc<Tried>, path: &Path) -> Result<RecordFile, RecordFileError> {
    RecordFile::open(Arc::<Tried>::clone(system), path)
}

fn found(path: &Path) -> Vec<u8> {
    let file = open(&Arc::default(), path).expect("whole and free");
    file.record().to_vec()
}

fn names(folder: &TempDir) -> Vec<String> {
    let mut names: Vec<_> = std::fs::read_dir(folder.path())
        .expect("the folder is there")
        .map(|entry| entry.expect("an entry").file_name())
        .map(|name| name.into_string().expect("text"))
        .collect();
    names.sort();
    names
}

const LIMIT: usize = 1000;
