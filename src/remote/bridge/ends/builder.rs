//! A bridge with a sentinel.
//!
//! Decided here: that it starts only where the peers prove which nodes they are.

use super::Ends;
use crate::remote::{BridgeBuilder, BridgeError, sentinel::Sentinel};

impl BridgeBuilder {
    /// The sentinel of this process: it tells the peers when the process has ended, and a quorum need not wait for the
    /// lease of an agent here. It needs [`tls`](Self::tls) or [`secret`](Self::secret). `None` is none. Default: none. See
    /// [`sentinel`](crate::remote::sentinel).
    #[cfg_attr(docsrs, doc(cfg(feature = "sentinel")))]
    pub fn sentinel(mut self, sentinel: impl Into<Option<Sentinel>>) -> Self {
        self.sentinel = sentinel.into();
        self
    }

    /// What the bridge knows of sentinels: its own one.
    pub(in crate::remote::bridge) fn ends(&mut self) -> Result<Ends, BridgeError> {
        let sentinel = self.sentinel.take();
        if sentinel.is_some() && !self.is_proven() {
            return Err(BridgeError::SentinelUnproven);
        }
        Ends::with(sentinel).map_err(BridgeError::Sentinel)
    }
}
