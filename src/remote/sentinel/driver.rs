//! The driver of a sentinel.
//!
//! Decided here: the calls by which a sentinel is run. Read `start.rs` next: it starts the process.

use std::fmt::Debug;

use super::{SentinelError, Watched};

/// Runs a sentinel: as a process of its own, or inside of a test.
pub trait SentinelDriver: Debug + Send {
    /// Returns the id of the process.
    fn id(&self) -> u32;

    /// Gives an order, which replaces the earlier order.
    ///
    /// # Errors
    /// [`SentinelError::Pipe`] if the
    /// sentinel does not read orders any more.
    fn order(&mut self, order: &Watched) -> Result<(), SentinelError>;

    /// Returns whether the sentinel has ended.
    fn has_ended(&mut self) -> bool;

    /// Starts another sentinel in place of this sentinel.
    ///
    /// # Errors
    /// [`SentinelError`]; nothing was changed.
    fn restart(&mut self) -> Result<(), SentinelError>;
}
