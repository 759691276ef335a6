//! The lock on a file, and the process that may release it.
//!
//! Decided here: only the process that took a lock releases it. A forked child shares the open file description, so an
//! unlock in the child would unlock the file of its parent.

use std::{
    fs::{File, TryLockError},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use super::{Busy, FileSystem, RecordFileError};

/// A file that is locked while this value exists.
#[derive(Debug)]
pub(super) struct Locked {
    system: Arc<dyn FileSystem>,
    file: Arc<File>,
    process: u32,
    is_kept: AtomicBool,
}

impl Locked {
    /// Locks a file, without waiting.
    ///
    /// # Errors
    /// [`RecordFileError::InUse`], [`RecordFileError::NotAvailable`], and errors of the system.
    pub(super) fn new(system: Arc<dyn FileSystem>, file: File) -> Result<Self, RecordFileError> {
        match system.lock(&file) {
            Ok(()) => Ok(Self {
                process: system.process(),
                system,
                file: Arc::new(file),
                is_kept: AtomicBool::new(false),
            }),
            Err(TryLockError::WouldBlock) => {
                Err(RecordFileError::InUse(Busy(system.held(&file).ok())))
            }
            Err(TryLockError::Error(error)) => Err(error.into()),
        }
    }

    pub(super) fn file(&self) -> &File {
        &self.file
    }

    /// # Errors
    /// [`RecordFileError::Forked`].
    pub(super) fn check_process(&self) -> Result<(), RecordFileError> {
        if self.system.process() == self.process {
            Ok(())
        } else {
            Err(RecordFileError::Forked)
        }
    }

    /// Keeps the lock until this process has ended, so that no other process can open the file.
    pub(super) fn keep_until_exit(&self) {
        if !self.is_kept.swap(true, Ordering::AcqRel) {
            std::mem::forget(Arc::clone(&self.file));
        }
    }
}

/// Unlocks the file. Closing alone is not enough: a process that is just being started has all files of its parent open
/// for a moment.
impl Drop for Locked {
    fn drop(&mut self) {
        let may_unlock = self.check_process().is_ok() && !self.is_kept.load(Ordering::Acquire);
        if may_unlock {
            // An error is ignored: the file is closed next, which unlocks it as well.
            self.system.unlock(&self.file).ok();
        }
    }
}
