//! The order of the system calls, and the file after one of them failed.

use std::{
    fs,
    io::ErrorKind,
    os::unix::fs::MetadataExt,
    sync::{Arc, atomic::Ordering::SeqCst},
};

use super::{
    LIMIT, create, found, names, open, place,
    tried::{
        Call::{self, *},
        Event, Tried,
    },
};
use crate::record_file::{
    FileDamage, FileSystem as _, Host, RecordFile, RecordFileError, Status, leads_to,
};

const CREATED: [Call; 14] = [
    Linked, Make, Lock, Held, Named, Allocate, Write, SyncAll, Rename, Held, SyncFolder, Held,
    Named, Unlock,
];
const OPENED: [Call; 7] = [Open, Held, Lock, Held, Named, Read, Read];
const WRITTEN: [Call; 6] = [Held, Named, Write, SyncData, Held, Named];

/// Returns the calls of an open with its confirmation and of a write. One check of the name serves both.
fn confirmed_and_written() -> Vec<Call> {
    [&WRITTEN[..], &WRITTEN[2..]].concat()
}

#[test]
fn a_record_is_synced_before_it_is_said_and_its_name_too() {
    let (_folder, path) = place();
    let system = Arc::new(Tried::default());
    drop(create(&system, &path).expect("it is new"));
    assert_eq!(system.take(), CREATED);
    let mut file = open(&system, &path).expect("it is whole");
    assert_eq!(system.take(), OPENED);
    file.write(b"record 2").expect("written");
    assert_eq!(
        system.take(),
        confirmed_and_written(),
        "the first write confirms the record before"
    );
    file.write(b"record 3").expect("written");
    assert_eq!(system.take(), WRITTEN);
    let stamp = file.stamp();
    drop(file);
    assert_eq!(system.take(), [Unlock]);

    let mut file = open(&system, &path).expect("it is whole");
    file.trust(stamp);
    system.take();
    file.write(b"record 4").expect("written");
    assert_eq!(system.take(), WRITTEN, "this process has synced record 3");
    file.trust(stamp);
    drop(file);
    system.take();
    let mut file = open(&system, &path).expect("it is whole");
    file.trust(stamp);
    system.take();
    file.write(b"record 5").expect("written");
    assert_eq!(
        system.take(),
        confirmed_and_written(),
        "another record than the trusted one"
    );
}

#[test]
fn a_call_that_a_signal_interrupts_is_made_again() {
    let (_folder, path) = place();
    let system = Arc::new(Tried::default());
    drop(create(&system, &path).expect("it is new"));
    let interrupt = |calls: &[Call], call| {
        let at = calls.iter().position(|other| *other == call).expect("one");
        system.plan(at, Event::Fails(ErrorKind::Interrupted));
    };
    interrupt(&OPENED, Read);
    let mut file = open(&system, &path).expect("it is whole");
    interrupt(&WRITTEN, Write);
    file.write(b"record 2").expect("written");
}

#[test]
fn another_record_of_the_same_number_has_another_stamp() {
    let (_folder, path) = place();
    drop(create(&Arc::default(), &path).expect("made"));
    let backup = fs::read(&path).expect("there");
    let stamps = [b"record 2", b"record B"].map(|record| {
        fs::write(&path, &backup).expect("into the same file");
        let mut file = open(&Arc::default(), &path).expect("whole");
        file.write(record).expect("written");
        file.stamp()
    });
    assert_ne!(stamps[0], stamps[1]);
}

#[test]
fn a_file_that_could_not_be_made_does_not_exist_and_the_next_one_is_made() {
    for (at, call) in CREATED.iter().enumerate().take(CREATED.len() - 1) {
        let (folder, path) = place();
        let system = Arc::new(Tried::default());
        system.plan(at, Event::Fails(ErrorKind::StorageFull));
        let refused = create(&system, &path).expect_err("no room");
        let has_name = CREATED.iter().take(at).any(|call| *call == Rename);
        let is_told = if has_name {
            matches!(&refused, RecordFileError::Unknown(_))
        } else {
            matches!(&refused, RecordFileError::Io(error) if error.kind() == ErrorKind::StorageFull)
        };
        assert!(is_told, "{call:?}: {refused:?}");
        let is_moved = at > 10;
        let left = if is_moved {
            vec!["jobs"]
        } else if (2..5).contains(&at) {
            vec![".jobs.new"]
        } else {
            vec![]
        };
        assert_eq!(names(&folder), left, "{at}");
        let again = create(&Arc::default(), &path);
        assert_eq!(again.is_err(), is_moved, "{again:?}");
        drop(again);
        assert_eq!(found(&path), b"record 1");
        assert_eq!(names(&folder), ["jobs"]);
    }
}

