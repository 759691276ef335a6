//! A store with a bad disk, for tests of this crate, and for applications that test how their agents behave.

use std::{
    io,
    sync::{Mutex, MutexGuard, PoisonError},
};

use tokio::sync::watch;

use crate::{
    protocol::{Incarnation, StoreId},
    store::{Generation, Incarnations, Saving, StoreError, StoreIdentity, TermStore},
};

/// A store whose saves fail or take time when a test requests a failure or a delay. Without such a request it behaves
/// like the store inside.
///
/// ```
/// use std::sync::Arc;
/// use actix_bully::{store::{MemoryStore, TermStore}, testkit::FaultyStore};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let store = Arc::new(FaultyStore::new(MemoryStore::new()));
/// store.fail_at(2);
/// let generation = store.begin()?;
/// assert!(store.save(generation, 1).await.is_ok());
/// assert!(store.save(generation, 2).await.is_err());
/// assert!(store.load().is_err(), "and so does all that follows");
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct FaultyStore<S> {
    inner: S,
    disk: Mutex<FaultyDisk>,
    held: watch::Sender<bool>,
}

#[derive(Clone, Copy, Debug)]
enum FaultyDisk {
    Good,
    /// The contained number of saves still succeeds; later saves fail.
    Wearing(u32),
    Bad,
    /// Each save fails with the contained error. The stored data can be read.
    Refuses(io::ErrorKind),
}

impl<S> FaultyStore<S> {
    /// Returns a store that behaves like the store inside.
    pub fn new(inner: S) -> Self {
        Self {
            inner,
            disk: Mutex::new(FaultyDisk::Good),
            held: watch::Sender::new(false),
        }
    }

    /// Makes the n-th save from now, and all later saves, fail before anything is written. The next save has the number
    /// 1; 0 also means 1.
    pub fn fail_at(&self, save: u32) {
        *self.disk() = FaultyDisk::Wearing(save.saturating_sub(1));
    }

    /// Makes saves fail with this kind of error, for example a temporary error. Nothing is written, and the stored data
    /// can be read.
    pub fn refuse(&self, kind: io::ErrorKind) {
        *self.disk() = FaultyDisk::Refuses(kind);
    }

    /// Makes saves work again after [`refuse`](Self::refuse).
    pub fn make_room(&self) {
        let mut disk = self.disk();
        if matches!(*disk, FaultyDisk::Refuses(_)) {
            *disk = FaultyDisk::Good;
        }
    }

    /// Makes saves wait from now on, before anything is written, until [`release`](Self::release).
    pub fn hold(&self) {
        self.held.send_replace(true);
    }

    /// Lets saves continue, including the saves that wait.
    pub fn release(&self) {
        self.held.send_replace(false);
    }

    /// Returns the store inside.
    pub fn inner(&self) -> &S {
        &self.inner
    }

    fn disk(&self) -> MutexGuard<'_, FaultyDisk> {
        self.disk.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts one save; returns an error if it must not be tried.
    fn wear(&self) -> Result<(), StoreError> {
        let mut disk = self.disk();
        *disk = match *disk {
            FaultyDisk::Good => FaultyDisk::Good,
            FaultyDisk::Wearing(0) | FaultyDisk::Bad => FaultyDisk::Bad,
            FaultyDisk::Wearing(left) => FaultyDisk::Wearing(left.saturating_sub(1)),
            FaultyDisk::Refuses(kind) => FaultyDisk::Refuses(kind),
        };
        match *disk {
            FaultyDisk::Good | FaultyDisk::Wearing(_) => Ok(()),
            FaultyDisk::Bad => Err(planted()),
            FaultyDisk::Refuses(kind) => Err(StoreError::Backend(kind.into())),
        }
    }

    fn read(&self) -> Result<(), StoreError> {
        match *self.disk() {
            FaultyDisk::Good | FaultyDisk::Wearing(_) | FaultyDisk::Refuses(_) => Ok(()),
            FaultyDisk::Bad => Err(planted()),
        }
    }
}

impl<D, S: TermStore<D>> TermStore<D> for FaultyStore<S> {
    fn begin(&self) -> Result<Generation, StoreError> {
        self.read()?;
        self.inner.begin()
    }

    fn load(&self) -> Result<Option<D>, StoreError> {
        self.read()?;
        self.inner.load()
    }

    fn save(&self, by: Generation, record: D) -> Saving {
        let mut held = self.held.subscribe();
        let saving = self.wear().map(|()| self.inner.save(by, record));
        Box::pin(async move {
            // An error means that the store is gone, and with the store any caller that could release the saves.
            drop(held.wait_for(|held| !held).await);
            saving?.await
        })
    }

    fn is_volatile(&self) -> bool {
        self.inner.is_volatile()
    }

    fn identity(&self) -> Option<&StoreIdentity> {
        self.inner.identity()
    }

    fn id(&self) -> Option<StoreId> {
        self.inner.id()
    }
}

impl<S: Incarnations> Incarnations for FaultyStore<S> {
    fn last(&self) -> Result<Incarnation, StoreError> {
        self.read()?;
        self.inner.last()
    }

    fn remember(&self, incarnation: Incarnation) -> Result<(), StoreError> {
        self.wear()?;
        self.inner.remember(incarnation)
    }
}

fn planted() -> StoreError {
    StoreError::Backend(io::Error::other("a fault planted by a test"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::{MemoryStore, Outlook};

    #[test]
    fn an_incarnation_is_remembered_by_the_store_inside_or_not_at_all() {
        let store = FaultyStore::new(MemoryStore::<u64>::new());
        store.remember(Incarnation(3)).expect("a good disk");
        assert_eq!(store.last().expect("a good disk"), Incarnation(3));
        store.refuse(io::ErrorKind::StorageFull);
        let refused = store.remember(Incarnation(4)).expect_err("full");
        assert_eq!(refused.outlook(), Outlook::NeedsRoom);
        assert_eq!(store.last().expect("it can be read"), Incarnation(3));
        store.make_room();
        store.fail_at(2);
        store.remember(Incarnation(5)).expect("the first one");
        assert!(store.remember(Incarnation(6)).is_err(), "the second one");
        assert!(store.last().is_err(), "and so does all that follows");
        let inside = store.inner().last().expect("a good disk");
        assert_eq!(inside, Incarnation(5));
    }
}
