//! A store in a file, which survives a crash of the host.
//!
//! Decided here: one save runs at a time; only the latest generation (the last agent that began with the store) may
//! save; and which errors make a store fail for good.

use std::{
    fmt::Debug,
    hash::{BuildHasher, Hasher, RandomState},
    path::Path,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use serde::{Serialize, de::DeserializeOwned};
use tracing::warn;

#[cfg(feature = "serde")]
use super::OpenStore;
use super::{
    Generation, Generations, Incarnations, Saving, StoreError, StoreIdentity, TermStore,
    error::explain,
    format::{self, FileState},
    probe::probe,
    writer::Writer,
};
use crate::protocol::{Incarnation, StoreId};
use bully_register::{
    Outlook,
    record_file::{FileSystem, Host, RecordFile, RecordFileError},
};

/// Keeps the record in a file. The record survives crashes of the process and of the host.
///
/// **Creating the file declares that this node never voted.** [`create`](Self::create) makes the file,
/// [`open`](Self::open) opens it at every later start, and [`open_or_create`](Self::open_or_create) opens or makes it.
/// A new store gets a random [`StoreId`], by which peers know the voter. If a node lost its file and starts again with
/// a new file, its peers refuse it until the epoch of all voters is raised, or the node gets a new name.
///
/// A file has two slots. A save overwrites the slot that does not hold the newest record, and syncs it, on a
/// separate thread of this store. After a crash at any moment the file holds the old record or the new one. The
/// same is true after an error that [passes or needs room](StoreError::outlook): the next save takes the slot of
/// the failed save, and writes and syncs the whole record. After any other error with an unknown outcome, or if the
/// file's name leads to another file, every later save and load fails until the file is opened again.
///
/// The file is locked as long as the store exists, and only its owner may read it. Do not copy it: a copy claims to be
/// the same store, and lacks later votes. Put it on a local disk: the locks and syncs of a network file system may
/// guarantee less.
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
/// // At every start, the first one included:
/// let store = FileStore::<u64>::open_or_create(&path, identity.clone())?;
/// assert_eq!(store.load()?, None, "nothing was ever saved");
///
/// let again = FileStore::<u64>::create(&path, identity);
/// assert!(matches!(again, Err(StoreError::Exists { .. })));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct FileStore<D> {
    /// The thread that writes. Saves reach the disk in the order of this thread's queue, even if no caller waits for
    /// their end.
    writer: Writer,
    shared: Arc<Shared<D>>,
}

#[derive(Debug)]
struct Shared<D> {
    identity: StoreIdentity,
    path: Box<Path>,
    id: StoreId,
    generations: Generations,
    /// The file, locked during a whole write: only one write runs at a time, and no write of an earlier generation
    /// follows a write of a later generation.
    file: Mutex<RecordFile>,
    /// The known state, locked only for a moment, because a load must not wait for the disk.
    known: Mutex<DiskState<D>>,
}

/// The known state of the disk.
#[derive(Debug)]
enum DiskState<D> {
    Durable(FileState<D>),
    /// A save failed for good: the disk has either the previous record or the record of the failed save.
    InDoubt,
}

