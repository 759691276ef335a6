//! A store for tests and for groups that end with the process: it survives the agent, no more.

use std::{
    fmt::Debug,
    sync::{Arc, Mutex, PoisonError},
};

use super::{Saving, StoreError, TermStore};

/// Keeps the record in memory; clones share it.
#[derive(Clone, Debug)]
pub struct MemoryStore<D>(Arc<Mutex<Option<D>>>);

impl<D> Default for MemoryStore<D> {
    fn default() -> Self {
        Self(Arc::default())
    }
}

impl<D: Clone> MemoryStore<D> {
    /// An empty store.
    pub fn new() -> Self {
        Self::default()
    }

    /// The last record that was saved.
    pub fn record(&self) -> Option<D> {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }
}

impl<D: Clone + Debug + Send + 'static> TermStore<D> for MemoryStore<D> {
    fn load(&self) -> Result<Option<D>, StoreError> {
        Ok(self.record())
    }

    fn save(&self, record: D) -> Saving {
        let cell = Arc::clone(&self.0);
        Box::pin(async move {
            *cell.lock().unwrap_or_else(PoisonError::into_inner) = Some(record);
            Ok(())
        })
    }

    fn is_volatile(&self) -> bool {
        true
    }
}
