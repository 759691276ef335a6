//! The replacement on systems without pidfd: the same function, which starts no sentinel.

use super::{Sentinel, SentinelError};

/// Fails: this operating system has no pidfd.
pub(super) const fn start() -> Result<Sentinel, SentinelError> {
    Err(SentinelError::NotAvailable)
}
