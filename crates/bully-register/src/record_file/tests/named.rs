//! A file that is replaced, removed, renamed or linked between any two calls.

use std::{fs, path::Path, sync::Arc};

use super::{
    create, open, place,
    tried::{Call, Event, Tried},
};
use crate::record_file::RecordFileError;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Deed {
    Replace,
    Remove,
    Rename,
    Link,
    /// The file is shortened in place.
    Cut,
}

impl Deed {
    const ALL: [Self; 5] = [
        Self::Replace,
        Self::Remove,
        Self::Rename,
        Self::Link,
        Self::Cut,
    ];

    fn act(self, path: &Path) {
        let other = path.with_file_name("other");
        match self {
            Self::Replace => {
                fs::copy(path, &other).expect("copied");
                fs::rename(other, path).expect("replaced");
            }
            Self::Remove => fs::remove_file(path).expect("removed"),
            Self::Rename => fs::rename(path, other).expect("renamed"),
            Self::Link => fs::hard_link(path, other).expect("linked"),
            Self::Cut => fs::File::options()
                .write(true)
                .open(path)
                .and_then(|file| file.set_len(100))
                .expect("cut"),
        }
    }

    fn plan(self, system: &Tried, at: usize, path: &Path) {
        let path = path.to_path_buf();
        system.plan(at, Event::Before(Box::new(move || self.act(&path))));
    }
}

fn made() -> (tempfile::TempDir, std::path::PathBuf, Arc<Tried>) {
    let (folder, path) = place();
    let system = Arc::new(Tried::default());
    drop(create(&system, &path).expect("made"));
    system.take();
    (folder, path, system)
}

#[test]
fn a_record_is_not_said_once_its_name_led_elsewhere() {
    for deed in Deed::ALL {
        let calls = [Call::Held, Call::Named, Call::Write, Call::SyncData];
        for at in 0..calls.len() + 3 {
            let (_folder, path, system) = made();
            let mut file = open(&system, &path).expect("whole");
            file.confirm().expect("confirmed");
            system.take();
            deed.plan(&system, at, &path);
            let written = file.write(b"record 2");
            let is_refused = matches!(written, Err(RecordFileError::Replaced));
            // The length is read together with the open file, before the check of the name.
            let last = if deed == Deed::Cut { 4 } else { 5 };
            let is_due = deed != Deed::Link && at <= last;
            assert_eq!(is_refused, is_due, "{deed:?} before call {at}: {written:?}");
            assert!(is_refused || written.is_ok(), "{written:?}");
            if at > last && deed != Deed::Link {
                assert_refused!(file.write(b"record 3"), RecordFileError::Replaced);
                assert_refused!(file.confirm(), RecordFileError::Replaced);
                assert_refused!(file.remove(), RecordFileError::Replaced);
            }
        }
    }
}

#[test]
fn an_open_file_is_the_one_that_has_the_name() {
    for deed in Deed::ALL {
        for at in 0..6 {
            let (_folder, path, system) = made();
            deed.plan(&system, at, &path);
            match open(&system, &path) {
                Ok(mut file) => {
                    assert_eq!(file.record(), b"record 1");
                    // A change after the check of the name is not noticed at once. The next write finds it.
                    let is_late = at > 4 || (deed == Deed::Cut && at > 3);
                    let written = file.write(b"record 2");
                    let is_elsewhere = deed != Deed::Link && is_late;
                    assert_eq!(written.is_err(), is_elsewhere, "{deed:?} {at}: {written:?}");
                }
                Err(RecordFileError::Missing | RecordFileError::Damaged(_)) => {}
                Err(refused) => panic!("{deed:?} before call {at}: {refused:?}"),
            }
        }
    }
}

#[test]
fn a_file_that_is_replaced_all_the_time_is_not_opened() {
    let (_folder, path, system) = made();
    for time in 0..8 {
        Deed::Replace.plan(&system, time * 6 + 2, &path);
    }
    assert_refused!(open(&system, &path), RecordFileError::Replaced);
}

#[test]
fn a_link_that_leads_elsewhere_is_another_file() {
    let (folder, path, system) = made();
    let link = folder.path().join("link");
    std::os::unix::fs::symlink(&path, &link).expect("linked");
    let mut file = open(&system, &link).expect("by a link");
    file.write(b"record 2").expect("written");
    let other = folder.path().join("second");
    fs::copy(&path, &other).expect("copied");
    fs::remove_file(&link).expect("removed");
    std::os::unix::fs::symlink(&other, &link).expect("linked");
    assert_refused!(file.write(b"record 3"), RecordFileError::Replaced);
}
