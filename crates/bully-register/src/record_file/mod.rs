//! One small record in a file: it survives a crash at any byte, and one process at a time has it open.
//!
//! ```text
//!   create ──▶ .NAME.new: both slots allocated, first record, sync ──▶ NAME, if that is free ──▶ sync of the folder
//!
//!   NAME   ┌──────────────┬──────────────┐   write N+1: into the slot of N-1, one write, one fdatasync
//!          │ record N     │ record N-1   │   open:      lock, compare the name, take the newest valid slot
//!          └──────────────┴──────────────┘   see:       no lock: both slots, then the newest once more
//! ```
//!
//! Decided here: the order of the calls, which process holds the file, and which record the file has after a failed
//! call. Not here: the meaning of the record, and the reaction to an error. The user of this module decides both (a
//! store of votes, or [`FileRegister`](crate::FileRegister)). All functions of this module block.
//!
//! # Rules
//! | rule | decided in |
//! |---|---|
//! | `two-slots`: a write does not touch the newest durable record; it uses the other slot | `mod.rs`, `slot.rs` |
//! | `confirm-first`: before the first write, a record that this process did not sync itself is written again and synced: the same bytes in the same slot. Its writer may have been killed before its sync, or the sync may have failed | `mod.rs` |
//! | `failed-sync-voids`: Linux marks pages clean after a failed sync, so a later read would show bytes that the disk never received. The writer voids its slot before it releases the lock. If it cannot, it keeps the lock until its process ends | `mod.rs` |
//! | `same-file`: name, device, inode, length and number of links are compared before a write and after its sync | `mod.rs` |
//! | `lock-of-the-inode`: the lock is a `flock`. It belongs to the inode, so a hard link or a mounted file has the same lock. It also belongs to the open file description, so another `close` in the process changes nothing. A forked child never unlocks | `locked.rs` |
//! | `seen-when-said`: a reader without the lock returns the newest record if its writer has noted that it is durable and no newer one came meanwhile; otherwise it needs the lock | `seen.rs` |
//! | `no-half-file`: a file gets its name when it is complete, and never replaces another file of that name | `create.rs` |
//! | two slots without a record are damage, never an empty file | `mod.rs` |
//!
//! Read on: `slot.rs` has every byte, `system.rs` the calls.

mod busy;
mod create;
mod error;
mod locked;
mod seen;
mod slot;
mod system;
#[cfg(test)]
#[cfg(unix)]
mod tests;
#[cfg(any(test, feature = "testkit"))]
#[doc(hidden)]
pub mod tried;

use std::{
    fmt,
    fs::File,
    io,
    path::{Path, PathBuf},
    sync::Arc,
};

pub use busy::{Busy, UNSEEN};
pub use error::{FileDamage, RecordFileError};
pub use seen::Seen;
pub use system::{Call, FileSystem, Host, Status};

use locked::Locked;
use slot::{Slot, SlotSize};

/// A file with one record. The file is open and locked as long as this value exists.
#[derive(Debug)]
pub struct RecordFile {
    system: Arc<dyn FileSystem>,
    /// Absolute, so that a change of the working directory does not matter.
    path: PathBuf,
    held: Locked,
    /// The status of the file when it was opened.
    status: Status,
    size: SlotSize,
    newest: Slot,
    /// Whether the newest record is known to be on the disk.
    is_durable: bool,
}

impl RecordFile {
    /// Opens a file and locks it, unless another owner has it open.
    ///
    /// # Errors
    /// [`RecordFileError::Missing`], [`RecordFileError::InUse`], [`RecordFileError::Damaged`],
    /// [`RecordFileError::Format`], [`RecordFileError::Replaced`] when the name led to another file at each try,
    /// and errors of the system. The file is unchanged.
    pub fn open(system: Arc<dyn FileSystem>, path: &Path) -> Result<Self, RecordFileError> {
        let path = std::path::absolute(path)?;
        for _ in 0..TRIES {
            let file = opened(&*system, &path)?;
            if !system.held(&file)?.is_file {
                return Err(FileDamage::NotAFile.into());
            }
            let held = Locked::new(Arc::clone(&system), file)?;
            let status = system.held(held.file())?;
            if !leads_to(&*system, &path, &status)? {
                // The file was removed or replaced between the opening and the lock.
                continue;
            }
            let (size, newest) = read(&*system, &held, &status)?;
            return Ok(Self {
                system,
                path,
                held,
                status,
                size,
                newest,
                is_durable: false,
            });
        }
        Err(RecordFileError::Replaced)
    }

