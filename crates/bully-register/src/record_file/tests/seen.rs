//! Reading a file without its lock, at any moment of its writer.

use std::{
    fs,
    io::ErrorKind,
    path::{Path, PathBuf},
    sync::Arc,
};

use tempfile::TempDir;

use super::{
    create, found, open, place,
    tried::{
        Call::{Held, Named, Open, Read},
        Event, Tried, put,
    },
};
use crate::record_file::{FileDamage, FileSystem, RecordFile, RecordFileError, Seen};

/// Reads the file without its lock.
fn see(system: &Arc<Tried>, path: &Path) -> Result<Option<Seen>, RecordFileError> {
    let system: Arc<dyn FileSystem> = Arc::<Tried>::clone(system);
    RecordFile::see(&system, path)
}

/// Returns the number of the record that a reader sees. 0 means: only a reader with the lock can decide.
fn number(system: &Arc<Tried>, path: &Path) -> u64 {
    let seen = see(system, path).expect("it is there");
    seen.map_or(0, |seen| {
        let text = String::from_utf8(seen.record).expect("text");
        let number = text.strip_prefix("record ").expect("a record");
        number.parse().expect("a number")
    })
}

fn write(file: &mut RecordFile, number: u64) {
    file.write(format!("record {number}").as_bytes())
        .expect("written");
}

/// Returns a file in which the writer wrote and confirmed the records up to `last`.
fn with(last: u64) -> (TempDir, PathBuf, RecordFile) {
    let (folder, path) = place();
    let mut file = create(&Arc::default(), &path).expect("made");
    file.say();
    for number in 2..=last {
        write(&mut file, number);
        file.say();
    }
    (folder, path, file)
}

#[test]
fn a_record_is_seen_from_when_it_was_said_although_the_file_is_locked() {
    let (_folder, path) = place();
    let system = Arc::new(Tried::default());
    let mut file = create(&Arc::default(), &path).expect("made");
    assert_eq!(see(&system, &path).expect("there"), None);
    file.say();
    for last in 1..5 {
        let seen = see(&system, &path).expect("there").expect("it was said");
        assert_eq!(seen.record, file.record());
        assert_eq!(seen.stamp, file.stamp());
        write(&mut file, last + 1);
        // The record is durable, but the next step of its writer may still fail.
        assert_eq!(number(&system, &path), 0);
        file.say();
    }
    system.take();
    assert_eq!(number(&system, &path), 5);
    assert_eq!(system.take(), [Open, Held, Read, Read, Named]);
}

#[test]
fn a_record_whose_sync_failed_is_never_seen() {
    let (_folder, path, file) = with(3);
    drop(file);
    let (writer, reader) = (Arc::new(Tried::default()), Arc::new(Tried::default()));
    let mut file = open(&writer, &path).expect("whole");
    file.confirm().expect("written");
    writer.take();
    let (place, looker) = (path.clone(), Arc::clone(&reader));
    let look = move || assert_eq!(number(&looker, &place), 0, "until it is voided");
    writer.plan(4, Event::Before(Box::new(look)));
    writer.plan(3, Event::Fails(ErrorKind::Other));
    assert_refused!(file.write(b"record 4"), RecordFileError::Unknown(_));
    assert_eq!(writer.take().len(), 5);
    assert_eq!(number(&reader, &path), 3, "it is the newest again");
}

#[test]
fn a_file_left_by_a_killed_writer_is_not_read_without_the_lock() {
    let (_folder, path, mut file) = with(3);
    write(&mut file, 4);
    drop(file);
    let system = Arc::new(Tried::default());
    assert_eq!(number(&system, &path), 0);
    assert_eq!(found(&path), b"record 4");
    let mut file = open(&Arc::default(), &path).expect("whole");
    write(&mut file, 5);
    file.say();
    assert_eq!(number(&system, &path), 5);
}

/// The writes happen between the two reads of the reader. The reader never takes an earlier record for the newest one.
#[test]
fn a_reader_that_is_overtaken_sees_no_record_that_was_over_before_it_began() {
    for begins in 1..5 {
        for writes in 0..5 {
            for (cut, said) in [(0, true), (8192, true), (8200, false), (16_000, false)] {
                let (_folder, path, mut file) = with(begins);
                let system = Arc::new(Tried::default());
                if cut > 0 {
                    system.plan(2, Event::Short(cut));
                }
                let act = move || {
                    for number in begins + 1..=begins + writes {
                        write(&mut file, number);
                        if said || number < begins + writes {
                            file.say();
                        }
                    }
                };
                system.plan(3, Event::Before(Box::new(act)));
                let seen = number(&system, &path);
                let when = format!("{begins}, {writes} more, read up to {cut}: {seen}");
                let newest = begins + writes;
                assert!(seen == 0 || (begins..=newest).contains(&seen), "{when}");
                if writes == 0 {
                    assert_eq!(seen, begins, "{when}");
                }
                // The record that was read first has been overwritten.
                if cut == 0 && writes > 1 {
                    assert_eq!(seen, 0, "{when}");
                }
            }
        }
    }
}

#[test]
fn a_record_that_is_torn_is_not_seen_and_the_one_before_it_is() {
    let (_folder, path, file) = with(4);
    drop(file);
    let system = Arc::new(Tried::default());
    let whole = fs::read(&path).expect("there");
    let mut torn = whole;
    // Record 5 begins in the slot of record 3.
    put(&mut torn, 16, &[5]);
    fs::write(&path, torn).expect("written");
    assert_eq!(number(&system, &path), 4);
}

/// The writer of record 5 was killed before it confirmed the record, and the next writer is just beginning.
#[test]
fn a_reader_that_was_overtaken_by_three_writes_does_not_see_the_first_slot_as_it_was() {
    let (_folder, path, mut file) = with(3);
    let system = Arc::new(Tried::default());
    let name = path.clone();
    let act = move || {
        write(&mut file, 4);
        file.say();
        write(&mut file, 5);
        let mut bytes = fs::read(&name).expect("there");
        put(&mut bytes, 8192 + 16, &[6]);
        fs::write(&name, bytes).expect("written");
    };
    system.plan(2, Event::Short(8192));
    system.plan(3, Event::Before(Box::new(act)));
    assert_eq!(number(&system, &path), 0);
}

#[test]
fn a_file_that_is_replaced_while_it_is_read_is_read_anew() {
    let (folder, path, file) = with(4);
    drop(file);
    let (_other, from, file) = with(2);
    drop(file);
    let new = folder.path().join("new");
    fs::copy(from, &new).expect("copied");
    let system = Arc::new(Tried::default());
    let name = path.clone();
    let replace = move || fs::rename(&new, &name).expect("replaced");
    system.plan(4, Event::Before(Box::new(replace)));
    assert_eq!(number(&system, &path), 2);
    let name = path.clone();
    let remove = move || fs::remove_file(&name).expect("there");
    system.plan(4, Event::Before(Box::new(remove)));
    assert_refused!(see(&system, &path), RecordFileError::Missing);
}

#[test]
fn a_file_of_a_wrong_length_is_not_read_without_the_lock() {
    let (folder, path) = place();
    let system = Arc::new(Tried::default());
    for len in [0, 100, 16_384] {
        fs::write(&path, vec![0; len]).expect("written");
        assert_eq!(see(&system, &path).expect("there"), None, "{len}");
    }
    assert_refused!(
        see(&system, folder.path()),
        RecordFileError::Damaged(FileDamage::NotAFile)
    );
}
