//! Wakes those who wait for the next status.
//!
//! Decided here: that waiting costs memory only where somebody waits. Most agents of a large group
//! are never watched, and a watch channel is as large as all the rest that is shared of one.

use super::sync::{OnceLock, watch};

#[derive(Debug, Default)]
pub(super) struct News {
    bell: OnceLock<watch::Sender<()>>,
}

/// Rings at each news; a ring that nobody waited for is kept.
pub(super) type Bell = watch::Receiver<()>;

impl News {
    /// Wakes all that wait: call it after the change, not before.
    pub(super) fn ring(&self) {
        // A bell that is made after this was looked at finds the change made already.
        if let Some(bell) = self.bell.get() {
            bell.send_replace(());
        }
    }

    /// Rings for all news from now on: look at the status after this, not before.
    pub(super) fn bell(&self) -> Bell {
        self.bell.get_or_init(|| watch::Sender::new(())).subscribe()
    }
}
