//! The file of a node's votes.

use std::{error::Error, fs, io, path::PathBuf, sync::Arc};

use actix_bully::{
    elections::quorum::Vote,
    store::{FileStore, StoreIdentity},
};

use crate::args::Args;

/// The open file, and its place. Only `--init` creates a file: a node that lost its file must not vote as if it had
/// never voted.
#[derive(Debug)]
pub(crate) struct Votes {
    store: Arc<FileStore<Vote>>,
    file: PathBuf,
    /// Whether the file is new.
    is_new: bool,
    /// The folder of the file, if it is new.
    new_folder: Option<PathBuf>,
}

impl Votes {
    /// Opens the file of a voter, or creates it. Returns `None` if there are no voters or no file.
    pub(crate) fn of(args: &Args) -> Result<Option<Self>, Box<dyn Error>> {
        let Some(folder) = args.store.as_ref().filter(|_| !args.quorum.is_empty()) else {
            return Ok(None);
        };
        let file = folder.join(format!("{}.vote", args.name));
        let identity = StoreIdentity {
            cluster: args.cluster.parse()?,
            group: "node".parse()?,
            node: args.name.parse()?,
        };
        let new_folder = (!folder.exists()).then(|| folder.clone());
        let store = if args.init {
            fs::create_dir_all(folder)?;
            FileStore::create(&file, identity)?
        } else {
            FileStore::open(&file, identity)?
        };
        Ok(Some(Self {
            store: Arc::new(store),
            file,
            is_new: args.init,
            new_folder,
        }))
    }

    /// Returns the store for the agent, and for the bridge, which keeps the node's last incarnation there.
    pub(crate) fn store(&self) -> Arc<FileStore<Vote>> {
        Arc::clone(&self.store)
    }

    /// Removes a file that was made for this start, because the node does not start. The node has never taken part, so
    /// its next attempt needs `--init` again.
    pub(crate) fn give_up(self) {
        if let Err(wrong) = self.undo() {
            tracing::warn!(%wrong, "file of a refused --init not removed");
        }
    }

    fn undo(&self) -> io::Result<()> {
        if !self.is_new {
            return Ok(());
        }
        fs::remove_file(&self.file)?;
        self.new_folder.as_ref().map_or(Ok(()), fs::remove_dir)
    }
}
