//! A register that counts what it is asked, until its process is killed, as it were.

use std::sync::{
    Arc,
    atomic::{AtomicBool, AtomicU64, Ordering::Relaxed},
};

use futures::future::pending;

use actix_bully::register::{
    ChangeStream, Entry, Register, RegisterKey, RegisterListing, RegisterReading, Removing,
    Swapping,
};

/// See the [module](self). Clones count together.
#[derive(Clone, Debug)]
pub struct Counted {
    inner: Arc<dyn Register>,
    reads: Arc<AtomicU64>,
    writes: Arc<AtomicU64>,
    is_killed: Arc<AtomicBool>,
}

impl Counted {
    /// Counts what that one is asked.
    pub fn new(inner: Arc<dyn Register>) -> Self {
        Self {
            inner,
            reads: Arc::default(),
            writes: Arc::default(),
            is_killed: Arc::default(),
        }
    }

    /// From now on nothing that is asked arrives at the store, and nothing is answered.
    pub fn kill(&self) {
        self.is_killed.store(true, Relaxed);
    }

    fn is_killed(&self) -> bool {
        self.is_killed.load(Relaxed)
    }

    /// Reads and writes since this was asked last.
    pub fn take(&self) -> (u64, u64) {
        (self.reads.swap(0, Relaxed), self.writes.swap(0, Relaxed))
    }
}

impl Register for Counted {
    fn name(&self) -> &str {
        self.inner.name()
    }

    fn read(&self, key: &RegisterKey) -> RegisterReading {
        self.reads.fetch_add(1, Relaxed);
        if self.is_killed() {
            return Box::pin(pending());
        }
        self.inner.read(key)
    }

    fn swap(&self, key: &RegisterKey, expected: Option<&Entry>, value: Vec<u8>) -> Swapping {
        self.writes.fetch_add(1, Relaxed);
        if self.is_killed() {
            return Box::pin(pending());
        }
        self.inner.swap(key, expected, value)
    }

    fn list(&self, prefix: &RegisterKey) -> Option<RegisterListing> {
        self.reads.fetch_add(1, Relaxed);
        if self.is_killed() {
            return Some(Box::pin(pending()));
        }
        self.inner.list(prefix)
    }

    fn remove(&self, key: &RegisterKey, expected: &Entry) -> Option<Removing> {
        self.writes.fetch_add(1, Relaxed);
        if self.is_killed() {
            return Some(Box::pin(pending()));
        }
        self.inner.remove(key, expected)
    }

    fn changes(&self, key: &RegisterKey) -> Option<ChangeStream> {
        self.inner.changes(key)
    }
}
