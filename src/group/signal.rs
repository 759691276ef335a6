//! The signal that something has changed. It is given once, and given again only after its receiver has looked.
//!
//! Decided here: no change is missed. A checker of interleavings runs this file unchanged.

use super::sync::{AtomicBool, Ordering};

/// A callback, and whether it was called since the last look.
pub(super) struct Signal {
    call: Box<dyn Fn() + Send + Sync>,
    is_given: AtomicBool,
}

impl Signal {
    pub(super) fn new(call: Box<dyn Fn() + Send + Sync>) -> Self {
        let is_given = AtomicBool::new(false);
        Self { call, is_given }
    }

    /// Makes the next change give the signal. Call this before the look: a change in between is signalled once more,
    /// and no change is missed.
    pub(super) fn arm(&self) {
        // This is a swap, as in `give`: a swap orders the two calls, so the caller of `arm` sees all changes before an
        // earlier `give`.
        self.is_given.swap(false, Ordering::AcqRel);
    }

    /// Signals a change. The caller holds the lock of the changed state.
    pub(super) fn give(&self) {
        if !self.is_given.swap(true, Ordering::AcqRel) {
            (self.call)();
        }
    }
}
