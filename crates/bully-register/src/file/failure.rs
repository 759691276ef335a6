//! The meaning of a file's error for the operation, and whether the error passes by itself.
//!
//! | error | the operation | |
//! |---|---|---|
//! | another process has locked the file | tried again for 100 ms, then not done, and the process is reported | passes |
//! | no room, or over the quota | refused, `Full` | passes |
//! | no right to write, or a file system that is read-only | refused, `ReadOnly` | final |
//! | any other error of the system before the write: no descriptor, no folder | not done | passes |
//! | the sync failed, or the file was replaced during a write | unknown | passes |
//! | the file was replaced during a read, is missing, or was made by another process | not done | passes |
//! | damaged, of a later format, or no number is left for its next record | refused, `Other` | final |
//! | the system has no locks, or this process was forked | refused, `Other` | final |
//!
//! Decided here: this table, and the advice to an operator.

use std::{
    io::{self, ErrorKind},
    path::{Path, PathBuf},
    time::Duration,
};

use crate::{
    Outlook, RegisterError, RegisterRefusal,
    record_file::{Busy, RecordFileError},
};

/// The reason why an attempt failed.
#[derive(Debug)]
pub(super) enum FileFailure {
    /// Another process has locked the file: the operation may be tried again.
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
    /// Returns the error for the operation, which has written nothing.
    pub(super) fn error(&self, tried_for: Duration) -> RegisterError {
        let Self { path, file } = self;
        RegisterError::unreachable(io::Error::other(format!(
            "{} has been locked by {file} for {tried_for:?}: if that process is stopped, continue or kill it",
            path.display()
        )))
    }
}

impl From<RegisterError> for FileFailure {
    fn from(error: RegisterError) -> Self {
        Self::Error(error)
    }
}

/// Returns the failure for an error of the file at `path`; `writes` is set if the operation changes the file.
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
            "{}: agents then wait for the end of a lease, and one of them writes a new file",
            words(&error)
        )),
        RecordFileError::Format { .. }
        | RecordFileError::NotAvailable
        | RecordFileError::Forked
        | RecordFileError::TooLarge { .. } => other(words(&error)),
        RecordFileError::Exists | RecordFileError::Missing | RecordFileError::Replaced => {
            RegisterError::unreachable(io::Error::other(words(&error)))
        }
    })
}

/// Returns the register's error for an error of the system, before anything was written.
pub(super) fn of_system(path: &Path, error: &io::Error) -> RegisterError {
    let kind = error.kind();
    let words = io::Error::new(kind, format!("{}: {error}", path.display()));
    if Outlook::of(error) == Outlook::NeedsRoom {
        return RegisterError::refused(RegisterRefusal::Full, words);
    }
    if matches!(
        kind,
        ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem
    ) {
        return RegisterError::refused(RegisterRefusal::ReadOnly, words);
    }
    // For instance, a folder is missing or too many files are open: the operation may succeed later.
    RegisterError::unreachable(words)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record_file::FileDamage;

    /// Returns the outcome of the operation in one word.
    fn kind(error: RecordFileError, writes: bool) -> String {
        let error = match failure(Path::new("/leases/x.entry"), error, writes) {
            FileFailure::InUse(in_use) => panic!("{in_use:?}"),
            FileFailure::Error(error) => error,
        };
        assert!(error.to_string().contains("/leases/x.entry"), "{error}");
        match error {
            RegisterError::Unreachable(_) => "NotDone".to_owned(),
            RegisterError::Unknown(_) => "Unknown".to_owned(),
            RegisterError::Refused { refusal, .. } => format!("{refusal:?}"),
            RegisterError::Foreign { .. }
            | RegisterError::TooLarge { .. }
            | RegisterError::TooMany { .. } => panic!("{error:?}"),
        }
    }

    #[test]
    fn each_error_of_the_table_has_its_meaning() {
        use RecordFileError as It;
        // The outcome of a write, and of a read.
        let kinds = |error: &dyn Fn() -> It| (kind(error(), true), kind(error(), false));
        let both = |error: &dyn Fn() -> It, expected: &str| {
            let expected = (expected.to_owned(), expected.to_owned());
            assert_eq!(kinds(error), expected, "{}", error());
        };
        for (system, expected) in [
            (ErrorKind::StorageFull, "Full"),
            (ErrorKind::QuotaExceeded, "Full"),
            (ErrorKind::PermissionDenied, "ReadOnly"),
            (ErrorKind::ReadOnlyFilesystem, "ReadOnly"),
            (ErrorKind::NotFound, "NotDone"),
        ] {
            both(&|| It::Io(system.into()), expected);
        }
        let no_descriptor = || It::Io(io::Error::from_raw_os_error(24));
        both(&no_descriptor, "NotDone");
        both(&|| It::Unknown(ErrorKind::StorageFull.into()), "Unknown");
        both(&|| It::Missing, "NotDone");
        both(&|| It::Exists, "NotDone");
        both(&|| It::Damaged(FileDamage::Empty), "Other");
        both(&|| It::Damaged(FileDamage::LastNumber), "Other");
        both(&|| It::Format { found: 9 }, "Other");
        both(&|| It::NotAvailable, "Other");
        both(&|| It::Forked, "Other");
        both(&|| It::TooLarge { len: 2, max: 1 }, "Other");
        let (write, read) = kinds(&|| It::Replaced);
        assert_eq!((&*write, &*read), ("Unknown", "NotDone"));
    }
}
