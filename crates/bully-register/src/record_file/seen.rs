//! Reads without the lock of the file.
//!
//! The lock is for writers. Hundreds of processes may each read one file some ten times a second. If each reader locked
//! it, a reader that loses its processor while it has the lock would hold up all others.
//!
//! Decided here: which record a reader may use without the lock. A reader does not use a record that is being written,
//! or whose sync has failed. A writer confirms its record after the sync, and after it has compared the file's name
//! once more: it writes a note into the other slot. A record without its note may belong to a writer that was killed:
//! the lock decides ([`RecordFile::open`]).
//!
//! # Why the record was the newest
//! A reader reads both slots, in any order, and then the header of the newest record again. Let N be that record, which
//! was confirmed, and O the other slot. At the second read the writing of N + 2 (into the slot of N) had not begun, so
//! O could have contained N + 1. If N + 1 had been confirmed when O was read, the read would have shown it. So N was
//! the newest confirmed record at that moment, or at its own confirmation, if that came later.

use std::{
    fs::File,
    io,
    path::Path,
    sync::{
        Arc,
        atomic::{Ordering, fence},
    },
};

use super::{
    FileDamage, FileSystem, RecordFile, RecordFileError, Stamp, TRIES, leads_to, opened, read_all,
    slot::{NOTE, Slot, SlotSize},
    write_all,
};

/// The newest record of a file, which its writer has confirmed as durable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seen {
    /// The record.
    pub record: Vec<u8>,
    /// The stamp of the record.
    pub stamp: Stamp,
}

impl RecordFile {
    /// Returns the newest record, read without the lock; `None` if the lock is needed to be sure.
    ///
    /// # Errors
    /// [`RecordFileError::Missing`], [`RecordFileError::Replaced`] when the name led to another file at each try, and
    /// errors of the system.
    pub fn see(system: &Arc<dyn FileSystem>, path: &Path) -> Result<Option<Seen>, RecordFileError> {
        let path = std::path::absolute(path)?;
        for _ in 0..TRIES {
            let file = opened(&**system, &path)?;
            let status = system.held(&file)?;
            if !status.is_file {
                return Err(FileDamage::NotAFile.into());
            }
            let Some(size) = SlotSize::of_file(status.len) else {
                return Ok(None);
            };
            let newest = newest_said(&**system, &file, size)?;
            if leads_to(&**system, &path, &status)? {
                return Ok(newest.map(|newest| Seen {
                    stamp: Stamp::of(&status, &newest, size),
                    record: newest.record,
                }));
            }
        }
        Err(RecordFileError::Replaced)
    }

    /// Returns the newest record of this file.
    pub fn seen(self) -> Seen {
        Seen {
            stamp: self.stamp(),
            record: self.newest.record,
        }
    }

    /// Writes the note that the newest record is durable, for readers without the lock. Without the note, readers take
    /// the lock.
    pub fn say(&self) {
        let note = self.newest.note(self.size);
        let at = self.newest.note_offset(self.size);
        write_all(&*self.system, self.held.file(), at, &note).ok();
    }
}

fn newest_said(system: &dyn FileSystem, file: &File, size: SlotSize) -> io::Result<Option<Slot>> {
    let mut bytes = vec![0; size.file_len()];
    let len = read_all(system, file, 0, &mut bytes)?;
    bytes.truncate(len);
    // A record that is being written looks like damage. A reader with the lock can distinguish the two.
    let Ok(newest) = Slot::newest(&bytes, size) else {
        return Ok(None);
    };
    let noted = usize::try_from(newest.note_offset(size)).unwrap_or(usize::MAX);
    let noted = bytes.get(noted..noted.saturating_add(NOTE));
    if noted != Some(&newest.note(size)) {
        return Ok(None);
    }
    // The fence makes the second read later than the first read, on any processor.
    fence(Ordering::SeqCst);
    let mut again = Slot::VOID;
    read_all(system, file, newest.offset(size), &mut again)?;
    Ok((again == newest.header(size)).then_some(newest))
}
