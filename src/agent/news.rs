//! The newest status, and a bell for those who wait for the next one.
//!
//! Decided here: that waiting costs memory only where somebody waits. Most agents of a large group
//! are never watched, and a watch channel is as large as all the rest that is shared of one.

use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use tokio::sync::watch;

use super::Status;

#[derive(Debug)]
pub(super) struct News {
    status: Mutex<Status>,
    bell: OnceLock<watch::Sender<()>>,
}

/// Rings at each news; a ring that nobody waited for is kept.
pub(super) type Bell = watch::Receiver<()>;

impl News {
    pub(super) fn new(status: Status) -> Self {
        Self {
            status: Mutex::new(status),
            bell: OnceLock::new(),
        }
    }

    /// Changes the status; `change` says whether that is news.
    pub(super) fn update(&self, change: impl FnOnce(&mut Status) -> bool) {
        let is_news = change(&mut self.lock());
        // Who makes the bell after this was looked at reads the status only then.
        if let (true, Some(bell)) = (is_news, self.bell.get()) {
            bell.send_replace(());
        }
    }

    pub(super) fn read<T>(&self, read: impl FnOnce(&Status) -> T) -> T {
        read(&self.lock())
    }

    /// Rings for all news from now on: look at the status after this, not before.
    pub(super) fn bell(&self) -> Bell {
        self.bell.get_or_init(|| watch::Sender::new(())).subscribe()
    }

    fn lock(&self) -> MutexGuard<'_, Status> {
        self.status.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
