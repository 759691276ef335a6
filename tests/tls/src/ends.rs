//! Two ends of one connection in memory, which the public API builds.

use actix_bully::remote::{
    NodeId,
    tls::{TlsConfig, accept, closed_by, connect},
    transport::{Stream, Unsecured},
};
use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream, duplex};

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

/// Lets a dialler connect to a listener under the listener's right name. Returns both outcomes.
pub async fn meet(listener: &TlsConfig, dialler: &TlsConfig) -> (Outcome, Outcome) {
    let (here, there) = pipe();
    let known = dialler.node();
    tokio::join!(
        accept(listener, Box::new(here), |peer| peer == known),
        connect(dialler, Box::new(there), listener.node())
    )
}

/// Connects two nodes. Returns the end of the listener and the end of the dialler.
///
/// Each end reads the data that the other end writes. So a fuzzer can send any data through one end.
///
/// # Panics
/// If the two nodes refuse each other.
pub async fn pair(listener: &TlsConfig, dialler: &TlsConfig) -> (End, End) {
    let (accepted, connected) = meet(listener, dialler).await;
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

/// Whether data crosses from each end to the other.
pub async fn is_open(one: &mut End, other: &mut End) -> bool {
    crosses(one, other, b"there").await && crosses(other, one, b"and back").await
}

async fn crosses(from: &mut End, to: &mut End, said: &[u8]) -> bool {
    let mut heard = vec![0; said.len()];
    let sent = async {
        from.write_all(said).await?;
        from.flush().await
    };
    let (sent, read) = tokio::join!(sent, to.read_exact(&mut heard));
    sent.is_ok() && read.is_ok() && heard == said
}

/// Returns the reason why the dialler was refused. In TLS 1.3 the dialler learns the reason at its first read.
pub async fn refused_later(mut end: End) -> Option<String> {
    let error = end
        .read_u8()
        .await
        .expect_err("no node speaks to a refused peer");
    closed_by(&error).map(|why| why.to_string())
}