    /// Returns the newest record.
    pub fn record(&self) -> &[u8] {
        &self.newest.record
    }

    /// Returns the stamp of the newest record and its file.
    pub fn stamp(&self) -> Stamp {
        Stamp::of(&self.status, &self.newest, self.size)
    }

    /// Returns the length of the longest record that fits into the file, in bytes.
    pub fn limit(&self) -> usize {
        self.size.limit()
    }

    /// Notes that this process has already synced the record with this stamp. If it is still the newest record, the
    /// next write does not [confirm](Self::confirm) it again.
    pub fn trust(&mut self, synced: Stamp) {
        self.is_durable |= self.stamp() == synced;
    }

    /// Writes the newest record again, the same bytes into the same slot, and syncs it. Afterwards the record is
    /// durable, even if the sync of its first writer failed.
    ///
    /// # Errors
    /// Errors of the system, and [`RecordFileError::Replaced`]. The newest record is unchanged, and as durable as
    /// before.
    pub fn confirm(&mut self) -> Result<(), RecordFileError> {
        self.check()?;
        let bytes = self.newest.encode(self.size);
        // If this fails, the slot is not voided, because it may contain the only valid record.
        self.write_all(self.newest.offset(self.size), &bytes)?;
        self.system.sync_data(self.held.file())?;
        self.check()?;
        self.is_durable = true;
        Ok(())
    }

    /// Replaces the newest record. The new record is durable when this returns.
    ///
    /// # Errors
    /// [`RecordFileError::Unknown`], or [`RecordFileError::Replaced`] after the sync: the disk may have the new
    /// record. After every other error, nothing was written.
    pub fn write(&mut self, record: &[u8]) -> Result<(), RecordFileError> {
        if record.len() > self.limit() {
            return Err(RecordFileError::TooLarge {
                len: record.len(),
                max: self.limit(),
            });
        }
        if self.is_durable {
            self.check()?;
        } else {
            self.confirm()?;
        }
        let next = self.newest.next(record)?;
        let at = next.offset(self.size);
        match self.write_all(at, &next.encode(self.size)) {
            Ok(()) => {}
            Err(Unwritten::Nothing(error)) => return Err(error.into()),
            Err(Unwritten::Part(error)) => return Err(self.give_up(at, error)),
        }
        if let Err(error) = self.system.sync_data(self.held.file()) {
            return Err(self.give_up(at, error));
        }
        self.newest = next;
        self.check_written()
    }

    /// Removes the file. When this returns, the name is free, and stays free after a crash.
    ///
    /// # Errors
    /// [`RecordFileError::Unknown`] if the file may come back after a crash. After every other error, the file is
    /// unchanged.
    pub fn remove(self) -> Result<(), RecordFileError> {
        self.check()?;
        self.system.remove(&self.path)?;
        let synced = self.system.sync_folder(create::folder_of(&self.path));
        synced.map_err(RecordFileError::Unknown)
    }

    /// Voids the slot of a record that may not be on the disk, because a reader must not see it. The next writer
    /// takes the same slot, because the other slot has the only durable record.
    fn give_up(&self, at: u64, error: io::Error) -> RecordFileError {
        if self.write_all(at, &Slot::VOID).is_err() {
            self.held.keep_until_exit();
        }
        RecordFileError::Unknown(error)
    }

    /// Checks that this process may still write, and that the name still leads to its file.
    fn check(&self) -> Result<(), RecordFileError> {
        self.held.check_process()?;
        let held = self.system.held(self.held.file())?;
        let is_whole = held.len == self.status.len;
        if leads_to(&*self.system, &self.path, &held)? && is_whole {
            Ok(())
        } else {
            Err(RecordFileError::Replaced)
        }
    }

    /// Makes the same check after a write, when an error can no longer mean that nothing was written.
    fn check_written(&self) -> Result<(), RecordFileError> {
        match self.check() {
            Err(RecordFileError::Io(error)) => Err(RecordFileError::Unknown(error)),
            checked => checked,
        }
    }

    fn write_all(&self, at: u64, bytes: &[u8]) -> Result<(), Unwritten> {
        write_all(&*self.system, self.held.file(), at, bytes)
    }
}

fn opened(system: &dyn FileSystem, path: &Path) -> Result<File, RecordFileError> {
    system.open(path).map_err(|error| {
        if error.kind() == io::ErrorKind::NotFound {
            RecordFileError::Missing
        } else if error.kind() == io::ErrorKind::IsADirectory {
            FileDamage::NotAFile.into()
        } else {
            error.into()
        }
    })
}