/// The slots of a file with a large limit are too long to be written at once.
#[test]
fn a_long_file_is_made_of_its_ends_and_has_its_room() {
    let limit = (512 << 10) - 44;
    for len in [8, 40 << 10, limit] {
        let (_folder, path) = place();
        let system = Arc::new(Tried::default());
        let record = vec![7; len];
        let made = RecordFile::create(Arc::<Tried>::clone(&system), &path, limit, &record);
        let mut file = made.expect("it is new");
        let can_allocate = Host.allocate(&tempfile::tempfile().unwrap(), 4096).unwrap();
        let writes = system.take().iter().filter(|call| **call == Write).count();
        assert_eq!(writes, if can_allocate { 3 } else { 1 });
        assert_eq!(file.record(), record);
        let on_disk = fs::metadata(&path).expect("it is there");
        assert_eq!(on_disk.len(), 1 << 20);
        assert!(on_disk.blocks() * 512 >= 1 << 20, "nothing is left out");
        file.write(&vec![8; limit]).expect("written");
        drop(file);
        assert_eq!(found(&path), vec![8; limit]);
    }
}

#[test]
fn the_name_of_another_file_is_never_taken() {
    let (folder, path) = place();
    fs::write(&path, "theirs").expect("written");
    assert_refused!(create(&Arc::default(), &path), RecordFileError::Exists);
    fs::remove_file(&path).expect("removed");
    // Another process creates the file after the check.
    let (system, late) = (Arc::new(Tried::default()), path.clone());
    let rename = CREATED
        .iter()
        .position(|call| *call == Rename)
        .expect("one");
    let write = move || fs::write(late, "theirs").expect("written");
    system.plan(rename, Event::Before(Box::new(write)));
    assert_refused!(create(&system, &path), RecordFileError::Exists);
    assert_eq!(fs::read(&path).expect("there"), b"theirs");
    assert_eq!(names(&folder), ["jobs"], "nothing stays behind");
}

#[test]
fn a_new_file_left_by_a_crash_is_used_unless_it_has_a_second_name() {
    let (folder, path) = place();
    let beside = folder.path().join(".jobs.new");
    fs::write(&beside, "x".repeat(100_000)).expect("written");
    drop(create(&Arc::default(), &path).expect("made"));
    assert_eq!(found(&path), b"record 1");
    let votes = folder.path().join("votes");
    fs::rename(&path, &votes).expect("renamed");
    fs::hard_link(&votes, &beside).expect("linked");
    drop(create(&Arc::default(), &path).expect("made"));
    let mut file = open(&Arc::default(), &path).expect("whole");
    file.write(b"record 2").expect("written");
    assert_eq!(found(&votes), b"record 1", "another file");
    assert_eq!(names(&folder), ["jobs", "votes"]);
}

#[test]
fn of_two_that_make_one_file_the_second_is_told_so() {
    let (folder, path) = place();
    let first = create(&Arc::default(), &path).expect("made");
    fs::hard_link(&path, folder.path().join(".jobs.new")).expect("linked");
    fs::rename(&path, folder.path().join("moved")).expect("renamed");
    let refused = create(&Arc::default(), &path).expect_err("the first one has it");
    let mine = std::process::id();
    assert!(
        matches!(refused, RecordFileError::InUse(file) if file.holder() == Some(mine) || cfg!(not(target_os = "linux"))),
        "{refused:?}"
    );
    drop(first);
}

/// Some file systems give the number of a removed file to the next file.
#[test]
fn a_file_that_has_no_name_any_more_is_another_one() {
    let (_folder, path) = place();
    drop(create(&Arc::default(), &path).expect("made"));
    let named = Host.named(&path).expect("there");
    let is_it = [1, 0].map(|links| leads_to(&Host, &path, &Status { links, ..named }).unwrap());
    assert_eq!(is_it, [true, false]);
}

#[test]
fn a_record_that_is_too_long_is_not_written() {
    let (_folder, path) = place();
    let mut file = create(&Arc::default(), &path).expect("made");
    let most = vec![7; file.limit()];
    assert_eq!(most.len(), 8148);
    file.write(&most).expect("it fits");
    assert_refused!(
        file.write(&[most.as_slice(), b"x"].concat()),
        RecordFileError::TooLarge {
            len: 8149,
            max: 8148
        }
    );
    assert_eq!(file.record(), most);
    drop(file);
    assert_eq!(found(&path), most);
    let (_folder, path) = place();
    let refused = RecordFile::create(Arc::new(Tried::default()), &path, 1 << 20, b"");
    assert!(matches!(refused, Err(RecordFileError::TooLarge { .. })));
    let refused = RecordFile::create(Arc::new(Tried::default()), &path, LIMIT, &[0; 9000]);
    assert_refused!(refused, RecordFileError::TooLarge { .. });
    assert!(!path.exists());
}

