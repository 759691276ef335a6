//! Errors of reading and writing a record. The caller adds the path of the file, and the advice for a damaged file.

use std::io;

use super::Busy;

/// The reason why a record cannot be read or written.
#[derive(thiserror::Error)]
pub enum RecordFileError {
    /// A new file was requested, and a file, folder or link of this name exists already.
    #[error("the file exists already: open it, or choose another path")]
    Exists,
    /// The file to open does not exist.
    #[error("the file does not exist: create it, or correct the path")]
    Missing,
    /// Another process, or this process itself, has the file open and locked.
    #[error("the file is in use by {0}: close it there, or choose another path")]
    InUse(Busy),
    /// The file is damaged, or another program wrote it.
    #[error(
        "the file is damaged, or another program wrote it: {0}; correct the path, or move the file away"
    )]
    Damaged(#[from] FileDamage),
    /// A later release wrote the file.
    #[error(
        "the file has format {found}, of a later release: use the release that wrote it, or a later one"
    )]
    Format {
        /// The format of the file.
        found: u32,
    },
    /// The name leads to another file, or to no file.
    #[error(
        "the file was removed or replaced while it was open: find out by which process, then open it again"
    )]
    Replaced,
    /// This process is a child of the process that opened the file.
    #[error(
        "the file was opened before this process was forked: open it after the fork, and only in the process that uses it"
    )]
    Forked,
    /// The record does not fit into a slot of the file.
    #[error(
        "the record has {len} bytes, and the limit of its file is {max}: write a shorter record"
    )]
    TooLarge {
        /// Length of the record, in bytes.
        len: usize,
        /// The limit, in bytes.
        max: usize,
    },
    /// Nothing was written.
    #[error("{0}")]
    Io(#[source] io::Error),
    /// The write failed, and the disk may have the previous record or the new record.
    #[error(
        "the write failed, and the file may have the old record or the new one: open the file again to see which ({0})"
    )]
    Unknown(#[source] io::Error),
    /// The system or the file system offers no locks or no links of files.
    #[error(
        "this system or this file system cannot lock or link files: put the file on a local disk with a file system that can, such as ext4, or use another kind of store"
    )]
    NotAvailable,
}

debug_is_text!(RecordFileError);

impl From<io::Error> for RecordFileError {
    fn from(error: io::Error) -> Self {
        if error.kind() == io::ErrorKind::Unsupported {
            Self::NotAvailable
        } else {
            Self::Io(error)
        }
    }
}

impl From<RecordFileError> for io::Error {
    fn from(error: RecordFileError) -> Self {
        match error {
            RecordFileError::Io(error) | RecordFileError::Unknown(error) => error,
            RecordFileError::Damaged(_) => Self::new(io::ErrorKind::InvalidData, error),
            RecordFileError::Exists
            | RecordFileError::Missing
            | RecordFileError::InUse(_)
            | RecordFileError::Format { .. }
            | RecordFileError::Replaced
            | RecordFileError::Forked
            | RecordFileError::TooLarge { .. }
            | RecordFileError::NotAvailable => Self::other(error),
        }
    }
}

/// Kinds of damage of a file.
#[derive(Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum FileDamage {
    /// A folder, a pipe or a device has the name.
    #[error("a folder, a pipe or a device has the name of the file")]
    NotAFile,
    /// No file of this format has such a length.
    #[error("the file has {len} bytes, so it was cut or is another file")]
    Length {
        /// Length of the file, in bytes.
        len: u64,
    },
    /// No number is left for the next record, so another program wrote this record.
    #[error("the last record of the file has the highest number, so another program wrote it")]
    LastNumber,
    /// Neither slot has a valid record.
    #[error("neither of the two places for a record in the file has a valid record")]
    Empty,
}

debug_is_text!(FileDamage);