/// Writes all bytes, in one call unless the system takes fewer.
fn write_all(
    system: &dyn FileSystem,
    file: &File,
    mut at: u64,
    mut bytes: &[u8],
) -> Result<(), Unwritten> {
    let mut failed: fn(io::Error) -> Unwritten = Unwritten::Nothing;
    while !bytes.is_empty() {
        let written = match system.write_at(file, bytes, at) {
            Ok(0) => return Err(failed(io::ErrorKind::WriteZero.into())),
            Ok(written) => written,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(failed(error)),
        };
        failed = Unwritten::Part;
        bytes = bytes.get(written..).unwrap_or_default();
        at = at.saturating_add(u64::try_from(written).unwrap_or(u64::MAX));
    }
    Ok(())
}

/// Returns the newest valid record of both slots.
fn read(
    system: &dyn FileSystem,
    held: &Locked,
    status: &Status,
) -> Result<(SlotSize, Slot), RecordFileError> {
    let size = SlotSize::of_file(status.len);
    let Some(size) = size else {
        return Err(FileDamage::Length { len: status.len }.into());
    };
    let mut bytes = vec![0; size.file_len()];
    for slot in bytes.chunks_mut(size.len()).zip([0, size.len()]) {
        read_used(system, held.file(), slot)?;
    }
    Slot::newest(&bytes, size).map(|newest| (size, newest))
}

/// Reads only the used part of a slot: a slot has space for a long record, but most records are short.
fn read_used(
    system: &dyn FileSystem,
    file: &File,
    (slot, at): (&mut [u8], usize),
) -> Result<(), RecordFileError> {
    let mut read = |from: usize, to: usize| {
        let at = u64::try_from(at.saturating_add(from)).unwrap_or(u64::MAX);
        let into = slot.get_mut(from..to.min(slot.len())).unwrap_or_default();
        let len = read_all(system, file, at, into)?;
        if len == into.len() {
            return Ok(slot::used(slot));
        }
        let len = at.saturating_add(u64::try_from(len).unwrap_or(u64::MAX));
        Err(RecordFileError::from(FileDamage::Length { len }))
    };
    let used = read(0, PAGE)?;
    if used > PAGE {
        read(PAGE, used)?;
    }
    Ok(())
}

/// Length of the first read of a slot, in bytes.
const PAGE: usize = 4_096;

/// Reads from the offset `at` on, in one call unless the system returns fewer bytes.
fn read_all(system: &dyn FileSystem, file: &File, at: u64, into: &mut [u8]) -> io::Result<usize> {
    let mut len = 0;
    while let Some(rest) = into.get_mut(len..).filter(|rest| !rest.is_empty()) {
        let from = at.saturating_add(u64::try_from(len).unwrap_or(u64::MAX));
        match system.read_at(file, rest, from) {
            Ok(0) => break,
            Ok(read) => len += read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(len)
}

/// Returns whether the name leads to this file, and the file still has a name.
fn leads_to(system: &dyn FileSystem, path: &Path, held: &Status) -> io::Result<bool> {
    match system.named(path) {
        Ok(named) => Ok(named.is_same_file(held) && held.links > 0),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

/// Identifies one record in one file. Another record, or a copy of the record in another file, has another stamp.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stamp {
    device: u64,
    inode: u64,
    number: u64,
    checksum: u32,
}

impl Stamp {
    fn of(file: &Status, newest: &Slot, size: SlotSize) -> Self {
        Self {
            device: file.device,
            inode: file.inode,
            number: newest.number,
            checksum: newest.checksum(size),
        }
    }
}

impl fmt::Display for Stamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            device,
            inode,
            number,
            checksum,
        } = self;
        write!(f, "{device:x}-{inode:x}-{number:x}-{checksum:08x}")
    }
}

/// The error of a write: whether nothing was written, or perhaps a part.
#[derive(Debug)]
enum Unwritten {
    Nothing(io::Error),
    Part(io::Error),
}

impl From<Unwritten> for RecordFileError {
    fn from(unwritten: Unwritten) -> Self {
        match unwritten {
            Unwritten::Nothing(error) | Unwritten::Part(error) => Self::Io(error),
        }
    }
}

/// Number of tries to open and lock. All of them fail only if other processes replace the file again and again. Any
/// number from 3 to 100 would do.
const TRIES: usize = 8;
