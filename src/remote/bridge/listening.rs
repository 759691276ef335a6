//! The listener of a bridge, and the bridge's end.
//!
//! Decided here: that the end is told when nothing listens at the port any more: another bridge may take it then.

use std::sync::{Arc, atomic::Ordering::SeqCst};

use tokio::sync::OwnedMutexGuard;

use crate::remote::{BridgeEvent, transport::Listener};

use super::shared::BridgeState;

/// The listener, in use.
pub(crate) struct Listening {
    /// Present until this is dropped.
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
        // Given back first: an end that comes after the question finds it.
        drop(self.listener.take());
        if self.shared.is_over() {
            self.shared.free_port();
        }
    }
}

impl BridgeState {
    /// The bridge has ended for good: no agent of another node is a member here.
    pub(crate) fn finish(&self) {
        // A drain comes here, and so does the guardian that ends after it: the end is told once.
        if self.is_over.swap(true, SeqCst) {
            return;
        }
        self.ends.dismiss();
        for peer in self.peers() {
            self.remove(&peer.node);
        }
        self.free_port();
    }

    /// Drops the listener and tells the end, unless a task listens: that one does it.
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

    /// Ends when the bridge has ended and nothing listens at its port any more.
    pub(super) async fn until_free(&self) {
        self.close(&mut *self.listener.lock().await);
    }

    /// Whether the bridge has ended.
    pub(super) fn is_over(&self) -> bool {
        self.is_over.load(SeqCst)
    }

    /// Takes the listener as soon as a former incarnation of the actor has let go of it.
    pub(crate) async fn listen(self: &Arc<Self>) -> Listening {
        Listening {
            listener: Some(Arc::clone(&self.listener).lock_owned().await),
            shared: Arc::clone(self),
        }
    }
}
