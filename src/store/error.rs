//! Why a record cannot be read or made durable, and what to do about it.

use std::{fmt, io, path::PathBuf};

use super::{Generation, StoreIdentity, disk::is_full};

/// Why a record cannot be read or made durable.
///
/// From `create` and `open`: there is no store, and the file is as it was. From `save`: what
/// followed in the agent's step does not leave; the agent starts anew by its restart policy if the
/// disk [is full](Self::is_full), and stops otherwise.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// A new store was asked for where something is already.
    #[error("{path} exists already: open it, or create the store of a new node elsewhere")]
    Exists {
        /// The path asked for.
        path: PathBuf,
    },
    /// There is nothing to open.
    #[error(
        "{path} is missing: create it for a node that never ran; one that lost it comes back under a new name"
    )]
    Missing {
        /// The path asked for.
        path: PathBuf,
    },
    /// The file cannot be trusted.
    #[error("{path} is damaged, {damage}: let the node come back under a new name")]
    Damaged {
        /// The path asked for.
        path: PathBuf,
        /// What is wrong with it.
        damage: Damage,
    },
    /// What stands beside a file of format 1 cannot be trusted.
    #[error(
        "{path} is damaged, {damage}: it keeps the longest promise of this node; keep the node down for the longest that any of its configurations had, then remove this file"
    )]
    Supplement {
        /// The path of the supplement.
        path: PathBuf,
        /// What is wrong with it.
        damage: Damage,
    },
    /// The file belongs to another node.
    #[error("{path} belongs to {found}, not to {expected}: check the path and the names")]
    Foreign {
        /// The path asked for.
        path: PathBuf,
        /// The node that asked.
        expected: Box<StoreIdentity>,
        /// The node that it belongs to.
        found: Box<StoreIdentity>,
    },
    /// The file was written by another release.
    #[error(
        "{path} has format {found}, this release reads formats 1 to {supported}: use the release that wrote it, or a later one"
    )]
    Version {
        /// The path asked for.
        path: PathBuf,
        /// The file's format.
        found: u8,
        /// The newest that is known here.
        supported: u8,
    },
    /// The file is whole and this node's, but its record is not what the election would write.
    #[error(
        "{path} holds a record that this election does not write: use the election and the release that did"
    )]
    Record {
        /// The path asked for.
        path: PathBuf,
    },
    /// Another process, or another agent of this one, has the file open.
    #[error("{path} is in use: stop the other process or agent that has it open")]
    InUse {
        /// The path asked for.
        path: PathBuf,
    },
    /// The file was removed or replaced while it was open. Nothing was written.
    #[error(
        "{path} was removed or replaced while it was open: find out by which process, then open it"
    )]
    Replaced {
        /// The store's path.
        path: PathBuf,
    },
    /// An earlier save failed, so what the disk holds is not known. Nothing was written.
    #[error("{path} failed before: check the disk, then open it again")]
    Failed {
        /// The store's path.
        path: PathBuf,
    },
    /// The disk or its rights.
    #[error(
        "{path} cannot be read or written: check the disk, the folder and its permissions ({source})"
    )]
    Io {
        /// The path asked for.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// Another agent, or a later incarnation of this one, has begun with the store since.
    #[error(
        "generation {latest} of an agent has the store, this is generation {by}: stop the one before, and start one agent for each store"
    )]
    Superseded {
        /// The generation that asked.
        by: Generation,
        /// The generation that has it.
        latest: Generation,
    },
    /// The disk, or the share of it that this user may take, is full. The record before is kept.
    #[error(
        "{path} cannot be written, its disk is full: make room; the agent comes back by its restart policy, or is started again ({source})"
    )]
    Full {
        /// The path asked for.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// The record cannot be put into a file. Nothing was written.
    #[error("a record cannot be encoded: it needs a plain serde type with text for map keys ({0})")]
    Encode(#[source] io::Error),
    /// The record is larger than a file may be. Nothing was written.
    #[error("a record makes a file of {len} bytes, which exceeds the limit of {max}")]
    TooLarge {
        /// The file's length in bytes.
        len: usize,
        /// The limit in bytes.
        max: usize,
    },
    /// The store is kept in format 1 for release 0.1, which would act against that part of the record. Nothing
    /// was written.
    #[error(
        "format 1 of a store, which release 0.1 reads, has no room for `{field}`: upgrade the store first, when no node goes back to that release"
    )]
    NotUpgraded {
        /// The field of the record.
        field: &'static str,
    },
    /// The record would be another one when read again. Nothing was written.
    #[error("a record changes when it is read again: serialize all of its fields")]
    Altered,
    /// There is no runtime whose threads could write.
    #[error("there is no running runtime: save records inside an actix System")]
    NoRuntime,
    /// The system cannot lock a file, or not make a rename durable.
    #[error("this system cannot keep a file exclusive and durable: use another kind of store")]
    NotAvailable,
    /// A store of another kind does not work.
    #[error("the store of the record does not work: {0}")]
    Backend(#[source] io::Error),
}

impl StoreError {
    /// Whether there was no room: what failed may be tried again when there is.
    pub fn is_full(&self) -> bool {
        match self {
            Self::Full { .. } => true,
            Self::Backend(source) | Self::Io { source, .. } => is_full(source),
            Self::Exists { .. }
            | Self::Missing { .. }
            | Self::Damaged { .. }
            | Self::Supplement { .. }
            | Self::Foreign { .. }
            | Self::Version { .. }
            | Self::Record { .. }
            | Self::InUse { .. }
            | Self::Replaced { .. }
            | Self::Failed { .. }
            | Self::Superseded { .. }
            | Self::Encode(_)
            | Self::TooLarge { .. }
            | Self::NotUpgraded { .. }
            | Self::Altered
            | Self::NoRuntime
            | Self::NotAvailable => false,
        }
    }
}

/// What is wrong with a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Damage {
    /// It is a folder, a pipe or a device.
    NotAFile,
    /// It is larger than a store ever is.
    TooLarge {
        /// The limit in bytes.
        max: usize,
    },
    /// It does not begin as a store does.
    Header,
    /// It was cut, or bytes of it have changed.
    Checksum,
    /// It is whole, but not of the form that its version has.
    Form,
}

impl fmt::Display for Damage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotAFile => f.write_str("not a regular file"),
            Self::TooLarge { max } => write!(f, "larger than the limit of {max} bytes"),
            Self::Header => f.write_str("not the beginning of a store"),
            Self::Checksum => f.write_str("its checksum differs"),
            Self::Form => f.write_str("not of the form that its version has"),
        }
    }
}
