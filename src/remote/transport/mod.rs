//! How bytes get to another host: the requirements of a bridge on its network.
//!
//! A bridge dials and accepts streams by a [`Transport`]. The default is [`Tcp`]. For a network of your own, implement
//! the trait and give it to [`BridgeBuilder::transport`](super::BridgeBuilder::transport). The crate
//! `actix-bully-zenoh` is a transport for networks of zenoh; with the feature `testkit`, `Pipes` is a transport in
//! memory, with partitions.
//!
//! # The promises of a transport
//!
//! | of | promise | consequence of a breach |
//! |---|---|---|
//! | a stream | bytes arrive in the order of their writing, once and unchanged, as over TCP | the bridge closes the link: a frame is out of sequence or malformed |
//! | a stream | if a byte is lost, the stream ends with an error, at both ends as soon as each can know | the bridge closes the link after [`silence`](super::LimitsBuilder::silence) (default: 0.9 s) |
//! | a stream | a write that has no room waits: a transport does not store without a limit | the bridge uses more and more memory for a silent peer |
//! | a dial | [`ConnectionRefused`](io::ErrorKind::ConnectionRefused) means that the process there has ended, and no other error means it | the bridge suspects agents that live, or waits for agents that have ended |
//! | a listener | dropping it frees the address | the node cannot start again at that address |
//! | a listener of [`open`](Transport::open) | it fails if the streams would leave this host although no other host may read them | plain text leaves the host: the bridge judges only addresses that it is given |
//! | everything | a dropped future or stream leaves nothing behind; no call blocks its thread | elections on the same thread are late |
//!
//! A transport promises nothing about the process at the other end. The bridge encrypts with its own TLS, and proves
//! names with TLS or a secret, in the same way over every transport. The [`Limits`](super::Limits) of the bridge bound
//! the bytes of a peer.
//!
//! The bridge sets all deadlines: it drops a future that takes too long. All futures of a transport run on the thread
//! of the bridge, and need not be `Send`.
//!
//! # Example
//! A network in memory, whose addresses are any text:
//!
//! ```
//! use std::{collections::HashMap, io, net::SocketAddr, sync::{Arc, Mutex}, time::Duration};
//! use actix_bully::{Group, agent::BullyAgent, remote::{Peer, RemoteBridge}};
//! use actix_bully::remote::transport::{IncomingStream, Listener, Pending, Stream, Transport};
//! use tokio::{io::duplex, sync::mpsc};
//!
//! type Arrivals = mpsc::Sender<IncomingStream>;
//!
//! #[derive(Clone, Debug, Default)]
//! struct Memory(Arc<Mutex<HashMap<String, Arrivals>>>);
//!
//! impl Memory {
//!     async fn connect(&self, address: &str) -> io::Result<Box<dyn Stream>> {
//!         let listening = self.0.lock().unwrap().get(address).cloned();
//!         let listening = listening.ok_or(io::ErrorKind::ConnectionRefused)?;
//!         let (here, there) = duplex(64 * 1024);
//!         let arrival = IncomingStream { stream: Box::new(there), from: "memory".to_owned() };
//!         listening.send(arrival).await.map_err(|_| io::ErrorKind::ConnectionRefused)?;
//!         Ok(Box::new(here))
//!     }
//! }
//!
//! impl Transport for Memory {
//!     fn dial<'a>(&'a self, address: &'a str) -> Pending<'a, Box<dyn Stream>> {
//!         Box::pin(self.connect(address))
//!     }
//!
//!     fn listen(&self, address: &str) -> io::Result<Box<dyn Listener>> {
//!         let (sender, arrivals) = mpsc::channel(16);
//!         self.0.lock().unwrap().insert(address.to_owned(), sender);
//!         Ok(Box::new(Inbox(arrivals)))
//!     }
//!
//!     fn is_loopback(&self, _address: &str) -> bool {
//!         true // nothing leaves the process
//!     }
//! }
//!
//! struct Inbox(mpsc::Receiver<IncomingStream>);
//!
//! impl Listener for Inbox {
//!     fn local_addr(&self) -> Option<SocketAddr> {
//!         None
//!     }
//!
//!     fn accept(&mut self) -> Pending<'_, IncomingStream> {
//!         Box::pin(async { Ok(self.0.recv().await.ok_or(io::ErrorKind::NotConnected)?) })
//!     }
//! }
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # actix::System::new().block_on(async {
//! let memory = Memory::default();
//! let node = |name: &str, peer: &str| {
//!     let group = Group::new("jobs")?;
//!     let bridge = RemoteBridge::builder(name)
//!         .transport(memory.clone())
//!         .listen(name)
//!         .peer(Peer::new(peer, peer))
//!         .carry(&group)
//!         .start()?;
//!     let agent = BullyAgent::builder(name).join(&group).start()?;
//!     Ok::<_, Box<dyn std::error::Error>>((bridge, agent))
//! };
//! let (_one, first) = node("host-a", "host-b")?;
//! let (_other, second) = node("host-b", "host-a")?;
//! let leader = first.wait_for_leader(Duration::from_secs(5)).await?;
//! # let _ = (leader, second);
//! # Ok(())
//! # })
//! # }
//! ```
//!
//! Decided here: the contract. `Security` may wrap each stream and prove the node at its other end. Not here: the bytes
//! that cross (`remote::wire`), and when a bridge dials (`bridge::peers`).

