//! Which of the agents that have had a store may write to it.
//!
//! Decided here: the last one that began. An agent that hung, was given up and wakes has begun
//! before its successor, so what it still wants to write is refused.

use std::{
    fmt,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use super::StoreError;

/// One beginning with a store: each start of an agent, and each restart, is a later one.
///
/// The default is before the first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Generation(u64);

impl Generation {
    /// From a number that was kept.
    pub const fn new(number: u64) -> Self {
        Self(number)
    }

    /// The number, to be kept.
    pub const fn number(self) -> u64 {
        self.0
    }
}

impl fmt::Display for Generation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Counts the agents that begin with a store: a field of each store, shared by its clones.
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
    /// Of a store that others had before, `last` of them the latest.
    #[must_use]
    pub fn after(last: Generation) -> Self {
        Self(Arc::new(AtomicU64::new(last.0)))
    }

    /// An agent begins with the store, and all before it are refused from now on.
    pub fn begin(&self) -> Generation {
        Generation(self.0.fetch_add(1, Ordering::AcqRel).saturating_add(1))
    }

    for_tests! {
        /// The latest that began.
        fn latest(&self) -> Generation {
            Generation(self.0.load(Ordering::Acquire))
        }
    }

    /// Asks whether `by` may write. Ask in the section that makes one write follow another: then
    /// no earlier one's can end after a later one's.
    ///
    /// # Errors
    /// [`StoreError::Superseded`] when another one began since.
    pub fn check(&self, by: Generation) -> Result<(), StoreError> {
        let latest = self.latest();
        if by == latest {
            Ok(())
        } else {
            Err(StoreError::Superseded { by, latest })
        }
    }
}
