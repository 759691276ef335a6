//! A store of votes or marks in memory that behaves as a test demands.

use std::{
    fmt,
    io::Error,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
    time::Duration,
};

use actix::clock;
use actix_bully::store::{Generation, MemoryStore, Saving, StoreError, StoreIdentity, TermStore};
use futures::FutureExt as _;

type AtBegin<D> = Arc<dyn Fn(&MemoryStore<D>) + Send + Sync>;

#[derive(Clone)]
pub(crate) struct TestStore<D> {
    pub(crate) kept: MemoryStore<D>,
    /// A function that is called before the store is taken over.
    pub(crate) at_begin: Option<AtBegin<D>>,
    /// Time of each write.
    pub(crate) takes: Duration,
    /// Time of a write when the store is measured.
    pub(crate) measured: Option<Duration>,
    /// Whether the store fails.
    pub(crate) broken: Arc<AtomicBool>,
    pub(crate) owner: Option<StoreIdentity>,
}

impl<D> Default for TestStore<D> {
    fn default() -> Self {
        Self {
            kept: MemoryStore::default(),
            at_begin: None,
            takes: Duration::ZERO,
            measured: None,
            broken: Arc::default(),
            owner: None,
        }
    }
}

impl<D> fmt::Debug for TestStore<D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("TestStore")
    }
}

impl<D: Clone + fmt::Debug + Send + Sync + 'static> TestStore<D> {
    /// Returns a store in which the former process saves `last` just before the present process takes the store over.
    pub(crate) fn taken_over(last: D) -> Self {
        let at_begin = move |store: &MemoryStore<D>| {
            let saving = store.save(store.begin().unwrap(), last.clone());
            saving.now_or_never().unwrap().unwrap();
        };
        Self {
            at_begin: Some(Arc::new(at_begin)),
            ..Self::default()
        }
    }

    fn check(&self) -> Result<(), StoreError> {
        if self.broken.load(Relaxed) {
            return Err(StoreError::Backend(Error::other("disk full")));
        }
        Ok(())
    }
}

impl<D: Clone + fmt::Debug + Send + Sync + 'static> TermStore<D> for TestStore<D> {
    fn begin(&self) -> Result<Generation, StoreError> {
        self.check()?;
        if let Some(at_begin) = &self.at_begin {
            at_begin(&self.kept);
        }
        self.kept.begin()
    }

    fn load(&self) -> Result<Option<D>, StoreError> {
        self.check()?;
        self.kept.load()
    }

    fn save(&self, by: Generation, record: D) -> Saving {
        let store = self.clone();
        Box::pin(async move {
            if !store.takes.is_zero() {
                clock::sleep(store.takes).await;
            }
            store.check()?;
            store.kept.save(by, record).await
        })
    }

    fn identity(&self) -> Option<&StoreIdentity> {
        self.owner.as_ref()
    }

    fn is_volatile(&self) -> bool {
        true
    }

    fn probe(&self) -> Option<Duration> {
        self.measured
    }
}
