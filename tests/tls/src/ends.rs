//! Two ends of one connection, in memory, built by the public API.

use actix_bully::remote::{
    NodeId,
    tls::{TlsConfig, accept, closed_by, connect},
    transport::{Stream, Unsecured},
};
use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream, duplex};

/// An end of a connection between two nodes.
pub type End = Box<dyn Stream>;

/// What came of a handshake.
pub type Outcome = Result<(End, NodeId), Unsecured>;

/// More than a handshake needs, so that neither side waits for the other to read.
const ROOM: usize = 256 * 1024;

/// A checked name.
pub fn node(name: &str) -> NodeId {
    NodeId::new(name).expect("the test's names are names of nodes")
}

/// A pipe in memory.
pub fn pipe() -> (DuplexStream, DuplexStream) {
    duplex(ROOM)
}

/// A listener, and a dialler that names it as it is: both outcomes.
pub async fn meet(listener: &TlsConfig, dialler: &TlsConfig) -> (Outcome, Outcome) {
    let (here, there) = pipe();
    let known = dialler.node();
    tokio::join!(
        accept(listener, Box::new(here), |peer| peer == known),
        connect(dialler, Box::new(there), listener.node())
    )
}

/// Two nodes that have met: the listener, the dialler.
///
/// What the one writes the other reads, so a fuzzer can send through the one end whatever it likes.
///
/// # Panics
/// If they refuse each other.
pub async fn pair(listener: &TlsConfig, dialler: &TlsConfig) -> (End, End) {
    let (accepted, connected) = meet(listener, dialler).await;
    let (accepted, dialled) = accepted.expect("the listener accepts");
    let (connected, listening) = connected.expect("the dialler accepts");
    assert_eq!((&dialled, &listening), (dialler.node(), listener.node()));
    (accepted, connected)
}

/// Why a handshake was refused.
///
/// # Panics
/// If it was not.
pub fn refused(outcome: Outcome) -> Unsecured {
    outcome.err().expect("the other end is refused")
}

/// Whether what is written at one end is read at the other, both ways.
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

/// Why the dialler was refused: in TLS 1.3 it learns of it at the first read.
pub async fn refused_later(mut end: End) -> Option<String> {
    let error = end
        .read_u8()
        .await
        .expect_err("no node speaks to a refused peer");
    closed_by(&error).map(|why| why.to_string())
}
