//! A bridge with a sentinel.
//!
//! Decided here: a bridge with a sentinel is refused at its start unless it has certificates or a secret. Without them
//! any host could report the end of a leader.

use super::Ends;
use crate::remote::{BridgeBuilder, BridgeError, sentinel::Sentinel};

impl BridgeBuilder {
    /// Sets the sentinel of this process. The sentinel reports the end of the process to the peers, so that a quorum
    /// does not have to wait for the end of the lease of an agent of this process. A sentinel needs [`tls`](Self::tls)
    /// or [`secret`](Self::secret). `None` means no sentinel. Default: none. See [`sentinel`](crate::remote::sentinel).
    #[cfg_attr(docsrs, doc(cfg(feature = "sentinel")))]
    pub fn sentinel(mut self, sentinel: impl Into<Option<Sentinel>>) -> Self {
        self.sentinel = sentinel.into();
        self
    }

    /// Returns the bridge's state for sentinels: the sentinel of this process, and no notices yet.
    pub(in crate::remote::bridge) fn ends(&mut self) -> Result<Ends, BridgeError> {
        let sentinel = self.sentinel.take();
        if sentinel.is_some() && !self.is_proven() {
            return Err(BridgeError::SentinelUnproven);
        }
        Ends::with(sentinel).map_err(BridgeError::Sentinel)
    }
}
