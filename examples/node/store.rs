//! The file of a node's votes.

use std::{error::Error, fs, io, path::PathBuf};

use actix_bully::{
    elections::quorum::Vote,
    store::{FileStore, StoreIdentity},
};

/// Where it lies. Only `--init` creates one: a node that lost its file must not vote as if it never
/// had.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    folder: PathBuf,
    node: String,
    /// The folder was there before.
    is_old: bool,
}

impl Place {
    pub(crate) fn new(folder: impl Into<PathBuf>, node: &str) -> Self {
        let folder = folder.into();
        Self {
            is_old: folder.exists(),
            folder,
            node: node.to_owned(),
        }
    }

    pub(crate) fn create(&self, cluster: &str) -> Result<FileStore<Vote>, Box<dyn Error>> {
        let identity = self.identity(cluster)?;
        fs::create_dir_all(&self.folder)?;
        Ok(FileStore::create(self.file(), identity)?)
    }

    pub(crate) fn open(&self, cluster: &str) -> Result<FileStore<Vote>, Box<dyn Error>> {
        Ok(FileStore::open(self.file(), self.identity(cluster)?)?)
    }

    /// Takes back what [`create`](Self::create) made. Call it only after that: a file that was
    /// there before holds votes.
    pub(crate) fn undo(&self) {
        let undone = fs::remove_file(self.file()).and_then(|()| self.remove_folder());
        if let Err(wrong) = undone {
            tracing::warn!(%wrong, "file of a refused --init not removed");
        }
    }

    fn remove_folder(&self) -> io::Result<()> {
        if self.is_old {
            return Ok(());
        }
        fs::remove_dir(&self.folder)
    }

    fn identity(&self, cluster: &str) -> Result<StoreIdentity, Box<dyn Error>> {
        Ok(StoreIdentity {
            cluster: cluster.parse()?,
            group: "node".parse()?,
            node: self.node.parse()?,
        })
    }

    fn file(&self) -> PathBuf {
        self.folder.join(format!("{}.vote", self.node))
    }
}
