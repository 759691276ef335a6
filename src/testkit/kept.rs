//! A store in memory that counts as durable, for groups that reach other hosts of a test.
//!
//! Decided here: a test may declare its store durable. An agent that keeps votes in memory is refused if other hosts
//! rely on the votes, since the votes are lost with the agent's process. The hosts of a test are all in one process,
//! and the store outlives each of them. Not here: a disk that fails ([`FaultyStore`](super::FaultyStore), which can
//! contain this store).

use std::fmt::Debug;

use crate::{
    protocol::{Incarnation, StoreId},
    store::{Generation, Incarnations, MemoryStore, Saving, StoreError, TermStore},
};

/// A [`MemoryStore`] that agents behind a bridge accept: [`Pipes`](crate::remote::transport::Pipes) connect the hosts
/// of a test, and the stores outlive the hosts. All clones share the record: keep one, and give a clone to each start
/// of the agent.
#[derive(Clone, Debug)]
pub struct KeptStore<D>(MemoryStore<D>);

impl<D: Clone> KeptStore<D> {
    /// Returns an empty store.
    pub fn new() -> Self {
        Self::default()
    }
}

impl<D> Default for KeptStore<D> {
    fn default() -> Self {
        Self(MemoryStore::default())
    }
}

impl<D: Clone + Debug + Send + 'static> TermStore<D> for KeptStore<D> {
    fn begin(&self) -> Result<Generation, StoreError> {
        self.0.begin()
    }

    fn load(&self) -> Result<Option<D>, StoreError> {
        self.0.load()
    }

    fn save(&self, by: Generation, record: D) -> Saving {
        self.0.save(by, record)
    }

    fn is_volatile(&self) -> bool {
        false
    }

    fn id(&self) -> Option<StoreId> {
        self.0.id()
    }
}

impl<D: Debug + Send> Incarnations for KeptStore<D> {
    fn last(&self) -> Result<Incarnation, StoreError> {
        self.0.last()
    }

    fn remember(&self, incarnation: Incarnation) -> Result<(), StoreError> {
        self.0.remember(incarnation)
    }
}
