//! The file after a failed call, and after a power loss at any moment since.

use std::{fs, io::ErrorKind, path::Path, sync::Arc};

use super::{
    create, found, open, place,
    tried::{Call, Disk, Event, Tried, put},
};
use crate::record_file::RecordFileError;

/// Returns each file that may be on the disk after a power loss now. It has any part of the writes since the last sync,
/// and each write may be cut at any of these places.
fn after_power_loss(disk: &Disk) -> Vec<Vec<u8>> {
    let mut images = vec![disk.durable.clone()];
    for (at, bytes) in &disk.dirty {
        let cuts = [
            1,
            8,
            17,
            31,
            32,
            33,
            bytes.len() / 2,
            bytes.len() - 1,
            bytes.len(),
        ];
        let before = images.clone();
        for image in before {
            for cut in cuts.into_iter().filter(|cut| *cut <= bytes.len()) {
                let mut image = image.clone();
                put(&mut image, *at, bytes.get(..cut).unwrap_or_default());
                images.push(image);
            }
        }
    }
    images
}

/// Asserts that every file that may be on the disk has one of these records.
fn check(system: &Tried, folder: &Path, allowed: &[&[u8]], when: &str) {
    let disk = system.disk.lock().unwrap().clone();
    let path = folder.join("after");
    for image in after_power_loss(&disk) {
        fs::write(&path, image).expect("written");
        let found = found(&path);
        assert!(
            allowed.contains(&found.as_slice()),
            "{when}: {}",
            String::from_utf8_lossy(&found)
        );
    }
}

/// Returns the events that may end a call.
fn events(call: Call) -> Vec<Event> {
    let mut all = vec![Event::Fails(ErrorKind::Other)];
    if call == Call::Write {
        all.extend([0, 1, 25, 39].map(Event::Short));
    }
    all
}

#[test]
fn after_any_call_failed_the_record_before_or_the_new_one_is_found() {
    let calls = {
        let (_folder, path) = place();
        let system = Arc::new(Tried::default());
        drop(create(&system, &path).expect("made"));
        let mut file = open(&system, &path).expect("whole");
        system.take();
        file.write(b"record 2").expect("written");
        system.take()
    };
    assert_eq!(calls.len(), 10);
    let mut unknown = 0;
    for (at, call) in calls.iter().enumerate() {
        for event in events(*call) {
            let (folder, path) = place();
            let system = Arc::new(Tried::default());
            drop(create(&system, &path).expect("made"));
            let mut file = open(&system, &path).expect("whole");
            let when = format!("{call:?}, number {at}");
            system.plan(at, event);
            let refused = file.write(b"record 2").expect_err("planned");
            let is_unknown = matches!(refused, RecordFileError::Unknown(_));
            assert!(
                is_unknown || matches!(refused, RecordFileError::Io(_)),
                "{when}: {refused:?}"
            );
            unknown += usize::from(is_unknown);
            let is_synced = at > 7;
            if is_unknown || is_synced {
                check(&system, folder.path(), &[b"record 1", b"record 2"], &when);
            } else {
                check(&system, folder.path(), &[b"record 1"], &when);
            }
            // The next process that opens the file sees no record that may be missing on the disk.
            drop(file);
            let now: &[u8] = if is_synced { b"record 2" } else { b"record 1" };
            assert_eq!(found(&path), now, "{when}");
            // The next writer does not overwrite the only durable record.
            let mut file = open(&system, &path).expect("whole");
            system.take();
            system.plan(7, Event::Fails(ErrorKind::Other));
            let refused = file.write(b"record 3");
            assert!(
                matches!(refused, Err(RecordFileError::Unknown(_))),
                "{when}: {refused:?}"
            );
            check(&system, folder.path(), &[now, b"record 3"], &when);
            file.write(b"record 4").expect("written");
            check(&system, folder.path(), &[b"record 4"], &when);
        }
    }
    let all = "three writes that were cut, the sync, and both looks after it";
    assert_eq!(unknown, 6, "{all}");
}

#[test]
fn a_record_whose_sync_failed_is_voided_before_others_may_look() {
    let (folder, path) = place();
    let system = Arc::new(Tried::default());
    let mut file = create(&system, &path).expect("made");
    system.take();
    system.plan(3, Event::Fails(ErrorKind::Other));
    assert!(file.write(b"record 2").is_err());
    let expected = [
        Call::Held,
        Call::Named,
        Call::Write,
        Call::SyncData,
        Call::Write,
    ];
    assert_eq!(system.take(), expected);
    drop(file);
    assert_eq!(system.take(), [Call::Unlock]);
    assert_eq!(found(&path), b"record 1");
    check(
        &system,
        folder.path(),
        &[b"record 1"],
        "pages are clean after it",
    );
}

#[test]
fn a_slot_that_cannot_be_voided_keeps_the_file_locked() {
    let (_folder, path) = place();
    let system = Arc::new(Tried::default());
    let mut file = create(&system, &path).expect("made");
    system.take();
    system.plan(3, Event::Fails(ErrorKind::Other));
    system.plan(4, Event::Fails(ErrorKind::Other));
    assert_refused!(file.write(b"record 2"), RecordFileError::Unknown(_));
    drop(file);
    assert_refused!(open(&Arc::default(), &path), RecordFileError::InUse(_));
}

/// The writer of record 2 was killed before its sync. So only record 1 is on the disk, and all readers see record 2.
#[test]
fn a_record_of_a_writer_that_was_killed_is_durable_before_the_one_before_it_is_overwritten() {
    let (folder, path) = place();
    let system = Arc::new(Tried::default());
    drop(create(&system, &path).expect("made"));
    let record = crate::record_file::slot::Slot {
        number: 2,
        record: b"record 2".to_vec(),
    };
    let size = crate::record_file::slot::SlotSize::for_limit(0).expect("the smallest");
    let mut image = fs::read(&path).expect("read");
    put(&mut image, 8192, &record.encode(size));
    fs::write(&path, image).expect("written");
    let mut file = open(&system, &path).expect("whole");
    assert_eq!(file.record(), b"record 2");
    check(&system, folder.path(), &[b"record 1"], "before");
    system.take();
    // The write of record 3 is cut.
    system.plan(6, Event::Short(20));
    assert!(file.write(b"record 3").is_err());
    check(&system, folder.path(), &[b"record 2"], "after");
}
