//! A store that survives the host.
//!
//! Decided here: that one save at a time is on its way, that only the latest generation's is
//! written, and when a store that failed fails for good.

use std::{
    fmt::Debug,
    path::Path,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use serde::{Serialize, de::DeserializeOwned};
use tokio::{runtime::Handle, sync::Mutex as FairMutex};

use super::{
    Generation, Generations, Incarnations, Saving, StoreError, StoreIdentity, TermStore,
    disk::{Disk, Unsaved},
    files::Files,
    first::{self, FileTexts, Supplement},
    format::{self, FileState, Format},
};
use crate::{
    planted::{Defect, has},
    protocol::Incarnation,
};

/// Keeps the record in a file, through crashes of the process and of the host.
///
/// **To create the file is to say that this node never voted.** So [`create`](Self::create) is an
/// act of the operator who sets the cluster up, once for each node, and [`open`](Self::open) is what a
/// node does at every start. Never fall back from one to the other: a node that lost its file may
/// have voted, and has to come back under a new name.
///
/// A save writes a new file beside the old one, syncs it, renames it over the old one, and syncs
/// the folder, on a thread for blocking work. After a crash at any moment the file holds the old
/// record or the new one. A save that fails before the renaming, as on a full disk, leaves the old
/// one, and a later save may do better. Once one has failed at the renaming or after it, the disk
/// may hold either: every later save and load fails too, until the file is opened again.
///
/// A file of release 0.1 stays in its format 1, so that a node can go back to that release, until the operator
/// calls [`upgrade`](Self::upgrade). What format 1 has no room for is kept in a second file beside it,
/// `NAME.supplement`: move or copy both, or none. A new store has format 2. As long as there is a way back, nodes
/// keep the timings that they had: release 0.1 does not know what this one has promised.
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
    /// Fair, so that saves reach the disk in their order, also when no caller waits for them.
    turn: Arc<FairMutex<()>>,
    shared: Arc<Shared<D>>,
}

#[derive(Debug)]
struct Shared<D> {
    identity: StoreIdentity,
    path: Box<Path>,
    generations: Generations,
    /// Held as long as a write takes: one at a time, and none by an earlier generation after one by
    /// a later.
    disk: Mutex<Disk>,
    /// Held for a moment.
    known: Mutex<DiskState<D>>,
}

/// What is known of the disk.
#[derive(Debug)]
enum DiskState<D> {
    Durable(FileState<D>, Format),
    /// A save failed: the disk holds what it held, or what was tried.
    InDoubt,
}

