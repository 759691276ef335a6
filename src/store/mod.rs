//! Where a record is kept that must survive a crash.
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
//! Read on: [`TermStore`] is the contract, [`FileStore`] has the advice for operators. `format.rs` has the text of the
//! file, `generation.rs` says which agent may write, `writer.rs` on which thread, and the crate `bully-register` how the file
//! survives a crash (`record_file/`).

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

pub use bully_register::{Outlook, Shortage};

for_tests! {
    use error::Damage;
}

use crate::protocol::{Incarnation, StoreId};

/// Keeps one agent's record through crashes: a term and a vote, or what else its election must
/// not forget.
///
/// A driver [begins](Self::begin), [loads](Self::load) what there is, and then saves one record at
/// a time: it waits for a [`Saving`] before it asks for the next.
///
/// A store of your own keeps [`Generations`] beside the record, and refuses in `save` an
/// agent that is not the latest:
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
    /// Begins with the store: from now on only the generation that this returns may save. Called
    /// when an incarnation begins, before it loads; its thread must not be blocked.
    ///
    /// So an agent that hung, was given up, and wakes when another one has its name and its store
    /// does not put its older record in the place of the newer one.
    ///
    /// # Errors
    /// [`StoreError`] when the store does not work. An agent that began before may still save then.
    fn begin(&self) -> Result<Generation, StoreError>;

    /// The last record that was saved; `None` if none ever was, since the store was created.
    /// Called when an incarnation begins, on the agent's own thread: it must be quick.
    ///
    /// A machine may take `None` for "no former incarnation of mine promised anything", as long as it
    /// saves a record before its first promise. `Some` says that there was one, and what it
    /// promised beside the record may still be relied on.
    ///
    /// # Errors
    /// [`StoreError`] when there may be a record that cannot be read. The agent does not start:
    /// one that forgot its vote could vote twice.
    fn load(&self) -> Result<Option<D>, StoreError>;

    /// Makes a record durable; it replaces the one before, wholly or not at all. What follows in
    /// the agent's step leaves only when this has ended well. After an error that
    /// [passes or needs room](StoreError::outlook) the agent waits and saves the same record again,
    /// ever less often; after any other one it stops.
    ///
    /// One that began [before the latest](Self::begin) gets [`StoreError::Superseded`].
    fn save(&self, by: Generation, record: D) -> Saving;

    /// Whether the record is lost with the process. The promise "one leader per term" does not
    /// survive that, so such a store is for groups that end with the process as well.
    fn is_volatile(&self) -> bool;

    /// The node that the record belongs to; `None` if the store was made for no particular one.
    fn identity(&self) -> Option<&StoreIdentity> {
        None
    }

    /// The number that the store was given when it was made, by which peers know it again. With `None`, the default, a
    /// voter does not ask the others for their memory of it, and no peer sees that it comes with another store.
    fn id(&self) -> Option<StoreId> {
        None
    }

    /// How long a record takes at present, measured by a write that changes none. Called once a minute at most, while the
    /// voter would take over from its leader or its disk is slow; it may block. `None`, the default, where that is not
    /// known.
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

/// Remembers the last incarnation that a node began with, so that the next is later whatever the
/// clock says.
///
/// An incarnation that is made from the wall clock is earlier than the one before if the clock was
/// set back meanwhile, and others take its holder for one that has ended. [`remember`](Self::remember)
/// it before any other node hears of it, and begin the next one after [`last`](Self::last).
pub trait Incarnations: Debug + Send + Sync {
    /// The largest that was remembered; 0 if none ever was.
    ///
    /// # Errors
    /// [`StoreError`] when that cannot be read.
    fn last(&self) -> Result<Incarnation, StoreError>;

    /// Makes one durable before it returns; one that is not larger than the last changes nothing.
    /// It may block, so it belongs to the start of a node.
    ///
    /// # Errors
    /// [`StoreError`] when it is not known to be durable.
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

/// A record on its way; ends when it is durable. Nothing happens before it is polled.
pub type Saving = Pin<Box<dyn Future<Output = Result<(), StoreError>> + Send>>;
