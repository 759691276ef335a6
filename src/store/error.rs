//! The reasons why a record cannot be read or made durable, with advice.

use std::{
    fmt, io,
    path::{Path, PathBuf},
};

use super::{Generation, StoreIdentity};
use bully_register::{
    Outlook,
    record_file::{RecordFileError, UNSEEN},
};

/// Reason why a record cannot be read or made durable.
///
/// If `create` or `open` returns this error, no store was made, and the file is unchanged. If `save` returns this
/// error, the agent does not send the messages that depend on the record. If a later try [may succeed](Self::outlook),
/// the agent waits and tries again; otherwise the agent stops.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// A new store was requested, and the file exists already.
    #[error(
        "{path} exists already: open it by `FileStore::open` (in a configuration: `store = \"open\"`), or create the store of a new node elsewhere"
    )]
    Exists {
        /// The requested path.
        path: PathBuf,
    },
    /// The file to open does not exist.
    #[error(
        "{path} is missing: if this node never voted, create it by `FileStore::create` (in a configuration: `store = \"create\"`); if it was lost, rename the node, or create it and raise `epoch` by 1 at all voters"
    )]
    Missing {
        /// The requested path.
        path: PathBuf,
    },
    /// The content of the file is damaged.
    #[error(
        "{path} is damaged ({damage}): remove it, and start the node under a new name, or create a new store and raise `epoch` by 1 at all voters"
    )]
    Damaged {
        /// The requested path.
        path: PathBuf,
        /// The damage, in words.
        damage: String,
    },
    /// The file belongs to another node.
    #[error("{path} belongs to {found}, not to {expected}: check path, node, group and cluster")]
    Foreign {
        /// The requested path.
        path: PathBuf,
        /// The node that the caller named.
        expected: Box<StoreIdentity>,
        /// The node to which the file belongs.
        found: Box<StoreIdentity>,
    },
    /// The file was written by another release.
    #[error(
        "{path} has format {found}, and this release reads format {supported}: use the release that wrote it, or a later one"
    )]
    Version {
        /// The requested path.
        path: PathBuf,
        /// The file's format.
        found: u32,
        /// The newest format that this release knows.
        supported: u32,
    },
    /// The file is intact and belongs to this node, but the election of this agent does not write records of this form.
    #[error(
        "{path} was written by another election or another release: start the agent with the election and the release that wrote it"
    )]
    Record {
        /// The requested path.
        path: PathBuf,
    },
    /// Another process, or another agent of this process, has the file open.
    #[error("{path} is in use by {}: stop the other process or agent that has it open", Holder(*holder))]
    InUse {
        /// The requested path.
        path: PathBuf,
        /// The id of the process that has the file open; it may be the id of this process. `None` if the id is unknown:
        /// the process runs in another container, or inherited the open file from a process that has ended.
        holder: Option<u32>,
    },
    /// The file was removed or replaced while it was open.
    #[error(
        "{path} was removed or replaced while it was open: find out by which process, then start the agent again"
    )]
    Replaced {
        /// The store's path.
        path: PathBuf,
    },
    /// An earlier save failed, so the content of the disk is unknown. Nothing was written.
    #[error(
        "an earlier write of {path} failed, so nothing more is written: check the disk, then open the file again and start its agent"
    )]
    Failed {
        /// The store's path.
        path: PathBuf,
    },
    /// This process was forked from the process that opened the store. Nothing was written.
    #[error(
        "{path} was opened before this process was forked: open stores in the process that uses them"
    )]
    Forked {
        /// The store's path.
        path: PathBuf,
    },
    /// The disk failed or is full, the system lacks a resource for a while, such as a file descriptor, or a permission is
    /// missing; see [`outlook`](Self::outlook). The previous record is kept.
    #[error("{path} cannot be read or written ({source}): {}", Advice(source))]
    Io {
        /// The requested path.
        path: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
    /// Another agent, or a later incarnation of this agent, has begun to use the store since this agent began.
    #[error(
        "an agent that was started later uses this store (its start is number {latest}, this agent's is {by}): stop one of the two agents, and give each a store of its own"
    )]
    Superseded {
        /// The generation that called `save`.
        by: Generation,
        /// The generation that may write.
        latest: Generation,
    },
    /// The record cannot be encoded for a file. Nothing was written.
    #[error(
        "the data for the store cannot be encoded: it needs a plain serde type with text for map keys ({0})"
    )]
    Encode(#[source] io::Error),
    /// The record is larger than the limit of a file. Nothing was written.
    #[error(
        "the data for the store makes a file of {len} bytes, and the limit is {max}: use fewer or shorter names of voters and schedules"
    )]
    TooLarge {
        /// The file's length in bytes.
        len: usize,
        /// The limit in bytes.
        max: usize,
    },
    /// The record would be different when it is read again. Nothing was written.
    #[error(
        "the data for the store changes when it is read again: let its type serialize and deserialize all of its fields"
    )]
    Altered,
    /// The system has no thread left for a store.
    #[error("a store needs a thread for its writes: allow this process more threads ({0})")]
    NoThread(#[source] io::Error),
    /// The system cannot lock a file.
    #[error(
        "this system or this file system cannot lock or link files: put the file on a local disk, or use another kind of store"
    )]
    NotAvailable,
    /// A store that is not of this crate has failed.
    #[error(
        "the store of this agent failed ({0}): mend that store, and start the agent again if it has ended"
    )]
    Backend(#[source] io::Error),
}

debug_is_text!(StoreError);

impl StoreError {
    /// Returns whether a later try may succeed. With [`Outlook::Passes`] and [`Outlook::NeedsRoom`] the store has
    /// either the former record or the new one, and a later save replaces it.
    pub fn outlook(&self) -> Outlook {
        if let Self::Backend(source) | Self::Io { source, .. } | Self::NoThread(source) = self {
            Outlook::of(source)
        } else {
            Outlook::Final
        }
    }
}

/// Translates an error of the record file at `path` into a [`StoreError`] with advice.
pub(super) fn explain(path: &Path, error: RecordFileError) -> StoreError {
    let path = path.to_path_buf();
    match error {
        RecordFileError::Exists => StoreError::Exists { path },
        RecordFileError::Missing => StoreError::Missing { path },
        RecordFileError::InUse(file) => {
            let holder = file.holder();
            StoreError::InUse { path, holder }
        }
        RecordFileError::Format { found } => StoreError::Version {
            path,
            found,
            supported: 1,
        },
        RecordFileError::Replaced => StoreError::Replaced { path },
        RecordFileError::Forked => StoreError::Forked { path },
        RecordFileError::TooLarge { len, max } => StoreError::TooLarge { len, max },
        RecordFileError::Io(source) | RecordFileError::Unknown(source) => {
            StoreError::Io { path, source }
        }
        RecordFileError::NotAvailable => StoreError::NotAvailable,
        RecordFileError::Damaged(damage) => StoreError::Damaged {
            path,
            damage: damage.to_string(),
        },
    }
}

struct Advice<'a>(&'a io::Error);

impl fmt::Display for Advice<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let outlook = Outlook::of(self.0);
        f.write_str(match (outlook, outlook.advice()) {
            (_, Some(advice)) => advice,
            (Outlook::NeedsRoom, None) => "make room; an agent that runs tries again by itself",
            (Outlook::Passes(_), None) => {
                "a running agent tries again by itself; otherwise start it again"
            }
            (Outlook::Final, None) => "check the disk, the folder and its permissions",
        })
    }
}

struct Holder(Option<u32>);

impl fmt::Display for Holder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(process) => write!(f, "process {process}"),
            None => f.write_str(UNSEEN),
        }
    }
}
