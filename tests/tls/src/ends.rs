//! Two ends of one connection in memory, which the public API builds.

use actix_bully::remote::{
    NodeId,
    tls::{TlsConfig, accept, connect},
    transport::{Stream, Unsecured},
};
use tokio::io::{DuplexStream, duplex};

/// An end of a connection between two nodes.
pub type End = Box<dyn Stream>;

/// The outcome of a handshake at one end.
pub type Outcome = Result<(End, NodeId), Unsecured>;

/// Size of a pipe. A handshake needs less, so neither side waits until the other side reads.
const ROOM: usize = 256 * 1024;

pub fn node(name: &str) -> NodeId {
    NodeId::new(name).expect("the test's names are names of nodes")
}

/// Returns the two ends of a pipe in memory.
pub fn pipe() -> (DuplexStream, DuplexStream) {
    duplex(ROOM)
}

/// Connects two nodes. Returns the end of the listener and the end of the dialler.
///
/// Each end reads the data that the other end writes. So a fuzzer can send any data through one end.
///
/// # Panics
/// If the two nodes refuse each other.
pub async fn pair(listener: &TlsConfig, dialler: &TlsConfig) -> (End, End) {
    let (here, there) = pipe();
    let known = dialler.node();
    let (accepted, connected) = tokio::join!(
        accept(listener, Box::new(here), |peer| peer == known),
        connect(dialler, Box::new(there), listener.node())
    );
    let (accepted, dialled) = accepted.expect("the listener accepts");
    let (connected, listening) = connected.expect("the dialler accepts");
    assert_eq!((&dialled, &listening), (dialler.node(), listener.node()));
    (accepted, connected)
}

/// Returns the reason why a handshake was refused.
///
/// # Panics
/// If the handshake was not refused.
pub fn refused(outcome: Outcome) -> Unsecured {
    outcome.err().expect("the other end is refused")
}
