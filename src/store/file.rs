//! A store that survives the host.
//!
//! Decided here: that one save at a time is on its way, and that a store which failed once fails
//! for good.

use std::{
    fmt::Debug,
    future::ready,
    path::Path,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use serde::{Serialize, de::DeserializeOwned};
use tokio::{runtime::Handle, sync::Mutex as FairMutex};

use super::{Saving, StoreError, StoreIdentity, TermStore, disk::Disk, format};

/// Keeps the record in a file, through crashes of the process and of the host.
///
/// **To create the file is to say that this node never voted.** So [`create`](Self::create) is an
/// act of whoever sets the cluster up, once in a node's life, and [`open`](Self::open) is what a
/// node does at every start. Never fall back from one to the other: a node that lost its file may
/// have voted, and has to come back under a new name.
///
/// A save writes a new file beside the old one, syncs it, renames it over the old one, and syncs
/// the folder, on a thread for blocking work. After a crash at any moment the file holds the old
/// record or the new one. Once a save has failed, the disk may hold either: every later save and
/// load fails too, until the file is opened again.
///
/// The file is locked as long as the store exists, and it may be read by its owner only. It
/// belongs on a local disk: the locks and syncs of a network's file system may promise less.
///
/// ```
/// use actix_bully::store::{FileStore, StoreError, StoreIdentity, TermStore};
///
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("jobs.store");
/// let identity = StoreIdentity {
///     cluster: "production".parse()?,
///     group: "jobs".parse()?,
///     node: "api-1".parse()?,
/// };
/// // Once, by hand or by the installer:
/// drop(FileStore::<u64>::create(&path, identity.clone())?);
/// // At every start:
/// let store = FileStore::<u64>::open(&path, identity.clone())?;
/// assert_eq!(store.load()?, None, "nothing was ever saved");
///
/// let again = FileStore::<u64>::create(&path, identity);
/// assert!(matches!(again, Err(StoreError::Exists { .. })));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct FileStore<D> {
    identity: StoreIdentity,
    /// Fair, so that saves reach the disk in their order, also when nobody waits for them.
    disk: Arc<FairMutex<Disk>>,
    known: Arc<Mutex<Known<D>>>,
    path: Box<Path>,
}

/// What is known of the disk.
#[derive(Debug)]
enum Known<D> {
    /// The record that is durable.
    Durable(Option<D>),
    /// A save failed: the record is the one before it, or the one that it tried.
    InDoubt,
}

impl<D> FileStore<D>
where
    D: Clone + Debug + PartialEq + Serialize + DeserializeOwned + Send + 'static,
{
    /// The store of a node that never ran. Blocks for two syncs.
    ///
    /// # Errors
    /// [`StoreError::Exists`] when there is anything of that name; others when it cannot be
    /// written. Nothing was changed.
    pub fn create(path: impl AsRef<Path>, identity: StoreIdentity) -> Result<Self, StoreError> {
        let text = format::encode::<D>(&identity, None)?;
        let disk = Disk::create(path.as_ref(), &text)?;
        Ok(Self::new(disk, identity, None))
    }

    /// The store of a node that ran before. Blocks for two syncs: the record is written again, so
    /// that it is durable for certain, and a disk that fails shows it at the start.
    ///
    /// # Errors
    /// [`StoreError::Missing`], [`StoreError::Damaged`], [`StoreError::Version`],
    /// [`StoreError::Foreign`] or [`StoreError::Record`] when there is no record of this node that could be trusted;
    /// [`StoreError::InUse`] when somebody else has it open. The record was not changed.
    pub fn open(path: impl AsRef<Path>, identity: StoreIdentity) -> Result<Self, StoreError> {
        let mut disk = Disk::open(path.as_ref())?;
        let text = disk.read(format::MAX_LEN)?;
        let record = format::decode(disk.named(), &text, &identity)?;
        disk.tidy()?;
        disk.replace(&text)?;
        Ok(Self::new(disk, identity, record))
    }

    fn new(disk: Disk, identity: StoreIdentity, record: Option<D>) -> Self {
        Self {
            identity,
            path: disk.named().into(),
            disk: Arc::new(FairMutex::new(disk)),
            known: Arc::new(Mutex::new(Known::Durable(record))),
        }
    }
}

impl<D> TermStore<D> for FileStore<D>
where
    D: Clone + Debug + PartialEq + Serialize + DeserializeOwned + Send + 'static,
{
    /// No reading of the disk: nobody else writes there. A record that was on its way when its
    /// agent crashed may be missing; nothing of that step left.
    fn load(&self) -> Result<Option<D>, StoreError> {
        match &*lock(&self.known) {
            Known::Durable(record) => Ok(record.clone()),
            Known::InDoubt => Err(StoreError::Failed {
                path: self.path.to_path_buf(),
            }),
        }
    }

    fn save(&self, record: D) -> Saving {
        let text = match format::encode(&self.identity, Some(&record)) {
            Ok(text) => text,
            Err(refused) => return Box::pin(ready(Err(refused))),
        };
        let (disk, known) = (Arc::clone(&self.disk), Arc::clone(&self.known));
        Box::pin(async move {
            let runtime = Handle::try_current().map_err(|_| StoreError::NoRuntime)?;
            let mut disk = disk.lock_owned().await;
            let write = move || {
                if matches!(*lock(&known), Known::InDoubt) {
                    return Err(StoreError::Failed {
                        path: disk.named().into(),
                    });
                }
                let written = disk.replace(&text);
                *lock(&known) = match written {
                    Ok(()) => Known::Durable(Some(record)),
                    Err(_) => Known::InDoubt,
                };
                // Given free only here, so that the next save finds what this one has found.
                drop(disk);
                written
            };
            let written = runtime.spawn_blocking(write).await;
            written.unwrap_or(Err(StoreError::NoRuntime))
        })
    }

    fn is_volatile(&self) -> bool {
        false
    }

    fn identity(&self) -> Option<&StoreIdentity> {
        Some(&self.identity)
    }
}

fn lock<T>(cell: &Mutex<T>) -> MutexGuard<'_, T> {
    cell.lock().unwrap_or_else(PoisonError::into_inner)
}
