//! The calls that make a file durable, and nothing around them.
//!
//! Decided here: nothing; in which order they come is `disk.rs`'s. A test sees each call that was
//! made, and may let one fail.

use std::{
    fmt::Debug,
    fs::File,
    io::{self, Write},
    path::Path,
    sync::Arc,
};

use tempfile::{NamedTempFile, PersistError};

/// The files of this host.
#[derive(Clone, Debug, Default)]
pub(super) struct Files {
    pub(super) hook: Option<Arc<dyn CallHook>>,
}

/// Sees each call before it is made; an error of it takes the place of the call's.
pub(super) trait CallHook: Debug + Send + Sync {
    fn see(&self, call: DiskCall) -> io::Result<()>;
}

/// What is asked of the system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DiskCall {
    Write,
    Sync,
    Rename,
    SyncFolder,
}

// Each call is noted where it is made: none can be left out without the other.
impl Files {
    /// The contents are with the system.
    pub(super) fn write(&self, file: &mut NamedTempFile, text: &[u8]) -> io::Result<()> {
        self.note(DiskCall::Write)?;
        file.write_all(text)
    }

    /// The contents are on the disk.
    pub(super) fn sync(&self, file: &NamedTempFile) -> io::Result<()> {
        self.note(DiskCall::Sync)?;
        file.as_file().sync_all()
    }

    /// The file has its name, until the next crash; `Clobber` says whether another one may lose it.
    pub(super) fn rename(
        &self,
        file: NamedTempFile,
        to: &Path,
        clobber: Clobber,
    ) -> io::Result<File> {
        self.note(DiskCall::Rename)?;
        match clobber {
            Clobber::Never => file.persist_noclobber(to),
            Clobber::Always => file.persist(to),
        }
        .map_err(|PersistError { error, .. }| error)
    }

    /// The name is on the disk.
    pub(super) fn sync_folder(&self, folder: &Path) -> io::Result<()> {
        self.note(DiskCall::SyncFolder)?;
        File::open(folder)?.sync_all()
    }

    fn note(&self, call: DiskCall) -> io::Result<()> {
        match &self.hook {
            Some(hook) => hook.see(call),
            None => Ok(()),
        }
    }
}

/// Whether a file may take another one's name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Clobber {
    Never,
    Always,
}
