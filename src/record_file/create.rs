//! How a file is made: beside its place, and moved there when it is whole.
//!
//! Decided here: the order of these calls. The file beside has one name, `.NAME.new`. Its maker holds its lock, before
//! and after it is moved, so the file of the final name is locked at every moment. If a crash leaves a file under the
//! name beside, the next maker uses it.

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

impl RecordFile {
    /// Makes a file with its first record, durable and locked. It has room for records of `limit` bytes.
    ///
    /// # Errors
    /// [`RecordFileError::Exists`] when there is anything of that name; [`RecordFileError::InUse`] when another process
    /// is making it; [`RecordFileError::TooLarge`], and errors of the system. No file of ours is there then.
    /// [`RecordFileError::Unknown`]: the file had its name already, and may have it again after a crash.
    pub(crate) fn create(
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
            // Under the lock, so no other process is making it. If it cannot be removed, the next maker uses it.
            system.remove(&beside).ok();
            return Err(error);
        }
        let status = system.held(held.file());
        let named = system.sync_folder(folder_of(&path)).and(status);
        let status = match named {
            Ok(status) if status.is_same_file(&made) => status,
            Ok(_) => return Err(RecordFileError::Replaced),
            Err(error) => {
                // It has our lock, and no other process has read it. If it cannot be removed, it stays locked.
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

/// A file of the name beside, locked, which has no other name.
fn make(system: &Arc<dyn FileSystem>, beside: &Path) -> Result<(Locked, Status), RecordFileError> {
    for _ in 0..TRIES {
        let held = Locked::new(Arc::clone(system), system.open_or_make(beside)?)?;
        let status = system.held(held.file())?;
        if !leads_to(&**system, beside, &status)? {
            // Its maker has moved or removed it meanwhile.
            continue;
        }
        if status.links == 1 {
            return Ok((held, status));
        }
        // A crash between `link` and `unlink`: it is the file of the final name too, and must not be overwritten.
        system.remove(beside)?;
    }
    Err(RecordFileError::Replaced)
}

/// Allocates both slots and writes the first record.
fn fill(system: &dyn FileSystem, held: &Locked, size: SlotSize, first: &Slot) -> io::Result<()> {
    // Written, not only reserved: a later write then changes no metadata, and finds its room.
    let mut bytes = vec![0; size.file_len()];
    for (byte, value) in bytes.iter_mut().zip(first.encode(size)) {
        *byte = value;
    }
    let len = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
    system.set_len(held.file(), len)?;
    write_all(system, held.file(), 0, &bytes).map_err(|unwritten| match unwritten {
        super::Unwritten::Nothing(error) | super::Unwritten::Part(error) => error,
    })?;
    system.sync_all(held.file())
}

/// The folder of a file whose path is absolute.
pub(super) fn folder_of(path: &Path) -> &Path {
    path.parent().unwrap_or(path)
}

/// `.NAME.new`, in the same folder.
fn beside(path: &Path) -> io::Result<PathBuf> {
    let name = path.file_name().ok_or(io::ErrorKind::InvalidFilename)?;
    let mut beside = OsString::from(".");
    beside.push(name);
    beside.push(".new");
    Ok(folder_of(path).join(beside))
}
