//! How bytes get to another host: the demands of a bridge on its network.
//!
//! A bridge dials and accepts streams by a [`Transport`]. The default is [`Tcp`]. A network of your own implements the
//! trait and is given to [`BridgeBuilder::transport`](super::BridgeBuilder::transport). The crate `actix-bully-zenoh` is one
//! for networks of zenoh; with the feature `testkit`, `Pipes` is one in memory, with partitions.
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
//! | a listener of [`open`](Transport::open) | it fails where no other host may read the streams and they would leave this host | plain text leaves the host: the bridge judges only addresses that it is given |
//! | everything | a dropped future or stream leaves nothing behind; no call blocks its thread | elections on the same thread are late |
//!
//! A transport promises nothing about who is at the other end. The bridge encrypts with its own TLS, and proves names with
//! TLS or a secret, over every transport alike. The [`Limits`](super::Limits) of the bridge bound the bytes of a peer.
//!
//! Deadlines are the bridge's: it drops a future that takes too long. All futures of a transport run on the thread of the
//! bridge, and need not be `Send`.
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
//! Decided here: the contract. `Security` may wrap each stream and prove the node at its other end. Not here: the
//! bytes that cross (`remote::wire`), and when a bridge dials (`bridge::peers`).

#[cfg(feature = "testkit")]
mod pipes;
mod race;
mod resolve;
mod tcp;

use std::{
    fmt::Debug,
    future::{self, Future},
    io,
    net::SocketAddr,
    pin::Pin,
    time::SystemTime,
};

use tokio::io::{AsyncRead, AsyncWrite};

use super::{Closed, ClusterId, Farewell, NodeId};

#[cfg(feature = "testkit")]
pub use pipes::{PipeHost, Pipes};
pub use tcp::Tcp;

/// A network, as one bridge uses it. The [page](self) has its promises.
///
/// A transport needs three methods: [`dial`](Self::dial), [`listen`](Self::listen) and
/// [`is_loopback`](Self::is_loopback). The defaults of the others suit a network without names, datagrams and counters of
/// its own.
pub trait Transport: Debug + Send + Sync {
    /// Begins to work for a bridge that starts. The bridge calls it once, before every other method, and not again when
    /// its actor restarts after a crash. It may wait for some milliseconds, as a bind does.
    ///
    /// A network that has its own place to listen returns the listener here, and the bridge refuses an address of
    /// [`BridgeBuilder::listen`](super::BridgeBuilder::listen). The bridge cannot judge such a place: where
    /// [`may_be_read`](StartingBridge::may_be_read) is false, the network has to fail unless its streams stay on this
    /// host. Default: nothing, and the bridge calls [`listen`](Self::listen) if it has an address.
    ///
    /// # Errors
    /// Any. The start of the bridge fails with [`BridgeError::Transport`](super::BridgeError::Transport), and drops the
    /// transport.
    fn open(&self, _bridge: &StartingBridge<'_>) -> io::Result<Option<Box<dyn Listener>>> {
        Ok(None)
    }

    /// Connects to an address. A name in it is resolved anew each time.
    ///
    /// The bridge drops the future after [`Limits::handshake`](super::LimitsBuilder::handshake) (default: 3 s), and dials again
    /// after a growing pause.
    ///
    /// # Errors
    /// [`ConnectionRefused`](io::ErrorKind::ConnectionRefused) says that the host is there and no process listens: the
    /// bridge takes it for the end of the process, and suspects its agents. After
    /// [`ConnectionReset`](io::ErrorKind::ConnectionReset) and [`ConnectionAborted`](io::ErrorKind::ConnectionAborted) it
    /// dials again in a moment. After every other kind nothing is known about the process.
    fn dial<'a>(&'a self, address: &'a str) -> Pending<'a, Box<dyn Stream>>;

    /// Listens at an address; must not wait.
    ///
    /// # Errors
    /// When the address is not one of this host, is in use, or is none.
    fn listen(&self, address: &str) -> io::Result<Box<dyn Listener>>;

    /// Whether bytes for this address, or that arrive there, need no encryption: they do not leave this host, or the
    /// network itself protects them. An address for which it is `false` is refused at the start, unless the bridge has TLS
    /// or [`dangerous_plaintext`](super::BridgeBuilder::dangerous_plaintext). In doubt `false`.
    fn is_loopback(&self, address: &str) -> bool;

    /// The address by which a peer is dialled; `given` is the address of the [`Peer`](super::Peer). `None`: it is not
    /// dialled, and has to dial this node. Default: `given`. A network that finds nodes by their names returns the name.
    fn address_of(&self, _node: &NodeId, given: Option<String>) -> Option<String> {
        given
    }

    /// The hosts behind an address, as [`IncomingStream::from`] would name them. Connections from these hosts have slots
    /// of their own, which a flood from other hosts cannot take. Default: none is known.
    fn hosts<'a>(&'a self, _address: &'a str) -> Pending<'a, Vec<String>> {
        Box::pin(future::ready(Ok(Vec::new())))
    }

    /// The addresses behind one, at which a datagram reaches the bridge that listens there. A sentinel (feature
    /// `sentinel`) sends its notices by UDP to these. Default: none is known, and sentinels tell nothing.
    fn addresses<'a>(&'a self, _address: &'a str) -> Pending<'a, Vec<SocketAddr>> {
        Box::pin(future::ready(Ok(Vec::new())))
    }

