//! A store to which the former process still writes.

use std::fmt::Debug;

use actix_bully::store::{Generation, MemoryStore, Saving, StoreError, TermStore};
use futures::FutureExt as _;

/// A store in which the former process saves `last` just before the present process takes the store over.
#[derive(Debug)]
pub(crate) struct TakenOver<D> {
    store: MemoryStore<D>,
    last: D,
}

impl<D> TakenOver<D> {
    pub(crate) fn new(last: D) -> Self {
        let store = MemoryStore::default();
        Self { store, last }
    }
}

impl<D: Clone + Debug + Send + Sync + 'static> TermStore<D> for TakenOver<D> {
    fn begin(&self) -> Result<Generation, StoreError> {
        let saving = self.store.save(self.store.begin()?, self.last.clone());
        saving.now_or_never().transpose()?;
        self.store.begin()
    }

    fn load(&self) -> Result<Option<D>, StoreError> {
        self.store.load()
    }

    fn save(&self, by: Generation, record: D) -> Saving {
        self.store.save(by, record)
    }

    fn is_volatile(&self) -> bool {
        true
    }
}
