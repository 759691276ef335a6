//! Where the record lives that must survive a crash.
//!
//! Decided here: what a driver may ask of a store. Not here: what the record means; that is the
//! machine's [`Election::Durable`](crate::protocol::Election::Durable).

mod memory;

use std::{fmt::Debug, future::Future, io, pin::Pin};

pub use memory::MemoryStore;

/// Keeps one agent's record through crashes.
///
/// A driver saves one record at a time: it waits for a [`Saving`] before it asks for the next.
pub trait Stable<D>: Debug + Send + Sync {
    /// The last record that was saved; `None` if there never was one. Called when a life begins,
    /// on the agent's own thread: it must be quick.
    ///
    /// # Errors
    /// [`StoreError`] when there may be a record that cannot be read. The agent does not start:
    /// one that forgot its vote could vote twice.
    fn load(&self) -> Result<Option<D>, StoreError>;

    /// Makes a record durable; it replaces the one before, wholly or not at all. What follows in
    /// the agent's step leaves only when this has ended well; otherwise the agent stops.
    fn save(&self, record: D) -> Saving;
}

/// A record on its way; ends when it is durable.
pub type Saving = Pin<Box<dyn Future<Output = Result<(), StoreError>> + Send>>;

/// Why a record could not be read or made durable.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// The medium refused.
    #[error("the stored record cannot be read or written: check the disk and its permissions")]
    Io(#[from] io::Error),
}
