//! Where the kernel has no pidfd: the same function, and no sentinel.

use super::{Sentinel, SentinelError};

/// Fails: this operating system has no pidfd.
pub(super) const fn start() -> Result<Sentinel, SentinelError> {
    Err(SentinelError::NotAvailable)
}