#[test]
fn open_reports_why_a_file_is_refused() {
    let (folder, path) = place();
    let refused = |path| open(&Arc::default(), path).expect_err("refused");
    assert!(matches!(refused(&path), RecordFileError::Missing));
    assert!(matches!(
        refused(folder.path()),
        RecordFileError::Damaged(FileDamage::NotAFile)
    ));
    assert!(matches!(
        refused("/dev/null".as_ref()),
        RecordFileError::Damaged(FileDamage::NotAFile)
    ));
    for (bytes, damage) in [
        (b"".to_vec(), FileDamage::Length { len: 0 }),
        (
            b"actix-bully store 2\n{}\n".to_vec(),
            FileDamage::Length { len: 23 },
        ),
        (vec![0; 16_384], FileDamage::Empty),
        (vec![0; 20_000], FileDamage::Length { len: 20_000 }),
        (vec![0; 8 << 20], FileDamage::Length { len: 8 << 20 }),
    ] {
        fs::write(&path, bytes).expect("written");
        let refused = refused(&path);
        assert!(
            matches!(refused, RecordFileError::Damaged(found) if found == damage),
            "{refused:?}"
        );
    }
}

#[test]
fn a_file_is_open_once_and_a_hard_link_is_the_same_file() {
    let (folder, path) = place();
    let link = folder.path().join("link");
    let copy = folder.path().join("copy");
    let file = create(&Arc::default(), &path).expect("made");
    fs::hard_link(&path, &link).expect("linked");
    fs::copy(&path, &copy).expect("copied");
    for path in [&path, &link] {
        // A `close` of the file elsewhere in this process releases no lock.
        drop(fs::File::open(path).expect("opened"));
        let refused = open(&Arc::default(), path).expect_err("in use");
        assert!(matches!(refused, RecordFileError::InUse(_)), "{refused:?}");
        #[cfg(target_os = "linux")]
        assert_eq!(
            refused.to_string(),
            format!(
                "the file is in use by process {}: close it there, or choose another path",
                std::process::id()
            )
        );
    }
    let copied = open(&Arc::default(), &copy).expect("another file");
    assert_ne!(copied.stamp(), file.stamp());
    let stamp = file.stamp();
    drop(file);
    let linked = open(&Arc::default(), &link).expect("free");
    assert_eq!(linked.stamp(), stamp, "the same record of the same file");
    assert!(stamp.to_string().len() < 64, "{stamp}");
}

#[test]
fn a_lock_ends_although_somebody_inherited_the_file() {
    let (_folder, path) = place();
    let file = create(&Arc::default(), &path).expect("made");
    let inherited = file.held.file().try_clone().expect("a second descriptor");
    drop(file);
    drop(open(&Arc::default(), &path).expect("free"));
    drop(inherited);
}

#[test]
fn a_forked_child_neither_writes_nor_unlocks() {
    let (_folder, path) = place();
    let system = Arc::new(Tried::default());
    let mut file = create(&system, &path).expect("made");
    let parents = file
        .held
        .file()
        .try_clone()
        .expect("the parent's descriptor");
    system.take();
    system.forked.store(1, SeqCst);
    assert!(matches!(
        file.write(b"record 2"),
        Err(RecordFileError::Forked)
    ));
    assert_refused!(file.confirm(), RecordFileError::Forked);
    drop(file);
    assert_eq!(system.take(), []);
    assert_refused!(open(&Arc::default(), &path), RecordFileError::InUse(_));
    drop(parents);
    assert_eq!(found(&path), b"record 1");
}

#[test]
fn a_file_that_is_removed_is_gone_and_its_name_is_free() {
    let (folder, path) = place();
    let system = Arc::new(Tried::default());
    let file = create(&system, &path).expect("made");
    system.take();
    file.remove().expect("removed");
    assert_eq!(system.take(), [Held, Named, Remove, SyncFolder, Unlock]);
    assert_eq!(names(&folder), Vec::<String>::new());
    let file = create(&system, &path).expect("made");
    system.plan(2, Event::Fails(ErrorKind::PermissionDenied));
    assert_refused!(file.remove(), RecordFileError::Io(_));
    assert_eq!(found(&path), b"record 1");
    let file = open(&system, &path).expect("whole");
    system.plan(3, Event::Fails(ErrorKind::Other));
    assert_refused!(file.remove(), RecordFileError::Unknown(_));
}