impl<D> FileStore<D>
where
    D: Clone + Debug + PartialEq + Serialize + DeserializeOwned + Send + 'static,
{
    /// Creates the store of a node that never ran. Blocks for two syncs. Logs a warning that the store is new.
    ///
    /// # Errors
    /// [`StoreError::Exists`] when `path` exists already; another error when the file cannot be written. Nothing was
    /// changed.
    pub fn create(path: impl AsRef<Path>, identity: StoreIdentity) -> Result<Self, StoreError> {
        Self::create_on(path.as_ref(), identity, Arc::new(Host))
    }

    /// Opens the store of a node that ran before. Writes the record again and blocks for its sync, so that the record
    /// is durable in any case, and so that a failing disk is noticed at the start.
    ///
    /// # Errors
    /// [`StoreError::Missing`], [`StoreError::Damaged`], [`StoreError::Version`],
    /// [`StoreError::Foreign`] or [`StoreError::Record`] when the file has no valid record of this node;
    /// [`StoreError::InUse`] when another process or agent has the file open; [`StoreError::Io`] when the disk has no
    /// room for the second copy of the record. The record was not changed.
    pub fn open(path: impl AsRef<Path>, identity: StoreIdentity) -> Result<Self, StoreError> {
        Self::open_on(path.as_ref(), identity, Arc::new(Host))
    }

    /// Opens the store of a node, or creates it if it is missing. With a single voter use [`open`](Self::open): if the
    /// old store was lost, no peer could refuse the new store.
    ///
    /// # Errors
    /// The errors of [`open`](Self::open), except for a missing file, and the errors of [`create`](Self::create).
    pub fn open_or_create(
        path: impl AsRef<Path>,
        identity: StoreIdentity,
    ) -> Result<Self, StoreError> {
        match Self::open(path.as_ref(), identity.clone()) {
            Err(StoreError::Missing { .. }) => Self::create(path, identity),
            opened => opened,
        }
    }

    /// Opens or creates a store, by the choice `how`.
    ///
    /// # Errors
    /// The errors of [`open`](Self::open), [`create`](Self::create) or [`open_or_create`](Self::open_or_create).
    #[cfg(feature = "serde")]
    pub(crate) fn by(
        how: OpenStore,
        path: impl AsRef<Path>,
        identity: StoreIdentity,
    ) -> Result<Self, StoreError> {
        match how {
            OpenStore::Open => Self::open(path, identity),
            OpenStore::Create => Self::create(path, identity),
            OpenStore::OpenOrCreate => Self::open_or_create(path, identity),
        }
    }

    pub(super) fn create_on(
        path: &Path,
        identity: StoreIdentity,
        system: Arc<dyn FileSystem>,
    ) -> Result<Self, StoreError> {
        let kept = FileState::nothing(random());
        let text = format::encode(&identity, &kept)?;
        let file = RecordFile::create(system, path, format::MAX_LEN, &text);
        let file = file.map_err(|error| explain(path, error))?;
        warn!(
            node = %identity.node,
            group = %identity.group,
            path = %path.display(),
            store = %kept.store,
            "store created: this node has kept nothing in it before. Of votes, if no voter remembers an earlier term, fences start again from the lowest; of schedules, ticks that only this node had acknowledged may begin again"
        );
        Self::new(path, file, identity, kept)
    }

    pub(super) fn open_on(
        path: &Path,
        identity: StoreIdentity,
        system: Arc<dyn FileSystem>,
    ) -> Result<Self, StoreError> {
        let mut file = RecordFile::open(system, path).map_err(|error| explain(path, error))?;
        let kept = format::decode::<D>(path, file.record(), &identity)?;
        file.confirm().map_err(|error| explain(path, error))?;
        Self::new(path, file, identity, kept)
    }

    fn new(
        path: &Path,
        file: RecordFile,
        identity: StoreIdentity,
        kept: FileState<D>,
    ) -> Result<Self, StoreError> {
        let writer = Writer::new().map_err(StoreError::NoThread)?;
        Ok(Self {
            writer,
            shared: Arc::new(Shared {
                identity,
                path: path.into(),
                id: kept.store,
                generations: Generations::after(kept.generation),
                file: Mutex::new(file),
                known: Mutex::new(DiskState::Durable(kept)),
            }),
        })
    }
}

impl<D> Shared<D>
where
    D: Clone + PartialEq + Serialize + DeserializeOwned,
{
    /// Returns the known state of the disk.
    fn kept(&self) -> Result<FileState<D>, StoreError> {
        match &*lock(&self.known) {
            DiskState::Durable(kept) => Ok(kept.clone()),
            DiskState::InDoubt => Err(self.failed()),
        }
    }

    fn failed(&self) -> StoreError {
        StoreError::Failed {
            path: self.path.to_path_buf(),
        }
    }

    /// Writes the state that `change` makes from the present state. Blocks.
    fn write(
        &self,
        change: impl FnOnce(FileState<D>) -> Result<FileState<D>, StoreError>,
    ) -> Result<(), StoreError> {
        let mut file = lock(&self.file);
        let kept = change(self.kept()?)?;
        let text = format::encode(&self.identity, &kept)?;
        let written = file.write(&text);
        // `known` is locked only after the write, because a load locks it too, and a load must not wait for the disk.
        let mut known = lock(&self.known);
        match written {
            Ok(()) => *known = DiskState::Durable(kept),
            Err(error) => {
                if !may_write_again(&error) {
                    *known = DiskState::InDoubt;
                }
                return Err(explain(&self.path, error));
            }
        }
        Ok(())
    }

    /// Saves the record of the generation `by`, unless a later generation has begun.
    fn save(&self, by: Generation, record: D) -> Result<(), StoreError> {
        self.write(|kept| {
            self.generations.check(by)?;
            Ok(FileState {
                generation: by,
                record: Some(record),
                ..kept
            })
        })?;
        // The generation is checked again after the write: another agent that began during the write may have loaded
        // the former record, and does not know the promise in the new record. So this save must fail, and no message
        // with that promise may be sent.
        self.generations.check(by)
    }
}

