//! A store in memory, for tests and for groups that end with the process: it survives the agent, but not the process.

use std::{
    fmt::Debug,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
};

use super::{Generation, Generations, Incarnations, Saving, StoreError, TermStore};
use crate::protocol::{Incarnation, StoreId};

/// The id of the next store. It has to be unique only in this process. The first id is high, so that all ids have the
/// same length in a message.
static NEXT: AtomicU64 = AtomicU64::new(1 << 63);

/// Keeps the record in memory; clones share the record.
///
/// The store must outlive the agent: keep it, and give a clone of it to each start of the agent. A new store has no
/// votes, and a voter that comes back with a new store is refused.
#[derive(Clone, Debug)]
pub struct MemoryStore<D> {
    id: StoreId,
    generations: Generations,
    cell: Arc<Mutex<Cell<D>>>,
}

#[derive(Debug)]
struct Cell<D> {
    record: Option<D>,
    incarnation: Incarnation,
}

impl<D> Default for MemoryStore<D> {
    fn default() -> Self {
        Self {
            id: StoreId::new(NEXT.fetch_add(1, Ordering::Relaxed)),
            generations: Generations::default(),
            cell: Arc::new(Mutex::new(Cell {
                record: None,
                incarnation: Incarnation::default(),
            })),
        }
    }
}

impl<D: Clone> MemoryStore<D> {
    /// Returns an empty store.
    pub fn new() -> Self {
        Self::default()
    }

    for_tests! {
        /// Returns the last record that was saved.
        fn record(&self) -> Option<D> {
            lock(&self.cell).record.clone()
        }
    }
}

impl<D: Clone + Debug + Send + 'static> TermStore<D> for MemoryStore<D> {
    fn begin(&self) -> Result<Generation, StoreError> {
        // The lock is held here, so that a save of an earlier agent either is in the store before this agent loads, or
        // is refused.
        let _cell = lock(&self.cell);
        Ok(self.generations.begin())
    }

    fn load(&self) -> Result<Option<D>, StoreError> {
        Ok(self.record())
    }

    fn save(&self, by: Generation, record: D) -> Saving {
        let store = self.clone();
        Box::pin(async move {
            let mut cell = lock(&store.cell);
            store.generations.check(by)?;
            cell.record = Some(record);
            Ok(())
        })
    }

    fn is_volatile(&self) -> bool {
        true
    }

    fn id(&self) -> Option<StoreId> {
        Some(self.id)
    }
}

impl<D: Debug + Send> Incarnations for MemoryStore<D> {
    fn last(&self) -> Result<Incarnation, StoreError> {
        Ok(lock(&self.cell).incarnation)
    }

    fn remember(&self, incarnation: Incarnation) -> Result<(), StoreError> {
        let mut cell = lock(&self.cell);
        cell.incarnation = cell.incarnation.max(incarnation);
        Ok(())
    }
}

fn lock<T>(cell: &Mutex<T>) -> MutexGuard<'_, T> {
    cell.lock().unwrap_or_else(PoisonError::into_inner)
}