    /// Hears datagrams at an address where a bridge of this host listens; see [`addresses`](Self::addresses). Default:
    /// there are none.
    ///
    /// # Errors
    /// When the address is in use.
    fn hear(&self, _at: SocketAddr) -> io::Result<Option<Box<dyn Datagrams>>> {
        Ok(None)
    }

    /// How much the network delivered since the start that belonged to no connection. A bridge adds it to its
    /// [counters](super::BridgeCounts). Default: nothing, which is right for a network of connections.
    fn refused(&self) -> RefusedPackets {
        RefusedPackets::default()
    }
}

/// A bridge that starts, as its [`Transport`] sees it.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct StartingBridge<'a> {
    /// The name of its node.
    pub node: &'a NodeId,
    /// Its cluster. A network that several clusters share keeps them apart by it.
    pub cluster: &'a ClusterId,
    /// The address of [`BridgeBuilder::listen`](super::BridgeBuilder::listen), if it has one.
    pub listen: Option<&'a str>,
    /// Whether others may read the streams: the bridge encrypts them, or its
    /// [`dangerous_plaintext`](super::BridgeBuilder::dangerous_plaintext) was called.
    pub may_be_read: bool,
}

impl<'a> StartingBridge<'a> {
    /// A bridge without an address to listen at, and without encryption: for the tests of a transport.
    pub const fn new(node: &'a NodeId, cluster: &'a ClusterId) -> Self {
        Self {
            node,
            cluster,
            listen: None,
            may_be_read: false,
        }
    }
}

/// Where connections come in. Dropping it ends the listening.
pub trait Listener: Send {
    /// The address that others dial, if it is one of a socket.
    fn local_addr(&self) -> Option<SocketAddr>;

    /// The next connection. Dropping the future loses none.
    ///
    /// # Errors
    /// When a connection could not be taken, as where no file descriptor is left. The bridge tries again after 100 ms.
    fn accept(&mut self) -> Pending<'_, IncomingStream>;
}

/// Where datagrams come in.
pub trait Datagrams: Send {
    /// Receives the next one, as far as it fits, and returns its length in bytes. Dropping the future loses none.
    ///
    /// # Errors
    /// When nothing can be received any more. The bridge hears no datagrams from then on.
    fn receive<'a>(&'a mut self, into: &'a mut [u8]) -> Pending<'a, usize>;
}

/// How often a network delivered something that belonged to no connection, by the counters of the bridge.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct RefusedPackets {
    /// Packets of a wrong form: `packet_malformed`.
    pub malformed: u64,
    /// Packets of no connection, as late ones are: `packet_stray`.
    pub stray: u64,
    /// Connections for which there was no room, or that existed already: `packet_refused`.
    pub connections: u64,
    /// Announcements of hosts that were none, or too many: `token_refused`.
    pub tokens: u64,
}

/// A connection that came in.
pub struct IncomingStream {
    /// Its bytes.
    pub stream: Box<dyn Stream>,
    /// The other host, without a port: for logs and limits. A host has to have one name; a name that the host itself
    /// chooses lets a stranger take the slots of that name.
    pub from: String,
}

impl Debug for IncomingStream {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("IncomingStream")
            .field("from", &self.from)
            .finish_non_exhaustive()
    }
}

/// Bytes in both directions: implemented for every type that has the four traits. Dropping it closes the connection.
pub trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}

impl<S: AsyncRead + AsyncWrite + Send + Unpin> Stream for S {}

/// Work of a network that takes time: a future that runs on the bridge's own thread.
pub type Pending<'a, T> = Pin<Box<dyn Future<Output = io::Result<T>> + 'a>>;

/// Wraps each stream: encrypts it, and proves the node at the other end.
pub(crate) trait Security: Debug + Send + Sync {
    /// Secures a connection that this bridge dialled, to that node.
    fn outbound<'a>(&'a self, stream: Box<dyn Stream>, node: &'a NodeId) -> Securing<'a>;

    /// Secures a connection that came in; `is_peer` decides which nodes may connect.
    fn inbound<'a>(
        &'a self,
        stream: Box<dyn Stream>,
        is_peer: &'a dyn Fn(&NodeId) -> bool,
    ) -> Securing<'a>;

    /// The node that this side can prove to be: the bridge has to have its name.
    fn vouches_for(&self) -> &NodeId;

    /// Returns the fault for which reading from a secured stream failed, if the fault is one of its security.
    fn fault(&self, error: &io::Error) -> Option<Closed>;

    /// Returns the expiry of the proof, if that is soon. Called at the start, and each hour.
    fn expires_soon(&self) -> Option<SystemTime>;
}

/// A stream that is being secured, or the reason why it is refused.
pub(crate) type Securing<'a> = Pin<Box<dyn Future<Output = Result<Secured, Unsecured>> + 'a>>;

/// The stream inside, and the node at its other end, as proved.
pub(crate) type Secured = (Box<dyn Stream>, NodeId);

/// A stream that is refused.
pub(crate) struct Unsecured {
    /// The reason under which it is counted.
    pub(crate) why: Closed,
    /// The reason in detail, for the security log of this side.
    pub(crate) detail: &'static str,
    /// The names that the other end showed, as far as they can be trusted.
    pub(crate) names: Vec<String>,
    /// The stream on which the other end still listens, and its farewell; `None` as the farewell: the stream only
    /// ends.
    pub(crate) parting: Option<(Box<dyn Stream>, Option<Farewell>)>,
}
