//! How a file is kept from all other processes, and known again.
//!
//! Decided here: by `flock`, which holds against other processes and within this one, and ends
//! with the process however that ends. Where there is none, there is no store in a file.

use std::{fs::File, io, path::Path};

use super::StoreError;

/// A file that is locked; the lock ends with this.
#[derive(Debug)]
pub(super) struct Locked(File);

impl Locked {
    /// Takes over a file that [`lock`] has locked.
    pub(super) fn new(file: File) -> Self {
        Self(file)
    }

    /// The file.
    pub(super) fn file(&self) -> &File {
        &self.0
    }
}

/// Closing alone would not do: a process that is just being started has all files of its parent
/// open for a moment.
impl Drop for Locked {
    fn drop(&mut self) {
        system::unlock(&self.0);
    }
}

/// Locks a file until it is closed, here and wherever it was inherited.
///
/// # Errors
/// [`StoreError::InUse`], [`StoreError::Io`], [`StoreError::NotAvailable`].
pub(super) fn lock(named: &Path, file: &File) -> Result<(), StoreError> {
    system::lock(named, file)
}

/// Whether that path still leads to this file, and not by a link.
///
/// # Errors
/// When the system does not say.
pub(super) fn has_name(file: &File, path: &Path) -> io::Result<bool> {
    system::has_name(file, path)
}

#[cfg(all(
    unix,
    not(any(
        target_os = "espidf",
        target_os = "horizon",
        target_os = "solaris",
        target_os = "vita"
    ))
))]
mod system {
    use std::{
        fs::{self, File},
        io::{self, ErrorKind},
        os::unix::fs::MetadataExt,
        path::Path,
    };

    use rustix::fs::{FlockOperation, flock};

    use super::super::{StoreError, disk::io_error};

    pub(super) fn lock(named: &Path, file: &File) -> Result<(), StoreError> {
        flock(file, FlockOperation::NonBlockingLockExclusive).map_err(|refused| {
            let error = io::Error::from(refused);
            if error.kind() == ErrorKind::WouldBlock {
                return StoreError::InUse { path: named.into() };
            }
            io_error(named, error)
        })
    }

    pub(super) fn unlock(file: &File) {
        // What cannot be unlocked is closed next, and that unlocks it as well.
        flock(file, FlockOperation::Unlock).ok();
    }

    pub(super) fn has_name(file: &File, path: &Path) -> io::Result<bool> {
        let held = file.metadata()?;
        match fs::symlink_metadata(path) {
            Ok(there) => Ok((there.dev(), there.ino()) == (held.dev(), held.ino())),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
            Err(error) => Err(error),
        }
    }
}

#[cfg(not(all(
    unix,
    not(any(
        target_os = "espidf",
        target_os = "horizon",
        target_os = "solaris",
        target_os = "vita"
    ))
)))]
mod system {
    use std::{fs::File, io, path::Path};

    use super::StoreError;

    pub(super) fn lock(_named: &Path, _file: &File) -> Result<(), StoreError> {
        Err(StoreError::NotAvailable)
    }

    pub(super) fn unlock(_file: &File) {}

    /// Never asked: no file is held where none can be locked.
    pub(super) fn has_name(_file: &File, _path: &Path) -> io::Result<bool> {
        Err(io::ErrorKind::Unsupported.into())
    }
}

#[cfg(all(test, unix))]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_file_that_was_removed_has_no_name_and_any_other_refusal_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.store");
        let file = File::create(&path).unwrap();
        assert!(has_name(&file, &path).unwrap());
        assert!(has_name(&file, &path.join("below")).is_err());
        fs::remove_file(&path).unwrap();
        assert!(!has_name(&file, &path).unwrap());
    }
}
