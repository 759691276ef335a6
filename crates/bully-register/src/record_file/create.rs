//! Creates a file: under a temporary name in the same folder first. When it is complete, it is moved to its final name.
//!
//! Decided here: the order of these calls. The temporary name is `.NAME.new`. The maker of the file locks it before the
//! move and keeps the lock after it, so no other process can open the file in between. If a crash leaves a file under
//! the temporary name, the next maker uses it.

use std::{
    ffi::OsString,
    io,
    path::{Path, PathBuf},
    sync::Arc,
};

use super::{
    FileSystem, RecordFile, RecordFileError, TRIES, leads_to,
    locked::Locked,
    slot::{Slot, SlotSize},
    system::Status,
    write_all,
};

/// Number of bytes that are written at the beginning of each slot: most records are shorter.
const WRITTEN: usize = 32 << 10;

/// Number of bytes that are written at the end of each slot, where the note is.
const PAGE: usize = 4096;

impl RecordFile {
    /// Makes a file with its first record, durable and locked. The file has room for records of `limit` bytes.
    ///
    /// # Errors
    /// [`RecordFileError::Exists`] when a file, folder or link of this name exists already; [`RecordFileError::InUse`]
    /// when another process is making the file; [`RecordFileError::TooLarge`], and errors of the system. After these
    /// errors this call has left no file under the name. [`RecordFileError::Unknown`]: the file already had its name,
    /// and may have it again after a crash.
    pub fn create(
        system: Arc<dyn FileSystem>,
        path: &Path,
        limit: usize,
        record: &[u8],
    ) -> Result<Self, RecordFileError> {
        let too_large = |max| RecordFileError::TooLarge {
            len: record.len(),
            max,
        };
        let size = SlotSize::for_limit(limit).ok_or_else(|| too_large(limit))?;
        if record.len() > size.limit() {
            return Err(too_large(size.limit()));
        }
        let path = std::path::absolute(path)?;
        let beside = beside(&path)?;
        match system.linked(&path) {
            Ok(_) => return Err(RecordFileError::Exists),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(error.into()),
        }
        let (held, made) = make(&system, &beside)?;
        let newest = Slot::first(record);
        let moved = fill(&*system, &held, size, &newest)
            .and_then(|()| system.rename_new(&beside, &path))
            .map_err(|error| {
                if error.kind() == io::ErrorKind::AlreadyExists {
                    RecordFileError::Exists
                } else {
                    error.into()
                }
            });
        if let Err(error) = moved {
            // The unfinished file is removed under the lock, so no other process is making it. If the removal fails,
            // the next maker uses the file.
            system.remove(&beside).ok();
            return Err(error);
        }
        let status = system.held(held.file());
        let named = system.sync_folder(folder_of(&path)).and(status);
        let status = match named {
            Ok(status) if status.is_same_file(&made) => status,
            Ok(_) => return Err(RecordFileError::Replaced),
            Err(error) => {
                // No other process has read the locked file. If it cannot be removed, it stays locked until this
                // process ends.
                if system.remove(&path).is_err() {
                    held.keep_until_exit();
                }
                return Err(RecordFileError::Unknown(error));
            }
        };
        let file = Self {
            system,
            path,
            held,
            status,
            size,
            newest,
            is_durable: true,
        };
        file.check_written()?;
        Ok(file)
    }
}

/// Returns the locked file of the temporary name `beside`. The file has no other name.
fn make(system: &Arc<dyn FileSystem>, beside: &Path) -> Result<(Locked, Status), RecordFileError> {
    for _ in 0..TRIES {
        let held = Locked::new(Arc::clone(system), system.open_or_make(beside)?)?;
        let status = system.held(held.file())?;
        if !leads_to(&**system, beside, &status)? {
            // Another maker has moved or removed the file before the lock was taken.
            continue;
        }
        if status.links == 1 {
            return Ok((held, status));
        }
        // After a crash between `link` and `unlink` the file has both names: only the temporary name is removed.
        system.remove(beside)?;
    }
    Err(RecordFileError::Replaced)
}

/// Allocates both slots and writes the first record.
fn fill(system: &dyn FileSystem, held: &Locked, size: SlotSize, first: &Slot) -> io::Result<()> {
    let len = u64::try_from(size.file_len()).unwrap_or(u64::MAX);
    let has_room = system.allocate(held.file(), len)?;
    // Zeros are written where most records and the notes will be, so that later writes change no metadata of the file.
    // All other bytes are written as well if the file system could not reserve the space.
    let slot = size.len();
    let mut beginning = first.encode(size);
    if has_room && slot > WRITTEN {
        let ends = [slot, size.file_len()].map(|at| at.saturating_sub(PAGE));
        for (at, len) in ends.into_iter().zip([PAGE + WRITTEN, PAGE]) {
            write(system, held, at, &vec![0; len])?;
        }
        // The record is written after the zeros, since a long record may reach into them.
        beginning.resize(beginning.len().max(WRITTEN), 0);
        write(system, held, 0, &beginning)?;
    } else {
        beginning.resize(size.file_len(), 0);
        write(system, held, 0, &beginning)?;
    }
    system.sync_all(held.file())
}

fn write(system: &dyn FileSystem, held: &Locked, at: usize, bytes: &[u8]) -> io::Result<()> {
    let at = u64::try_from(at).unwrap_or(u64::MAX);
    write_all(system, held.file(), at, bytes).map_err(|unwritten| match unwritten {
        super::Unwritten::Nothing(error) | super::Unwritten::Part(error) => error,
    })
}

/// Returns the folder of a file whose path is absolute.
pub(super) fn folder_of(path: &Path) -> &Path {
    path.parent().unwrap_or(path)
}

/// Returns the temporary name `.NAME.new`, in the same folder.
fn beside(path: &Path) -> io::Result<PathBuf> {
    let name = path.file_name().ok_or(io::ErrorKind::InvalidFilename)?;
    let mut beside = OsString::from(".");
    beside.push(name);
    beside.push(".new");
    Ok(folder_of(path).join(beside))
}
