//! The meaning of a file's error for the operation.
//!
//! Decided here: that a write whose sync failed, or whose file was replaced meanwhile, has an unknown outcome; and what
//! an operator is told to do.

use std::{
    io::{self, ErrorKind},
    path::{Path, PathBuf},
    time::Duration,
};

use crate::{
    RegisterError, RegisterRefusal,
    record_file::{Busy, RecordFileError},
};

/// Why an attempt did nothing.
#[derive(Debug)]
pub(super) enum FileFailure {
    /// Another process has the file: the operation may be tried again.
    InUse(InUse),
    Error(RegisterError),
}

/// A file that another process has locked.
#[derive(Debug)]
pub(super) struct InUse {
    path: PathBuf,
    file: Busy,
}

impl InUse {
    /// Nothing was written.
    pub(super) fn error(&self, tried_for: Duration) -> RegisterError {
        let Self { path, file } = self;
        RegisterError::unreachable(io::Error::other(format!(
            "{} has been locked by {file} for {tried_for:?}: if that process is stopped, let it go on or kill it",
            path.display()
        )))
    }
}

impl From<RegisterError> for FileFailure {
    fn from(error: RegisterError) -> Self {
        Self::Error(error)
    }
}

/// What went wrong with the file of that path; `writes` says whether the operation changes it.
pub(super) fn failure(path: &Path, error: RecordFileError, writes: bool) -> FileFailure {
    let words = |error: &dyn std::fmt::Display| format!("{}: {error}", path.display());
    let other = |words| RegisterError::refused(RegisterRefusal::Other, io::Error::other(words));
    FileFailure::Error(match error {
        RecordFileError::InUse(file) => {
            let path = path.to_path_buf();
            return FileFailure::InUse(InUse { path, file });
        }
        RecordFileError::Unknown(source) => {
            RegisterError::unknown(io::Error::new(source.kind(), words(&source)))
        }
        RecordFileError::Replaced if writes => {
            RegisterError::unknown(io::Error::other(words(&error)))
        }
        RecordFileError::Io(source) => of_system(path, &source),
        RecordFileError::Damaged(_) => other(format!(
            "{}; move it away: agents then wait for the end of a lease, and one of them writes a new file",
            words(&error)
        )),
        RecordFileError::Format { .. } => other(format!(
            "{}; use the release that wrote it, or a later one",
            words(&error)
        )),
        RecordFileError::NotAvailable => other(words(&error)),
        RecordFileError::Exists
        | RecordFileError::Missing
        | RecordFileError::Replaced
        | RecordFileError::Forked
        | RecordFileError::TooLarge { .. } => {
            RegisterError::unreachable(io::Error::other(words(&error)))
        }
    })
}

/// An error of the system, before anything was written.
pub(super) fn of_system(path: &Path, error: &io::Error) -> RegisterError {
    let kind = error.kind();
    let words = io::Error::new(kind, format!("{}: {error}", path.display()));
    if matches!(kind, ErrorKind::StorageFull | ErrorKind::QuotaExceeded) {
        return RegisterError::refused(RegisterRefusal::Full, words);
    }
    if matches!(
        kind,
        ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem
    ) {
        return RegisterError::refused(RegisterRefusal::ReadOnly, words);
    }
    // Such as a folder that is missing, or too many open files: another time it may work.
    RegisterError::unreachable(words)
}