impl<D> TermStore<D> for FileStore<D>
where
    D: Clone + Debug + PartialEq + Serialize + DeserializeOwned + Send + 'static,
{
    fn begin(&self) -> Result<Generation, StoreError> {
        // After a save with an unknown outcome no agent may begin, because the disk may have a vote that this store
        // does not know.
        self.shared.kept()?;
        Ok(self.shared.generations.begin())
    }

    /// Returns the record that this store keeps in memory, because no other process writes to the file. If an agent
    /// crashed during a save, the record of that save may be missing; no message that depends on it was sent.
    fn load(&self) -> Result<Option<D>, StoreError> {
        self.shared.kept().map(|kept| kept.record)
    }

    fn save(&self, by: Generation, record: D) -> Saving {
        let (jobs, shared) = (self.writer.clone(), Arc::clone(&self.shared));
        Box::pin(async move {
            let write = Arc::clone(&shared);
            let written = jobs.run(move || write.save(by, record));
            // A result is missing only if the thread of the store ended early, because the code of the record type
            // panicked there.
            written.await.unwrap_or_else(|_| Err(shared.failed()))
        })
    }

    fn is_volatile(&self) -> bool {
        false
    }

    fn probe(&self) -> Option<Duration> {
        probe(&self.shared.path).ok()
    }

    fn identity(&self) -> Option<&StoreIdentity> {
        Some(&self.shared.identity)
    }

    fn id(&self) -> Option<StoreId> {
        Some(self.shared.id)
    }
}

impl<D> Incarnations for FileStore<D>
where
    D: Clone + Debug + PartialEq + Serialize + DeserializeOwned + Send + 'static,
{
    fn last(&self) -> Result<Incarnation, StoreError> {
        self.shared.kept().map(|kept| kept.incarnation)
    }

    /// Blocks until a save that is under way has ended, and then for a sync.
    fn remember(&self, incarnation: Incarnation) -> Result<(), StoreError> {
        if self.last()? >= incarnation {
            return Ok(());
        }
        self.shared.write(|kept| {
            Ok(FileState {
                // A later incarnation may have been remembered since the check above.
                incarnation: kept.incarnation.max(incarnation),
                ..kept
            })
        })
    }
}

/// Returns whether the previous record still counts after this error, and a later write may try again.
///
/// A record whose sync failed may be on the disk. No message that depends on it was sent, so after a crash either
/// record may be used. The next write overwrites the whole slot, so a sync that succeeds covers all of it.
fn may_write_again(error: &RecordFileError) -> bool {
    match error {
        RecordFileError::Io(_) | RecordFileError::TooLarge { .. } => true,
        RecordFileError::Unknown(source) => Outlook::of(source).is_worth_a_try(),
        RecordFileError::Exists
        | RecordFileError::Missing
        | RecordFileError::InUse(_)
        | RecordFileError::Damaged(_)
        | RecordFileError::Format { .. }
        | RecordFileError::Replaced
        | RecordFileError::Forked
        | RecordFileError::NotAvailable => false,
    }
}

/// Returns a random id: two stores of one name must differ, even if they are created at the same moment. The randomness
/// comes from the keys of a hasher, which are random bytes of the system.
fn random() -> StoreId {
    StoreId::new(RandomState::new().build_hasher().finish())
}

fn lock<T>(cell: &Mutex<T>) -> MutexGuard<'_, T> {
    cell.lock().unwrap_or_else(PoisonError::into_inner)
}
