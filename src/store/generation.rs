//! The agents of one store, and which agent may write to the store.
//!
//! Decided here: only the last agent that began may write. An agent that hung, was replaced and continues later began
//! before its successor, so its writes are refused.

use std::{
    fmt,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use super::StoreError;

/// The number of one start with a store. Each start of an agent, and each restart, has a later generation.
///
/// The default is the number before the first start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Generation(u64);

impl Generation {
    /// Makes a generation from a stored number.
    pub const fn new(number: u64) -> Self {
        Self(number)
    }

    /// Returns the number, to store it.
    pub const fn number(self) -> u64 {
        self.0
    }
}

impl fmt::Display for Generation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Counts the agents that begin with a store. A store has one such field, which the store's clones share.
///
/// ```
/// use actix_bully::store::{Generations, StoreError};
///
/// let generations = Generations::default();
/// let first = generations.begin();
/// assert!(generations.check(first).is_ok());
/// let second = generations.clone().begin();
/// assert!(matches!(generations.check(first), Err(StoreError::Superseded { .. })));
/// assert!(generations.check(second).is_ok());
/// ```
#[derive(Clone, Debug, Default)]
pub struct Generations(Arc<AtomicU64>);

impl Generations {
    /// Continues the count of a store that was used before; `last` is its latest generation.
    #[must_use]
    pub fn after(last: Generation) -> Self {
        Self(Arc::new(AtomicU64::new(last.0)))
    }

    /// Begins a generation for an agent. From now on all earlier generations are refused.
    pub fn begin(&self) -> Generation {
        Generation(self.0.fetch_add(1, Ordering::AcqRel).saturating_add(1))
    }

    for_tests! {
        /// Returns the latest generation.
    fn latest(&self) -> Generation {
            Generation(self.0.load(Ordering::Acquire))
        }
    }

    /// Checks whether `by` may write. Call it while you hold the lock for the write: then no write of an earlier
    /// generation can end after a write of a later generation.
    ///
    /// # Errors
    /// [`StoreError::Superseded`] when another agent has begun since.
    pub fn check(&self, by: Generation) -> Result<(), StoreError> {
        let latest = self.latest();
        if by == latest {
            Ok(())
        } else {
            Err(StoreError::Superseded { by, latest })
        }
    }
}