#[cfg(feature = "testkit")]
mod pipes;
mod race;
mod resolve;
mod security;
mod tcp;

use std::{
    fmt::Debug,
    future::{self, Future},
    io,
    net::SocketAddr,
    pin::Pin,
};

use tokio::io::{AsyncRead, AsyncWrite};

use super::{ClusterId, NodeId};

#[cfg(feature = "testkit")]
pub use pipes::{PipeHost, Pipes};
#[cfg(feature = "tls")]
pub(crate) use security::Secured;
#[cfg(any(feature = "tls", test))]
pub(crate) use security::Securing;
pub(crate) use security::Security;
pub use tcp::Tcp;

for_tests! {
    use security::Unsecured;
}

/// A network, as one bridge uses it. The [page](self) has its promises.
///
/// A transport needs three methods: [`dial`](Self::dial), [`listen`](Self::listen) and
/// [`is_loopback`](Self::is_loopback). The default implementations of the other methods suit a network that has no
/// names, datagrams or counters of its own.
pub trait Transport: Debug + Send + Sync {
    /// Begins to work for a bridge that starts. The bridge calls it once, before every other method, and not again when
    /// its actor restarts after a crash. It may block for some milliseconds, as a bind does.
    ///
    /// A network that itself decides where to listen returns the listener here, and then the bridge refuses an address
    /// of [`BridgeBuilder::listen`](super::BridgeBuilder::listen). The bridge cannot check where such a network
    /// listens: if [`may_be_read`](StartingBridge::may_be_read) is false, the network has to fail unless its streams
    /// stay on this host. Default: returns `None`, and the bridge calls [`listen`](Self::listen) if it has an address.
    ///
    /// # Errors
    /// Any error. The start of the bridge fails with [`BridgeError::Transport`](super::BridgeError::Transport), and the
    /// transport is dropped.
    fn open(&self, _bridge: &StartingBridge<'_>) -> io::Result<Option<Box<dyn Listener>>> {
        Ok(None)
    }

    /// Connects to an address. A host name in the address is resolved again each time.
    ///
    /// The bridge drops the future after [`Limits::handshake`](super::LimitsBuilder::handshake) (default: 3 s), and
    /// dials again after a growing pause.
    ///
    /// # Errors
    /// [`ConnectionRefused`](io::ErrorKind::ConnectionRefused) means that the host answers and no process listens: the
    /// bridge considers the process ended, and suspects its agents. After
    /// [`ConnectionReset`](io::ErrorKind::ConnectionReset) and [`ConnectionAborted`](io::ErrorKind::ConnectionAborted)
    /// the bridge dials again in a moment. Any other kind of error proves nothing about the process.
    fn dial<'a>(&'a self, address: &'a str) -> Pending<'a, Box<dyn Stream>>;

    /// Listens at an address. This method must not wait.
    ///
    /// # Errors
    /// An error if the address is not valid, is not an address of this host, or is in use.
    fn listen(&self, address: &str) -> io::Result<Box<dyn Listener>>;

    /// Returns whether bytes that are sent to this address, or arrive at it, need no encryption: they do not leave this
    /// host, or the network itself protects them. An address for which the result is `false` is refused at the start,
    /// unless the bridge has TLS or [`dangerous_plaintext`](super::BridgeBuilder::dangerous_plaintext). If in doubt,
    /// return `false`.
    fn is_loopback(&self, address: &str) -> bool;

