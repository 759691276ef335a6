//! Stores for records that must survive a crash.
//!
//! ```text
//!   machine ── Persist(record) ──▶ driver ── save ──▶ TermStore ──▶ MemoryStore: survives the agent
//!      ▲                             │ waits                    ├─▶ FileStore:   survives the host
//!      └── durable: Option<record> ──┴◀─ load ──────────────────┘
//! ```
//!
//! Decided here: the operations of a store that a driver uses, and how a file keeps the data. Not here: the meaning of
//! the record; the election defines it by [`Election::Durable`](crate::protocol::Election::Durable).
//!
//! Read on: [`TermStore`] is the contract, [`FileStore`] has the advice for operators. `format.rs` has the text of the
//! file, `generation.rs` decides which agent may write, and `writer.rs` has the thread that writes. The crate
//! `bully-register` has the file that survives a crash (`record_file/`).

mod error;
mod file;
mod format;
mod generation;
mod identity;
mod memory;
mod open_store;
mod probe;
#[cfg(test)]
#[cfg(unix)]
mod tests;
#[cfg(feature = "serde")]
pub(crate) mod trial;
mod writer;

use std::{fmt::Debug, future::Future, pin::Pin, sync::Arc, time::Duration};

pub use error::StoreError;
pub use file::FileStore;
pub use generation::{Generation, Generations};
pub use identity::StoreIdentity;
pub use memory::MemoryStore;
pub use open_store::OpenStore;

pub use bully_register::Outlook;

use crate::protocol::{Incarnation, StoreId};

/// Keeps one agent's record through crashes: a term and a vote, or other data that its election must not forget.
///
/// A driver [begins](Self::begin), [loads](Self::load) the record, and then saves one record at a time: it waits for a
/// [`Saving`] before it saves the next record.
///
/// A store of your own keeps [`Generations`] beside the record. Its `save` refuses every agent except the latest:
///
/// ```
/// use std::sync::{Arc, Mutex};
/// use actix_bully::store::{Generation, Generations, Saving, StoreError, TermStore};
///
/// #[derive(Clone, Debug, Default)]
/// struct Shelf { generations: Generations, record: Arc<Mutex<Option<u64>>> }
///
/// impl TermStore<u64> for Shelf {
///     fn begin(&self) -> Result<Generation, StoreError> {
///         Ok(self.generations.begin())
///     }
///     fn load(&self) -> Result<Option<u64>, StoreError> {
///         Ok(*self.record.lock().expect("never poisoned"))
///     }
///     fn save(&self, by: Generation, record: u64) -> Saving {
///         let shelf = self.clone();
///         Box::pin(async move {
///             // Asked where one write follows another, not before.
///             let mut shelved = shelf.record.lock().expect("never poisoned");
///             shelf.generations.check(by)?;
///             *shelved = Some(record);
///             Ok(())
///         })
///     }
///     fn is_volatile(&self) -> bool { true }
/// }
/// ```
pub trait TermStore<D>: Debug + Send + Sync {
    /// Begins with the store: from now on, only the returned generation may save. The agent calls this when an
    /// incarnation begins, before [`load`](Self::load). The call must not block the thread.
    ///
    /// The reason: an agent that hung, was replaced and continues later must not replace the newer record of its
    /// successor by an older one.
    ///
    /// # Errors
    /// [`StoreError`] if the store does not work. Then an agent that began before may still save.
    fn begin(&self) -> Result<Generation, StoreError>;

    /// Returns the last record that was saved, or `None` if no record was saved since the store was created. The agent
    /// calls this on its own thread when an incarnation begins, so the call must be quick.
    ///
    /// An election that saves a record before its first promise may conclude from `None` that no former incarnation of
    /// this agent made a promise. `Some` means that there was a former incarnation. Other agents may still rely on
    /// promises of that incarnation, even on promises that the record does not contain.
    ///
    /// # Errors
    /// [`StoreError`] if there may be a record that cannot be read. Then the agent does not start: if it did not know
    /// its vote, it could vote twice.
    fn load(&self) -> Result<Option<D>, StoreError>;

    /// Makes a record durable. The record replaces the former record, completely or not at all. The agent sends the
    /// messages that depend on the record only after the save has succeeded. After an error that [passes or needs
    /// room](StoreError::outlook) the agent waits and saves the same record again, with growing pauses. After any other
    /// error the agent stops.
    ///
    /// The save fails with [`StoreError::Superseded`] if another agent has [begun](Self::begin) after the generation
    /// `by`.
    fn save(&self, by: Generation, record: D) -> Saving;

    /// Returns whether the record is lost with the process. The promise "one leader per term" is then lost as well, so
    /// such a store is only for groups that end with the process.
    fn is_volatile(&self) -> bool;

    /// Returns the node that the record belongs to, or `None` if the store was made for no particular node.
    fn identity(&self) -> Option<&StoreIdentity> {
        None
    }

    /// Returns the id that the store got when it was made, by which peers recognize the store. With `None`, the
    /// default, a voter does not ask the other voters for their memory of its votes, and no peer notices that the voter
    /// uses another store.
    fn id(&self) -> Option<StoreId> {
        None
    }

    /// Returns the present duration of a save, measured by a write that changes no record. The agent calls this at most
    /// once a minute, while it is a possible successor of its leader or its disk is slow. The call may block. The
    /// default is `None`: the duration is not known.
    fn probe(&self) -> Option<Duration> {
        None
    }
}

impl<D, S: TermStore<D> + ?Sized> TermStore<D> for Arc<S> {
    fn begin(&self) -> Result<Generation, StoreError> {
        S::begin(self)
    }

    fn load(&self) -> Result<Option<D>, StoreError> {
        S::load(self)
    }

    fn save(&self, by: Generation, record: D) -> Saving {
        S::save(self, by, record)
    }

    fn is_volatile(&self) -> bool {
        S::is_volatile(self)
    }

    fn identity(&self) -> Option<&StoreIdentity> {
        S::identity(self)
    }

    fn id(&self) -> Option<StoreId> {
        S::id(self)
    }

    fn probe(&self) -> Option<Duration> {
        S::probe(self)
    }
}

/// Remembers the last incarnation with which a node began, so that the next incarnation is later, even if the wall
/// clock was set back.
///
/// An incarnation comes from the wall clock. After the clock was set back, the clock alone would give an earlier
/// incarnation than before, and other agents would treat the new incarnation as ended. Call
/// [`remember`](Self::remember) before any other node learns of an incarnation, and choose the next incarnation above
/// [`last`](Self::last).
pub trait Incarnations: Debug + Send + Sync {
    /// Returns the largest incarnation that was remembered, or 0.
    ///
    /// # Errors
    /// [`StoreError`] if it cannot be read.
    fn last(&self) -> Result<Incarnation, StoreError>;

    /// Makes an incarnation durable before it returns. An incarnation that is not larger than the last one changes
    /// nothing. The call may block, so make it at the start of a node.
    ///
    /// # Errors
    /// [`StoreError`] if the incarnation may not be durable.
    fn remember(&self, incarnation: Incarnation) -> Result<(), StoreError>;
}

impl<S: Incarnations + ?Sized> Incarnations for Arc<S> {
    fn last(&self) -> Result<Incarnation, StoreError> {
        S::last(self)
    }

    fn remember(&self, incarnation: Incarnation) -> Result<(), StoreError> {
        S::remember(self, incarnation)
    }
}

/// The future of a save. It ends when the record is durable. Nothing happens before it is polled.
pub type Saving = Pin<Box<dyn Future<Output = Result<(), StoreError>> + Send>>;
