//! How bytes get to another host: what the bridge asks of a network, and no more.
//!
//! Decided here: the seam. The bridge dials and accepts streams by [`Transport`], whatever they
//! are: sockets ([`Tcp`]), pipes in memory ([`Pipes`]), a simulated network of a test. `Security`
//! may wrap each stream and say which node is at its other end. Not here: what crosses, and every
//! deadline; the bridge gives up on what takes too long by dropping the future.

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

use super::{Closed, Farewell, NodeId};

#[cfg(feature = "testkit")]
pub use pipes::{PipeHost, Pipes};
pub use tcp::Tcp;

/// A network.
pub trait Transport: Debug + Send + Sync {
    /// Connects to an address, whose name is resolved anew each time.
    ///
    /// The kind [`ConnectionRefused`](io::ErrorKind::ConnectionRefused) says that the host is
    /// there and no process listens: the bridge takes it for the end of the process.
    fn dial<'a>(&'a self, address: &'a str) -> Pending<'a, Box<dyn Stream>>;

    /// Listens at an address; must not wait.
    ///
    /// # Errors
    /// When the address is not one of this host, is in use, or is none.
    fn listen(&self, address: &str) -> io::Result<Box<dyn Listener>>;

    /// The hosts behind an address, as [`IncomingStream::from`] would name them: connections from there
    /// have slots of their own, although it is not known yet whose they are. Default: none is known.
    fn hosts<'a>(&'a self, _address: &'a str) -> Pending<'a, Vec<String>> {
        Box::pin(future::ready(Ok(Vec::new())))
    }

    /// The addresses behind one, at which datagrams reach the bridge that listens there. Default: none is known.
    fn addresses<'a>(&'a self, _address: &'a str) -> Pending<'a, Vec<SocketAddr>> {
        Box::pin(future::ready(Ok(Vec::new())))
    }

    /// Hears datagrams at an address where a bridge of this host listens. Default: there are none.
    ///
    /// # Errors
    /// When the address is in use.
    fn hear(&self, _at: SocketAddr) -> io::Result<Option<Box<dyn Datagrams>>> {
        Ok(None)
    }

    /// What a peer is dialled by, where its operator gave this. Default: just that.
    fn address_of(&self, _node: &NodeId, given: Option<String>) -> Option<String> {
        given
    }

    /// How much the network delivered that was no part of a connection, by the names of the counters. Default: none.
    fn refused(&self) -> [u64; 4] {
        [0; 4]
    }

    /// Whether an address can be reached from this host only. What is not known is not.
    fn is_loopback(&self, address: &str) -> bool;
}

/// Where connections come in.
pub trait Listener: Send {
    /// The address that others dial.
    fn local_addr(&self) -> Option<SocketAddr>;

    /// The next connection. Dropping the future loses none.
    fn accept(&mut self) -> Pending<'_, IncomingStream>;
}

/// Where datagrams come in.
pub trait Datagrams: Send {
    /// The next one, as far as it fits; its length. Dropping the future loses none.
    fn receive<'a>(&'a mut self, into: &'a mut [u8]) -> Pending<'a, usize>;
}

/// A connection that came in.
pub struct IncomingStream {
    /// Its bytes.
    pub stream: Box<dyn Stream>,
    /// The other host, without a port: for logs and limits.
    pub from: String,
}

impl Debug for IncomingStream {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("IncomingStream")
            .field("from", &self.from)
            .finish_non_exhaustive()
    }
}

/// Bytes in both directions. Dropping it closes the connection.
pub trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}

impl<S: AsyncRead + AsyncWrite + Send + Unpin> Stream for S {}

/// What a network may take time for. It runs on the bridge's own thread.
pub type Pending<'a, T> = Pin<Box<dyn Future<Output = io::Result<T>> + 'a>>;

/// Wraps each stream: encrypts it, and says which node is at the other end.
pub(crate) trait Security: Debug + Send + Sync {
    /// Secures a connection that this bridge dialled, to that node.
    fn outbound<'a>(&'a self, stream: Box<dyn Stream>, node: &'a NodeId) -> Securing<'a>;

    /// Secures a connection that came in; `is_peer` says which node may.
    fn inbound<'a>(
        &'a self,
        stream: Box<dyn Stream>,
        is_peer: &'a dyn Fn(&NodeId) -> bool,
    ) -> Securing<'a>;

    /// The node that this side can prove to be: the bridge has to have its name.
    fn vouches_for(&self) -> &NodeId;

    /// When the proof expires, if that is soon. Asked at the start, and each hour.
    fn expires_soon(&self) -> Option<SystemTime>;
}

/// A stream that is being secured, or why it is refused.
pub(crate) type Securing<'a> = Pin<Box<dyn Future<Output = Result<Secured, Unsecured>> + 'a>>;

/// The stream inside, and the node at its other end, as proved.
pub(crate) type Secured = (Box<dyn Stream>, NodeId);

/// A stream that is refused.
pub(crate) struct Unsecured {
    /// Under which name it is counted.
    pub(crate) why: Closed,
    /// Why in detail, for the security log of this side.
    pub(crate) detail: &'static str,
    /// The names that the other end showed, as far as they can be trusted.
    pub(crate) names: Vec<String>,
    /// Where the other end still listens, and what it may be told there; nothing: only that it
    /// ends.
    pub(crate) parting: Option<(Box<dyn Stream>, Option<Farewell>)>,
}
