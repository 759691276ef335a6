//! What rings at a change, once until somebody has looked.
//!
//! Decided here: that no change is missed. A checker of interleavings runs this very file.

use super::sync::{AtomicBool, Ordering};

/// What rings, and whether it has since the last look.
pub(super) struct Bell {
    ring: Box<dyn Fn() + Send + Sync>,
    told: AtomicBool,
}

impl Bell {
    pub(super) fn new(ring: Box<dyn Fn() + Send + Sync>) -> Self {
        let told = AtomicBool::new(false);
        Self { ring, told }
    }

    /// The next change rings. Say so before the look: a change in between is told once more, and
    /// none is missed.
    pub(super) fn expect(&self) {
        // A swap as in `ring`, so that the two have one order and what was changed before is seen.
        self.told.swap(false, Ordering::AcqRel);
    }

    /// There is a change; called under the lock of what has changed.
    pub(super) fn ring(&self) {
        if !self.told.swap(true, Ordering::AcqRel) {
            (self.ring)();
        }
    }
}
