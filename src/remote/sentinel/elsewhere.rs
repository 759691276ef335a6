//! Where the kernel has no pidfd: the same names, and no sentinel.

use super::{Order, SentinelError};

/// The first line of `main`. It does nothing on this operating system.
pub const fn attend() {}

/// A sentinel, of which there is none on this operating system.
#[derive(Debug)]
pub enum SentinelProcess {}

impl SentinelProcess {
    /// Fails.
    ///
    /// # Errors
    /// [`SentinelError::NotAvailable`].
    pub const fn start() -> Result<Self, SentinelError> {
        Err(SentinelError::NotAvailable)
    }

    /// Its process.
    pub const fn id(&self) -> u32 {
        match *self {}
    }

    /// Orders it something.
    ///
    /// # Errors
    /// None: there is none to order.
    pub const fn order(&mut self, _: &Order) -> Result<(), SentinelError> {
        match *self {}
    }

    /// Whether it has ended.
    pub const fn has_ended(&mut self) -> bool {
        match *self {}
    }
}
