//! The listener of a bridge, while a task uses it.

use std::sync::Arc;

use tokio::sync::OwnedMutexGuard;

use crate::remote::transport::Listener;

use super::shared::BridgeState;

/// The listener, in use.
pub(crate) struct Listening {
    pub(super) listener: OwnedMutexGuard<Option<Box<dyn Listener>>>,
    pub(super) shared: Arc<BridgeState>,
}

impl Listening {
    pub(crate) fn get(&mut self) -> Option<&mut Box<dyn Listener>> {
        self.listener.as_mut()
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        // The end came while this was in use, and could not take it: the port must become free.
        if self.shared.is_over() {
            drop(self.listener.take());
        }
    }
}
