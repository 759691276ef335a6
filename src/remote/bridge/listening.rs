//! The listener of a bridge, and the bridge's end.
//!
//! Decided here: the end is reported after the port is free, so that another bridge may then use it.

use std::sync::{Arc, atomic::Ordering::SeqCst};

use tokio::sync::OwnedMutexGuard;

use crate::remote::{BridgeEvent, transport::Listener};

use super::shared::BridgeState;

/// The listener, while a task uses it.
pub(crate) struct Listening {
    /// The listener; `None` after the drop has begun.
    pub(super) listener: Option<OwnedMutexGuard<Option<Box<dyn Listener>>>>,
    pub(super) shared: Arc<BridgeState>,
}

impl Listening {
    pub(crate) fn get(&mut self) -> Option<&mut Box<dyn Listener>> {
        self.listener.as_mut()?.as_mut()
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        // The lock is released before the check, so that if the bridge ends only after the check, `finish` can take the
        // lock and free the port.
        drop(self.listener.take());
        if self.shared.is_over() {
            self.shared.free_port();
        }
    }
}

impl BridgeState {
    /// Notes that the bridge has ended for good: agents of other nodes are no longer members here.
    pub(crate) fn finish(&self) {
        // A drain calls this, and later the end of the supervisor calls it again. The end is reported only once.
        if self.is_over.swap(true, SeqCst) {
            return;
        }
        self.ends.dismiss();
        for peer in self.peers() {
            self.remove(&peer.node);
        }
        self.free_port();
    }

    /// Drops the listener and reports the end of the bridge. If a task still listens, that task does both when it ends.
    pub(super) fn free_port(&self) {
        if let Ok(mut listener) = self.listener.try_lock() {
            self.close(&mut listener);
        }
    }

    fn close(&self, listener: &mut Option<Box<dyn Listener>>) {
        drop(listener.take());
        if !self.is_told.swap(true, SeqCst) {
            self.events.tell(BridgeEvent::Ended);
        }
    }

    /// Waits until the bridge has ended and its port is free.
    pub(super) async fn until_free(&self) {
        self.close(&mut *self.listener.lock().await);
    }

    pub(super) fn is_over(&self) -> bool {
        self.is_over.load(SeqCst)
    }

    /// Takes the listener as soon as the former incarnation of the actor has released it.
    pub(crate) async fn listen(self: &Arc<Self>) -> Listening {
        Listening {
            listener: Some(Arc::clone(&self.listener).lock_owned().await),
            shared: Arc::clone(self),
        }
    }
}
