//! The calls of a bridge's builder, checked together.
//!
//! Decided here: which calls contradict each other, and the `Debug` text of a builder. Not here: the calls (`mod.rs`).
//! `tests.rs` of the bridge tries every pair of calls.

use std::fmt;

use super::BridgeBuilder;
use crate::remote::BridgeError;

impl BridgeBuilder {
    /// Checks that no call replaces or hides the setting of another call.
    pub(in crate::remote::bridge) fn check_calls(&self) -> Result<(), BridgeError> {
        self.credential.get()?;
        self.memory.get()?;
        Ok(())
    }

    /// Returns whether peers have to prove their names.
    pub(in crate::remote::bridge) fn is_proven(&self) -> bool {
        self.security.is_some() || !matches!(self.credential.get(), Ok(None))
    }
}

/// Shows every setting except the secrets. Two equal builders have the same text.
impl fmt::Debug for BridgeBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("BridgeBuilder");
        shown
            .field("node", &self.node)
            .field("cluster", &self.cluster)
            .field("listen", &self.listen)
            .field("peers", &self.peers)
            .field("groups", &self.carried.len())
            .field("limits", &self.limits)
            .field("has_transport", &self.transport.is_some())
            .field("has_security", &self.security.is_some())
            .field(
                "has_credential",
                &!matches!(self.credential.get(), Ok(None)),
            )
            .field("is_dangerous", &self.is_dangerous)
            .field("incarnation", &self.incarnation)
            .field("versions", &self.versions)
            .field("memory", &self.memory)
            .field("seed", &self.seed)
            .field("has_wall", &self.wall.is_some())
            .field("policy", &self.policy)
            .field("has_parent", &self.parent.is_some());
        #[cfg(feature = "sentinel")]
        shown.field("has_sentinel", &self.sentinel.is_some());
        shown.finish_non_exhaustive()
    }
}
