//! A register that counts its reads and writes, until a test declares its process dead.

use std::sync::{
    Arc,
    atomic::{AtomicBool, AtomicU64, Ordering::Relaxed},
};

use futures::future::pending;

use actix_bully::register::{
    ChangeStream, Entry, Register, RegisterKey, RegisterListing, RegisterReading, Removing,
    Swapping,
};

/// A register with counters; see the [module](self). All clones share the counters.
#[derive(Clone, Debug)]
pub struct Counted {
    inner: Arc<dyn Register>,
    reads: Arc<AtomicU64>,
    writes: Arc<AtomicU64>,
    is_killed: Arc<AtomicBool>,
}

impl Counted {
    /// Returns a register that counts the calls and passes them to `inner`.
    pub fn new(inner: Arc<dyn Register>) -> Self {
        Self {
            inner,
            reads: Arc::default(),
            writes: Arc::default(),
            is_killed: Arc::default(),
        }
    }

    /// Cuts the register off, as the death of its process does: later calls do not reach the store, and never return.
    pub fn kill(&self) {
        self.is_killed.store(true, Relaxed);
    }

    /// Returns whether [`kill`](Self::kill) was called.
    pub fn is_killed(&self) -> bool {
        self.is_killed.load(Relaxed)
    }

    /// Returns the numbers of reads and of writes since the last call of this function.
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
