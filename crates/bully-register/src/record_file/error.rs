//! Errors of reading and writing a record. The caller adds the path and the advice.

use std::io;

use super::Busy;

/// The reason why a record cannot be read or written.
#[derive(thiserror::Error)]
pub enum RecordFileError {
    /// A new file was requested, and something of that name exists already.
    #[error("the file exists already")]
    Exists,
    /// The file to open does not exist.
    #[error("the file does not exist")]
    Missing,
    /// Another process, or this process, has the file open.
    #[error("the file is in use by {0}")]
    InUse(Busy),
    /// The file cannot be trusted.
    #[error("the file is damaged: {0}")]
    Damaged(#[from] FileDamage),
    /// A later release wrote the file.
    #[error("the file has format {found}, of a later release")]
    Format {
        /// The format of the file.
        found: u32,
    },
    /// The name leads to another file, or to no file.
    #[error("the file was removed or replaced while it was open")]
    Replaced,
    /// This process is a child of the process that opened the file.
    #[error("the file was opened before this process was forked")]
    Forked,
    /// The record does not fit into a slot of the file.
    #[error("the record has {len} bytes, and the limit of its file is {max}")]
    TooLarge {
        /// Length of the record, in bytes.
        len: usize,
        /// The limit, in bytes.
        max: usize,
    },
    /// Nothing was written.
    #[error("{0}")]
    Io(#[source] io::Error),
    /// The disk has the previous record, or the new one.
    #[error("the record may or may not be written: {0}")]
    Unknown(#[source] io::Error),
    /// The system has no locks or no links of files.
    #[error("this system cannot keep a file exclusive and durable")]
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
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FileDamage {
    /// A folder, a pipe or a device has the name.
    #[error("it is not a regular file")]
    NotAFile,
    /// No file of this format has such a length.
    #[error("it has {len} bytes, so it was cut or is another file")]
    Length {
        /// Length of the file, in bytes.
        len: u64,
    },
    /// A version before the first release wrote the file.
    #[error("a version before the first release wrote it")]
    Former,
    /// No number is left for the next record, so another program wrote this record.
    #[error("its records have no higher number: something else wrote the last one")]
    LastNumber,
    /// Neither slot has a valid record.
    #[error("neither of its two slots has a valid record")]
    Empty,
}
