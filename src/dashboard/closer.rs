//! Closes the connection of a viewer whose browser reads nothing.
//!
//! The server asks the stream for data only while the client reads, so the stream cannot end the answer to a client
//! that reads nothing; only a shutdown of the socket can. Decided here: the dashboard's own server knows the sockets of
//! its viewers. On an application's server a slow viewer loses its slot, but its connection ends only when the client
//! ends, or reads again.

#[cfg(unix)]
use std::{
    os::fd::{AsFd, OwnedFd},
    sync::Arc,
};

/// Closes one connection; see the [module's page](self). The default value stands for a connection that this process
/// cannot close.
#[derive(Clone, Debug, Default)]
pub(crate) struct Closer(#[cfg(unix)] Option<Arc<OwnedFd>>);

impl Closer {
    /// Returns a closer for this socket.
    #[cfg(unix)]
    pub(crate) fn of(socket: &impl AsFd) -> Self {
        // If the descriptor cannot be cloned, this connection cannot be closed: a slow viewer then loses its slot, but
        // its connection stays open.
        Self(socket.as_fd().try_clone_to_owned().ok().map(Arc::new))
    }

    #[cfg(unix)]
    pub(crate) fn close(&self) {
        if let Some(socket) = &self.0 {
            // The error of a socket that is already closed is ignored.
            rustix::net::shutdown(socket, rustix::net::Shutdown::Both).ok();
        }
    }

    #[cfg(not(unix))]
    pub(crate) fn close(&self) {}
}