    /// Returns the address at which a peer is dialled; `given` is the address of the [`Peer`](super::Peer). `None`
    /// means that the peer is not dialled, and has to dial this node. Default: `given`. A network that finds nodes by
    /// their names returns the name.
    fn address_of(&self, _node: &NodeId, given: Option<String>) -> Option<String> {
        given
    }

    /// Returns the hosts behind an address, as in [`IncomingStream::from`]. Connections from these hosts have slots of
    /// their own, which many connections from other hosts cannot take. Default: no known hosts.
    fn hosts<'a>(&'a self, _address: &'a str) -> Pending<'a, Vec<String>> {
        Box::pin(future::ready(Ok(Vec::new())))
    }

    /// Returns the socket addresses behind an address at which a datagram reaches the bridge that listens there. A
    /// sentinel (feature `sentinel`) sends its notices by UDP to these addresses. Default: no known addresses, so that
    /// sentinels send no notices.
    fn addresses<'a>(&'a self, _address: &'a str) -> Pending<'a, Vec<SocketAddr>> {
        Box::pin(future::ready(Ok(Vec::new())))
    }

    /// Receives datagrams at an address at which a bridge of this host listens; see [`addresses`](Self::addresses).
    /// Default: `None`, the network has no datagrams.
    ///
    /// # Errors
    /// An error if the address is in use.
    fn hear(&self, _at: SocketAddr) -> io::Result<Option<Box<dyn Datagrams>>> {
        Ok(None)
    }

    /// Returns the numbers of packets that the network has delivered since the start although nothing accepts them.
    /// Each number has the name of its cause. A bridge adds the numbers to its [counters](super::BridgeCounts).
    /// Default: none, which is right for a network that carries streams.
    fn refused(&self) -> Vec<(&'static str, u64)> {
        Vec::new()
    }
}

/// A starting bridge, as its [`Transport`] sees it.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct StartingBridge<'a> {
    /// Name of the node of the bridge.
    pub node: &'a NodeId,
    /// Cluster of the bridge. If several clusters share a network, the network separates them by this name.
    pub cluster: &'a ClusterId,
    /// The address of [`BridgeBuilder::listen`](super::BridgeBuilder::listen), if the bridge has one.
    pub listen: Option<&'a str>,
    /// Whether others may be able to read the streams: the bridge encrypts them, or its
    /// [`dangerous_plaintext`](super::BridgeBuilder::dangerous_plaintext) was called.
    pub may_be_read: bool,
}

impl<'a> StartingBridge<'a> {
    /// Returns a bridge without an address to listen at, and without encryption, for the tests of a transport.
    pub const fn new(node: &'a NodeId, cluster: &'a ClusterId) -> Self {
        Self {
            node,
            cluster,
            listen: None,
            may_be_read: false,
        }
    }
}

/// Accepts connections. A drop ends the listening.
pub trait Listener: Send {
    /// Returns the address that other hosts dial; `None` if it is not the address of a socket.
    fn local_addr(&self) -> Option<SocketAddr>;

    /// Waits for the next connection. If the future is dropped, no connection is lost.
    ///
    /// # Errors
    /// An error if a connection could not be accepted, for example because no file descriptor is left. The bridge tries
    /// again after 100 ms, and later after longer pauses.
    fn accept(&mut self) -> Pending<'_, IncomingStream>;
}

/// Receives datagrams.
pub trait Datagrams: Send {
    /// Receives the next datagram, as far as it fits, and returns its length in bytes. If the future is dropped, no
    /// datagram is lost.
    ///
    /// # Errors
    /// An error if no more datagrams can be received. The bridge receives no datagrams from then on.
    fn receive<'a>(&'a mut self, into: &'a mut [u8]) -> Pending<'a, usize>;
}

/// An accepted connection.
pub struct IncomingStream {
    /// The bytes of the connection, in both directions.
    pub stream: Box<dyn Stream>,
    /// The other host, without a port: for logs and limits. A host must have only one such name. If the host itself
    /// could choose the name, a stranger could take the slots of another host's name.
    pub from: String,
}

impl Debug for IncomingStream {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("IncomingStream")
            .field("from", &self.from)
            .finish_non_exhaustive()
    }
}

/// Bytes in both directions: implemented for every type that has the four traits. A drop closes the connection.
pub trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}

impl<S: AsyncRead + AsyncWrite + Send + Unpin> Stream for S {}

/// An operation of a network that takes time: a future that runs on the bridge's own thread.
pub type Pending<'a, T> = Pin<Box<dyn Future<Output = io::Result<T>> + 'a>>;
