//! The files that a process leaves if it is killed between any two calls.
//!
//! The folder is copied before a call. No process has the lock of a copy, as if the process had ended there.

use std::{fs, path::Path, sync::Arc};

use tempfile::TempDir;

use super::{
    create, found, names, open, place,
    tried::{Event, Tried},
};
use crate::record_file::RecordFileError;

fn copy(from: &Path, to: &Path) {
    for entry in fs::read_dir(from).expect("it is there") {
        let entry = entry.expect("an entry");
        fs::copy(entry.path(), to.join(entry.file_name())).expect("copied");
    }
}

/// Plans a copy of the folder before the call of this number, counted from the next call. Returns the folder of the
/// copy.
fn copy_before(call: usize, system: &Tried, folder: &TempDir) -> TempDir {
    let left = tempfile::tempdir().expect("a folder");
    let (from, to) = (folder.path().to_owned(), left.path().to_owned());
    system.plan(call, Event::Before(Box::new(move || copy(&from, &to))));
    left
}

#[test]
fn a_process_killed_in_create_leaves_a_whole_file_or_none() {
    let mut made = 0;
    for call in 0..14 {
        let (folder, path) = place();
        let system = Arc::new(Tried::default());
        let left = copy_before(call, &system, &folder);
        drop(create(&system, &path).expect("made"));
        assert_eq!(system.take().len(), 14);
        let path = left.path().join("jobs");
        match open(&Arc::default(), &path) {
            Ok(file) => {
                assert_eq!(file.record(), b"record 1");
                made += 1;
            }
            Err(RecordFileError::Missing) => {
                assert_eq!(made, 0, "the name stays");
                drop(create(&Arc::default(), &path).expect("nothing is in the way"));
            }
            Err(refused) => panic!("before call {call}: {refused:?}"),
        }
        assert_eq!(names(&left), ["jobs"]);
    }
    assert_eq!(made, 5);
}

#[test]
fn a_writer_that_is_killed_leaves_the_record_before_or_the_new_one() {
    let mut records = Vec::new();
    for call in 0..11 {
        let (folder, path) = place();
        drop(create(&Arc::default(), &path).expect("made"));
        let system = Arc::new(Tried::default());
        let mut file = open(&system, &path).expect("whole");
        system.take();
        let left = copy_before(call, &system, &folder);
        file.write(b"record 2").expect("written");
        drop(file);
        assert_eq!(system.take().len(), 11);
        let path = left.path().join("jobs");
        records.push(found(&path) == b"record 2");
        let mut file = open(&Arc::default(), &path).expect("free");
        file.write(b"record 3").expect("written");
    }
    assert_eq!(records, [vec![false; 7], vec![true; 4]].concat());
}
