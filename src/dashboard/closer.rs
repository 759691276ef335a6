//! A way to close the connection of a viewer that takes nothing.
//!
//! A server does not ask for more of an answer while its client takes none, so the stream itself cannot end it: only
//! its socket can. Decided here: that the dashboard's own server knows the sockets of its viewers. On an application's
//! server a slow viewer is dismissed, and its connection ends when its client does, or takes something.

use std::sync::Arc;

#[cfg(unix)]
use std::os::fd::{AsFd, OwnedFd};

/// See the [module's page](self).
#[derive(Clone, Debug, Default)]
pub(crate) struct Closer(
    #[cfg(unix)] Option<Arc<OwnedFd>>,
    #[cfg(not(unix))] Option<Arc<()>>,
);

impl Closer {
    /// Of a connection that cannot be closed from here.
    pub(crate) const fn none() -> Self {
        Self(None)
    }

    /// Of that socket.
    #[cfg(unix)]
    pub(crate) fn of(socket: &impl AsFd) -> Self {
        // Without another descriptor the viewer is only told to go.
        Self(socket.as_fd().try_clone_to_owned().ok().map(Arc::new))
    }

    #[cfg(unix)]
    pub(crate) fn close(&self) {
        if let Some(socket) = &self.0 {
            // One that is closed already needs no more.
            rustix::net::shutdown(socket, rustix::net::Shutdown::Both).ok();
        }
    }

    #[cfg(not(unix))]
    pub(crate) fn close(&self) {}
}
