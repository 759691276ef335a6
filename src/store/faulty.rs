//! A store with a bad disk, for tests: of the driver, and of applications that want to see what
//! their agents do.

use std::{
    io,
    sync::{Mutex, MutexGuard, PoisonError},
};

use tokio::sync::watch;

use super::{Saving, StoreError, StoreIdentity, TermStore};

/// A store whose saves fail or take their time when a test says so; until then it is the one
/// inside.
///
/// ```
/// use std::sync::Arc;
/// use actix_bully::store::{FaultyStore, MemoryStore, TermStore};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let store = Arc::new(FaultyStore::new(MemoryStore::new()));
/// store.fail_at(2);
/// assert!(store.save(1).await.is_ok());
/// assert!(store.save(2).await.is_err());
/// assert!(store.load().is_err(), "and so does all that follows");
/// # }
/// ```
#[derive(Debug)]
pub struct FaultyStore<S> {
    inner: S,
    disk: Mutex<Disk>,
    held: watch::Sender<bool>,
}

#[derive(Clone, Copy, Debug)]
enum Disk {
    Good,
    /// So many saves end well.
    Wearing(u32),
    Bad,
}

impl<S> FaultyStore<S> {
    /// A store that works as the one inside.
    pub fn new(inner: S) -> Self {
        Self {
            inner,
            disk: Mutex::new(Disk::Good),
            held: watch::Sender::new(false),
        }
    }

    /// The n-th save from now fails before anything is written, and so does all that follows.
    /// The next one is the first; 0 is taken for 1.
    pub fn fail_at(&self, save: u32) {
        *self.disk() = Disk::Wearing(save.saturating_sub(1));
    }

    /// Saves wait from now on, before anything is written, until [`release`](Self::release).
    pub fn hold(&self) {
        self.held.send_replace(true);
    }

    /// Saves go on, those that waited as well.
    pub fn release(&self) {
        self.held.send_replace(false);
    }

    /// The store inside.
    pub fn inner(&self) -> &S {
        &self.inner
    }

    fn disk(&self) -> MutexGuard<'_, Disk> {
        self.disk.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts one save; whether it ends well.
    fn wears(&self) -> bool {
        let mut disk = self.disk();
        *disk = match *disk {
            Disk::Good => Disk::Good,
            Disk::Wearing(0) | Disk::Bad => Disk::Bad,
            Disk::Wearing(left) => Disk::Wearing(left.saturating_sub(1)),
        };
        !matches!(*disk, Disk::Bad)
    }
}

impl<D, S: TermStore<D>> TermStore<D> for FaultyStore<S> {
    fn load(&self) -> Result<Option<D>, StoreError> {
        match *self.disk() {
            Disk::Good | Disk::Wearing(_) => self.inner.load(),
            Disk::Bad => Err(planted()),
        }
    }

    fn save(&self, record: D) -> Saving {
        let mut held = self.held.subscribe();
        let saving = self.wears().then(|| self.inner.save(record));
        Box::pin(async move {
            // An error says that the store is gone, and with it whoever could release it.
            drop(held.wait_for(|held| !held).await);
            match saving {
                Some(saving) => saving.await,
                None => Err(planted()),
            }
        })
    }

    fn is_volatile(&self) -> bool {
        self.inner.is_volatile()
    }

    fn identity(&self) -> Option<&StoreIdentity> {
        self.inner.identity()
    }
}

fn planted() -> StoreError {
    StoreError::Backend(io::Error::other("a fault planted by a test"))
}