impl<D> FileStore<D>
where
    D: Clone + Debug + PartialEq + Serialize + DeserializeOwned + Send + 'static,
{
    /// The store of a node that never ran. Blocks for two syncs.
    ///
    /// # Errors
    /// [`StoreError::Exists`] when there is anything of that name, or the supplement of such a store; others when it cannot be
    /// written. Nothing was changed.
    pub fn create(path: impl AsRef<Path>, identity: StoreIdentity) -> Result<Self, StoreError> {
        Self::create_on(path.as_ref(), identity, Files::default())
    }

    /// The store of a node that ran before. Blocks for two syncs: the record is written again, so
    /// that it is known to be durable, and a disk that fails shows it at the start.
    ///
    /// # Errors
    /// [`StoreError::Missing`], [`StoreError::Damaged`], [`StoreError::Supplement`], [`StoreError::Version`],
    /// [`StoreError::Foreign`] or [`StoreError::Record`] when there is no record of this node that could be trusted;
    /// [`StoreError::InUse`] when another process or agent has it open; [`StoreError::Full`] when there is no
    /// room to write it again. The record was not changed.
    pub fn open(path: impl AsRef<Path>, identity: StoreIdentity) -> Result<Self, StoreError> {
        Self::open_on(path.as_ref(), identity, Files::default())
    }

    /// Brings a store of format 1 to the present one, and removes what stood beside it: **final**, since release
    /// 0.1 refuses the file from then on, in words. Call it when no node goes back to that release. A store that
    /// has the present format stays as it is. Blocks for two syncs, and for a save that is on its way.
    ///
    /// # Errors
    /// [`StoreError::Full`] and the store is as it was; others, and it may have either format: open it again.
    pub fn upgrade(&self) -> Result<(), StoreError> {
        let mut disk = lock(&self.shared.disk);
        let (kept, format) = self.shared.kept()?;
        if format == Format::First {
            let written = self.shared.replace(&mut disk, &kept, Format::Second);
            self.shared.know(kept, Format::Second, written)?;
        }
        // Only now: before, the file alone would have forgotten what it says.
        disk.remove_supplement()
    }

    /// The format of the file: 1 as long as release 0.1 can read it, else 2.
    ///
    /// # Errors
    /// [`StoreError::Failed`] when a save failed before.
    pub fn format(&self) -> Result<u8, StoreError> {
        self.shared.kept().map(|(_, format)| format.version())
    }

    pub(super) fn create_on(
        path: &Path,
        identity: StoreIdentity,
        files: Files,
    ) -> Result<Self, StoreError> {
        let kept = FileState::nothing();
        let text = format::encode::<D>(&identity, &kept.as_ref())?;
        let disk = Disk::create(path, &text, files)?;
        Ok(Self::new(disk, identity, kept, Format::Second))
    }

    pub(super) fn open_on(
        path: &Path,
        identity: StoreIdentity,
        files: Files,
    ) -> Result<Self, StoreError> {
        let mut disk = Disk::open(path, files)?;
        let text = disk.read(format::MAX_LEN)?;
        let kept = match format::decode::<D>(disk.named(), &text, &identity) {
            Ok(kept) if has(Defect::ForgottenWhenOpened) => FileState {
                record: None,
                ..kept
            },
            Err(StoreError::Damaged { .. }) if has(Defect::DamagedIsFresh) => FileState::nothing(),
            kept => kept?,
        };
        let format = Format::of(&text);
        let kept = match format {
            Format::First => {
                let (beside, found) = disk.read_supplement(format::MAX_LEN)?;
                let found = found.filter(|_| !has(Defect::SupplementNotRead));
                let found = found.map(|text| Supplement::decode(beside, &text, &identity));
                first::join(disk.named(), &text, kept, found.transpose()?)?
            }
            Format::Second => kept,
        };
        disk.tidy()?;
        if format == Format::Second {
            // A crash at the end of an upgrade may have left it.
            disk.remove_supplement()?;
        }
        let store = Self::new(disk, identity, kept.clone(), format);
        let written = store
            .shared
            .replace(&mut lock(&store.shared.disk), &kept, format);
        match written {
            Ok(()) => Ok(store),
            Err(Unsaved::AsBefore(error) | Unsaved::InDoubt(error)) => Err(error),
        }
    }

    fn new(disk: Disk, identity: StoreIdentity, kept: FileState<D>, format: Format) -> Self {
        Self {
            turn: Arc::default(),
            shared: Arc::new(Shared {
                identity,
                path: disk.named().into(),
                generations: Generations::after(kept.generation),
                disk: Mutex::new(disk),
                known: Mutex::new(DiskState::Durable(kept, format)),
            }),
        }
    }
}

