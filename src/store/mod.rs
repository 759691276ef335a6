//! Where the record lives that must survive a crash.
//!
//! ```text
//!   machine ── Persist(record) ──▶ driver ── save ──▶ TermStore ──▶ MemoryStore: survives the agent
//!      ▲                             │ waits                    ├─▶ FileStore:   survives the host
//!      └── durable: Option<record> ──┴◀─ load ──────────────────┘
//! ```
//!
//! Decided here: what a driver may ask of a store, and how a file keeps what it was given. Not
//! here: what the record means; that is the machine's
//! [`Election::Durable`](crate::protocol::Election::Durable).
//!
//! Read on: [`TermStore`] is the contract, [`FileStore`] says what an operator has to know,
//! `format.rs` what the file looks like, `disk.rs` how it is replaced.

mod disk;
mod error;
mod faulty;
mod file;
mod format;
mod identity;
mod lock;
mod memory;
#[cfg(test)]
mod tests;

use std::{fmt::Debug, future::Future, pin::Pin, sync::Arc};

pub use error::{Damage, StoreError};
pub use faulty::FaultyStore;
pub use file::FileStore;
pub use identity::StoreIdentity;
pub use memory::MemoryStore;

/// Keeps one agent's record through crashes: a term and a vote, or what else its election must
/// not forget.
///
/// A driver saves one record at a time: it waits for a [`Saving`] before it asks for the next.
pub trait TermStore<D>: Debug + Send + Sync {
    /// The last record that was saved; `None` if none ever was, since the store was created.
    /// Called when a life begins, on the agent's own thread: it must be quick.
    ///
    /// A machine may take `None` for "no former life of mine promised anything", as long as it
    /// saves a record before its first promise. `Some` says that there was such a life, and what
    /// it promised beside the record may still be relied on.
    ///
    /// # Errors
    /// [`StoreError`] when there may be a record that cannot be read. The agent does not start:
    /// one that forgot its vote could vote twice.
    fn load(&self) -> Result<Option<D>, StoreError>;

    /// Makes a record durable; it replaces the one before, wholly or not at all. What follows in
    /// the agent's step leaves only when this has ended well; otherwise the agent stops.
    fn save(&self, record: D) -> Saving;

    /// Whether the record is lost with the process. The promise "one leader per term" does not
    /// survive that, so such a store is for groups that end with the process as well.
    fn is_volatile(&self) -> bool;

    /// Whose record this is; `None` if the store was made for nobody in particular.
    fn identity(&self) -> Option<&StoreIdentity> {
        None
    }
}

impl<D, S: TermStore<D> + ?Sized> TermStore<D> for Arc<S> {
    fn load(&self) -> Result<Option<D>, StoreError> {
        S::load(self)
    }

    fn save(&self, record: D) -> Saving {
        S::save(self, record)
    }

    fn is_volatile(&self) -> bool {
        S::is_volatile(self)
    }

    fn identity(&self) -> Option<&StoreIdentity> {
        S::identity(self)
    }
}

/// A record on its way; ends when it is durable. Nothing happens before it is polled.
pub type Saving = Pin<Box<dyn Future<Output = Result<(), StoreError>> + Send>>;
