//! Errors of a bridge's start over zenoh.

use std::{io, time::Duration};

/// The reason why a bridge does not start over zenoh. The failed start has changed nothing.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum ZenohError {
    /// An endpoint does not have the required form.
    #[error(
        "{endpoint:?} is not an endpoint: write tcp/HOST:PORT or quic/HOST:PORT, without options"
    )]
    Endpoint {
        /// The endpoint.
        endpoint: String,
    },
    /// An endpoint uses zenoh's own TLS over TCP.
    #[error(
        "{endpoint} is refused: links of zenoh over TLS break and lose messages (eclipse-zenoh/zenoh#2557); use quic/ with the same certificates, or tcp/ under this bridge's own .tls(..)"
    )]
    Tls {
        /// The endpoint.
        endpoint: String,
    },
    /// Messages would cross a network on which others can read them.
    #[error(
        "{endpoint} may be on another host, and nothing is encrypted: use quic/ with certificates or .tls(..), or call .dangerous_plaintext() if no other process is on that network"
    )]
    Plaintext {
        /// The endpoint.
        endpoint: String,
    },
    /// An endpoint uses QUIC, and no certificates are set.
    #[error("{endpoint} needs certificates: call .certificates(..)")]
    NoCertificates {
        /// The endpoint.
        endpoint: String,
    },
    /// No endpoint is set.
    #[error(
        "no endpoint is given: call .listen(..) or .connect(..) for a peer, or .connect(..) to a router for a client"
    )]
    NoEndpoint,
    /// A client has an endpoint to listen at.
    #[error("a client of a router does not listen: remove .listen({endpoint:?}), or make a peer")]
    ClientListens {
        /// The endpoint.
        endpoint: String,
    },
    /// The bridge has an address to listen at of its own, beside the endpoints of zenoh.
    #[error("a bridge over zenoh listens by zenoh alone: remove the bridge's .listen({address:?})")]
    Listen {
        /// The address.
        address: String,
    },
    /// The thread for the session cannot be started.
    #[error("the zenoh session needs a thread: allow this process more threads ({0})")]
    Thread(#[source] io::Error),
    /// zenoh refuses the session, for example because an address is in use or a certificate cannot be read.
    #[error(
        "the zenoh session cannot be opened: check the endpoints of .listen(..) and .connect(..), and the certificates ({0})"
    )]
    Open(#[source] io::Error),
    /// zenoh did not open the session in time.
    #[error(
        "the zenoh session did not open within {limit:?}: check that the names of all endpoints resolve"
    )]
    Late {
        /// Time for which the start waited.
        limit: Duration,
    },
}

/// Writes the text of the error, because Rust prints an error that `main` returns by `Debug`.
impl std::fmt::Debug for ZenohError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        std::fmt::Display::fmt(self, f)
    }
}

/// Makes an I/O error from the text of a zenoh error, whose type has nothing but its text.
pub(super) fn text(reason: &zenoh::Error) -> io::Error {
    io::Error::other(reason.to_string())
}