impl<D> Shared<D>
where
    D: Clone + PartialEq + Serialize + DeserializeOwned,
{
    /// What the disk is known to hold, and in which format.
    fn kept(&self) -> Result<(FileState<D>, Format), StoreError> {
        match &*lock(&self.known) {
            DiskState::Durable(kept, format) => Ok((kept.clone(), *format)),
            DiskState::InDoubt => Err(StoreError::Failed {
                path: self.path.to_path_buf(),
            }),
        }
    }

    /// Writes what `change` makes of what is kept. Blocks.
    fn write(
        &self,
        change: impl FnOnce(FileState<D>) -> Result<FileState<D>, StoreError>,
    ) -> Result<(), StoreError> {
        let mut disk = lock(&self.disk);
        let (kept, format) = self.kept()?;
        let kept = change(kept)?;
        let written = self.replace(&mut disk, &kept, format);
        self.know(kept, format, written)
    }

    /// Puts this in the place of what the disk holds.
    fn replace(&self, disk: &mut Disk, kept: &FileState<D>, format: Format) -> Result<(), Unsaved> {
        match format {
            Format::First => {
                let texts = first::encode(&self.identity, &kept.as_ref());
                let FileTexts { file, supplement } = texts.map_err(Unsaved::AsBefore)?;
                // This order, so that a file that cannot be written leaves the record as before: what the
                // supplement says is true beside either.
                disk.replace_supplement(&supplement)?;
                disk.replace(&file)
            }
            Format::Second => {
                let text = format::encode(&self.identity, &kept.as_ref());
                disk.replace(&text.map_err(Unsaved::AsBefore)?)
            }
        }
    }

    /// Notes what became of a write.
    fn know(
        &self,
        kept: FileState<D>,
        format: Format,
        written: Result<(), Unsaved>,
    ) -> Result<(), StoreError> {
        // Locked only after the write: a load must not wait for the disk.
        let mut known = lock(&self.known);
        match written {
            Ok(()) => *known = DiskState::Durable(kept, format),
            Err(Unsaved::AsBefore(error)) => return Err(error),
            Err(Unsaved::InDoubt(error)) if has(Defect::FailureIsForgotten) => return Err(error),
            Err(Unsaved::InDoubt(error)) => {
                *known = DiskState::InDoubt;
                return Err(error);
            }
        }
        Ok(())
    }

    /// A record of that generation, unless a later one has begun.
    fn save(&self, by: Generation, record: D) -> Result<(), StoreError> {
        self.write(|kept| {
            self.generations.check(by)?;
            Ok(FileState {
                generation: by,
                record: Some(record),
                ..kept
            })
        })?;
        // An agent that began meanwhile may have loaded the record before this one, and would not honour
        // what this one promises: so the promise must not leave.
        self.generations.check(by)
    }
}

impl<D> TermStore<D> for FileStore<D>
where
    D: Clone + Debug + PartialEq + Serialize + DeserializeOwned + Send + 'static,
{
    fn begin(&self) -> Result<Generation, StoreError> {
        // No agent may begin with a disk in doubt: it may hold a vote that is not known here.
        self.shared.kept()?;
        Ok(self.shared.generations.begin())
    }

    /// The disk is not read: no other process writes there. A record that was on its way when its
    /// agent crashed may be missing; nothing of that step left.
    fn load(&self) -> Result<Option<D>, StoreError> {
        self.shared.kept().map(|(kept, _)| kept.record)
    }

    fn save(&self, by: Generation, record: D) -> Saving {
        let (turn, shared) = (Arc::clone(&self.turn), Arc::clone(&self.shared));
        Box::pin(async move {
            let runtime = Handle::try_current().map_err(|_| StoreError::NoRuntime)?;
            let turn = turn.lock_owned().await;
            let write = move || {
                let written = shared.save(by, record);
                // Given free only here, so that the next save finds what this one has found.
                drop(turn);
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
        Some(&self.shared.identity)
    }
}

impl<D> Incarnations for FileStore<D>
where
    D: Clone + Debug + PartialEq + Serialize + DeserializeOwned + Send + 'static,
{
    fn last(&self) -> Result<Incarnation, StoreError> {
        self.shared.kept().map(|(kept, _)| kept.incarnation)
    }

    /// Blocks for two syncs, and for a save that is on its way.
    fn remember(&self, incarnation: Incarnation) -> Result<(), StoreError> {
        if self.last()? >= incarnation {
            return Ok(());
        }
        self.shared.write(|kept| {
            Ok(FileState {
                // A later one may have been remembered since the look above.
                incarnation: kept.incarnation.max(incarnation),
                ..kept
            })
        })
    }
}

fn lock<T>(cell: &Mutex<T>) -> MutexGuard<'_, T> {
    cell.lock().unwrap_or_else(PoisonError::into_inner)
}
