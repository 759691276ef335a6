//! For how long the server asks not to be asked.
//!
//! Decided here: that the operations and the watches of a client wait for the same time. Where a server limits requests, it
//! limits those of the account.

use std::{cell::Cell, rc::Rc, time::Duration};

use tokio::time::{Instant, sleep};

/// The end of that time, for all who ask the server.
#[derive(Clone, Debug, Default)]
pub(super) struct BusyServer(Rc<Cell<Option<Instant>>>);

impl BusyServer {
    /// Notes that it asked to be left alone for that time.
    pub(super) fn note(&self, wait: Duration) {
        self.0.set(Instant::now().checked_add(wait));
    }

    /// The rest of that time; `None` if the server may be asked.
    pub(super) fn left(&self) -> Option<Duration> {
        let left = self.0.get()?.saturating_duration_since(Instant::now());
        (!left.is_zero()).then_some(left)
    }

    /// Waits until it may be asked.
    pub(super) async fn is_over(&self) {
        while let Some(left) = self.left() {
            sleep(left).await;
        }
    }
}
