//! zenoh as a network of the bridge: hosts are dialled by their names, and connections are streams.
//!
//! Decided here: the result of a dial. The first dial after a host's last token has gone is refused: the process has
//! probably ended, and its agents are suspected; elections find out whether they are down. A host that was never seen,
//! or cannot be seen because no router is there, is waited for.

use std::{
    future::poll_fn,
    io,
    net::SocketAddr,
    pin::Pin,
    sync::{Arc, OnceLock},
    task::{Context, Poll},
};

use actix_bully::remote::{
    NodeId,
    transport::{IncomingStream, Listener, Pending, StartingBridge, Stream, Transport},
};
use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    sync::mpsc,
};
use zenoh::key_expr::KeyExpr;

use super::{
    ZenohError, ZenohOptions,
    error::text,
    flow::{FlowRead, Over},
    hosts::Sought,
    keys,
    packet::{MOST_DATA, PacketBody},
    session,
    switchboard::{IncomingLine, LineId, Probed, REFUSED, Switchboard},
};

/// A zenoh network, as one bridge uses it; the argument of [`BridgeBuilder::transport`].
///
/// The network listens only through zenoh: a bridge with an address to listen at is refused. Peers are found by their
/// names. The start of the bridge opens the session, and waits for the session for 10 s at most; a client does not
/// wait. The session ends with the bridge.
///
/// A start that fails is a [`BridgeError::Transport`] with a [`ZenohError`] inside:
///
/// ```
/// use actix_bully::{Group, remote::{BridgeError, RemoteBridge}};
/// use actix_bully_zenoh::{ZenohError, ZenohOptions, ZenohTransport};
///
/// # actix::System::new().block_on(async {
/// let zenoh = ZenohTransport::new(ZenohOptions::peer().listen("tls/host-a:7447"));
/// let bridge = RemoteBridge::builder("host-a").transport(zenoh).carry(&Group::new("jobs")?);
/// let Err(BridgeError::Transport(reason)) = bridge.start() else { unreachable!() };
/// let reason = reason.get_ref().and_then(|reason| reason.downcast_ref());
/// assert!(matches!(reason, Some(ZenohError::Tls { .. })));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # }).unwrap();
/// ```
///
/// [`BridgeBuilder::transport`]: actix_bully::remote::BridgeBuilder::transport
/// [`BridgeError::Transport`]: actix_bully::remote::BridgeError::Transport
#[derive(Debug)]
pub struct ZenohTransport {
    options: ZenohOptions,
    /// The switchboard, as soon as the network is open.
    board: OnceLock<Arc<Switchboard>>,
}

impl ZenohTransport {
    /// Returns a network with these options. The bridge opens it.
    pub const fn new(options: ZenohOptions) -> Self {
        Self {
            options,
            board: OnceLock::new(),
        }
    }

    fn start(&self, bridge: &StartingBridge<'_>) -> Result<Entrance, ZenohError> {
        if let Some(address) = bridge.listen {
            let address = address.to_owned();
            return Err(ZenohError::Listen { address });
        }
        self.options.check(bridge.may_be_read)?;
        let (sender, arrivals) = mpsc::channel(MOST_ARRIVALS);
        let (wake, asleep) = std::sync::mpsc::sync_channel(MOST_QUESTIONS);
        let names = (bridge.node, bridge.cluster);
        let board = Switchboard::new(names, self.options.mode(), sender, wake);
        let board = Arc::new(board);
        if self.board.set(Arc::clone(&board)).is_err() {
            return Err(ZenohError::Open(io::ErrorKind::AlreadyExists.into()));
        }
        // Made before the session is opened: if that opening fails, the drop of this value closes what was opened.
        let entrance = Entrance {
            board: Arc::clone(&board),
            arrivals,
        };
        session::open(&board, &self.options, asleep)?;
        Ok(entrance)
    }

    async fn connect(&self, address: &str) -> io::Result<Box<dyn Stream>> {
        let host = NodeId::new(address).map_err(|_| io::ErrorKind::InvalidInput)?;
        let board = self.board.get().ok_or(io::ErrorKind::NotConnected)?;
        board.seek(&host);
        let session = loop {
            // Registered before the lookup of the host. Otherwise a token that comes between the two would be missed.
            let found = board.found.notified();
            let sought = board.table().hosts.dial(&host);
            match sought {
                Sought::Session(session) => break session,
                Sought::Ended => match board.probe(&host).await {
                    Probed::Found => {}
                    Probed::Ended => return Err(io::ErrorKind::ConnectionRefused.into()),
                    Probed::CutOff => {
                        let reason = "no router is connected";
                        return Err(io::Error::new(io::ErrorKind::NotConnected, reason));
                    }
                },
                Sought::Unseen => found.await,
            }
        };
        let line = LineId {
            session,
            number: fastrand::u64(..),
        };
        if !board.table().begin(line) {
            return Err(io::ErrorKind::QuotaExceeded.into());
        }
        let stream = ZenohStream::new(board, &host, line)?;
        let host = board.host.clone();
        stream.put(PacketBody::Open { host })?;
        poll_fn(|task| stream.poll_open(task)).await?;
        Ok(Box::new(stream))
    }
}

impl Transport for ZenohTransport {
    fn open(&self, bridge: &StartingBridge<'_>) -> io::Result<Option<Box<dyn Listener>>> {
        let entrance = self.start(bridge).map_err(io::Error::other)?;
        Ok(Some(Box::new(entrance)))
    }

    fn dial<'a>(&'a self, address: &'a str) -> Pending<'a, Box<dyn Stream>> {
        Box::pin(self.connect(address))
    }

    /// Refused, because the network has listened since it was opened.
    fn listen(&self, _: &str) -> io::Result<Box<dyn Listener>> {
        Err(io::ErrorKind::Unsupported.into())
    }

    /// Returns the claimed name of an incoming connection as its host, so each configured host has connection slots of
    /// its own. A stranger that claims the same name takes slots of that host only.
    fn hosts<'a>(&'a self, address: &'a str) -> Pending<'a, Vec<String>> {
        Box::pin(std::future::ready(Ok(vec![address.to_owned()])))
    }

    /// A host is found by its name, wherever it is.
    fn address_of(&self, node: &NodeId, _: Option<String>) -> Option<String> {
        Some(node.to_string())
    }

    /// Always true: names do not show it, and the check of the endpoints has decided which data may leave this host.
    fn is_loopback(&self, _: &str) -> bool {
        true
    }

    fn refused(&self) -> Vec<(&'static str, u64)> {
        let board = self.board.get();
        // A counter exists before its first event.
        let none = || REFUSED.map(|name| (name, 0)).to_vec();
        board.map_or_else(none, |board| board.refused())
    }
}

/// The source of incoming connections. The session lasts as long as this value.
#[derive(Debug)]
struct Entrance {
    board: Arc<Switchboard>,
    arrivals: mpsc::Receiver<IncomingLine>,
}

impl Listener for Entrance {
    fn local_addr(&self) -> Option<SocketAddr> {
        None // zenoh has the sockets, and may have several
    }

    fn accept(&mut self) -> Pending<'_, IncomingStream> {
        Box::pin(async {
            let arrival = self.arrivals.recv().await;
            let IncomingLine { line, host } = arrival.ok_or(io::ErrorKind::NotConnected)?;
            let stream = ZenohStream::new(&self.board, &host, line)?;
            if let Some(line) = self.board.table().line(line) {
                line.flow.open();
            }
            stream.put(PacketBody::Opened)?;
            Ok(IncomingStream {
                stream: Box::new(stream),
                from: host.to_string(),
            })
        })
    }
}

impl Drop for Entrance {
    fn drop(&mut self) {
        self.board.close();
    }
}

/// One end of a connection.
#[derive(Debug)]
struct ZenohStream {
    board: Arc<Switchboard>,
    line: LineId,
    /// The inbox of the other end.
    to: KeyExpr<'static>,
}

impl ZenohStream {
    fn new(board: &Arc<Switchboard>, host: &NodeId, line: LineId) -> io::Result<Self> {
        let to = keys::inbox(&board.cluster, host, line.session);
        let to = KeyExpr::try_from(to).map_err(|reason| {
            board.forget(line);
            text(&reason)
        })?;
        Ok(Self {
            board: Arc::clone(board),
            line,
            to,
        })
    }

    fn put(&self, body: PacketBody<'_>) -> io::Result<()> {
        self.board.put(&self.to, self.line.number, body)
    }

    /// Waits until the other end has taken the connection.
    fn poll_open(&self, task: &Context<'_>) -> Poll<io::Result<()>> {
        let mut table = self.board.table();
        let Some(line) = table.line(self.line) else {
            return Poll::Ready(Err(io::ErrorKind::NotConnected.into()));
        };
        if line.flow.over().is_some() {
            return Poll::Ready(Err(io::ErrorKind::ConnectionReset.into()));
        }
        if line.flow.is_open() {
            return Poll::Ready(Ok(()));
        }
        line.reader = Some(task.waker().clone());
        Poll::Pending
    }
}

impl AsyncRead for ZenohStream {
    fn poll_read(
        self: Pin<&mut Self>,
        task: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let mut table = self.board.table();
        let Some(line) = table.line(self.line) else {
            return Poll::Ready(Err(io::ErrorKind::NotConnected.into()));
        };
        match line.flow.read(buf.remaining()) {
            FlowRead::Bytes(bytes, told) => {
                drop(table);
                buf.put_slice(&bytes);
                if let Some(before) = told {
                    // An error ends the link: without this packet the sender would wait until the link counts as
                    // silent.
                    self.put(PacketBody::Taken { before })?;
                }
                Poll::Ready(Ok(()))
            }
            FlowRead::Nothing => {
                line.reader = Some(task.waker().clone());
                Poll::Pending
            }
            FlowRead::End => Poll::Ready(Ok(())),
            FlowRead::Broken(why) => Poll::Ready(Err(broken(why))),
        }
    }
}

impl AsyncWrite for ZenohStream {
    fn poll_write(
        self: Pin<&mut Self>,
        task: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let mut table = self.board.table();
        let Some(line) = table.line(self.line) else {
            return Poll::Ready(Err(io::ErrorKind::NotConnected.into()));
        };
        if let Some(why) = line.flow.over() {
            return Poll::Ready(Err(broken(why)));
        }
        if bytes.is_empty() {
            return Poll::Ready(Ok(0));
        }
        let Some((at, len)) = line.flow.send(bytes.len().min(MOST_DATA)) else {
            line.writer = Some(task.waker().clone());
            return Poll::Pending;
        };
        drop(table);
        let bytes = bytes.get(..len).unwrap_or_default();
        self.put(PacketBody::Data { at, bytes })?;
        Poll::Ready(Ok(len))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        let at = self
            .board
            .table()
            .line(self.line)
            .map(|line| line.flow.sent());
        Poll::Ready(match at {
            Some(at) => self.put(PacketBody::End { at }),
            None => Err(io::ErrorKind::NotConnected.into()),
        })
    }
}

impl Drop for ZenohStream {
    fn drop(&mut self) {
        self.put(PacketBody::Gone).ok(); // the session is closed, and says so by itself
        self.board.forget(self.line);
    }
}

fn broken(why: Over) -> io::Error {
    io::Error::new(io::ErrorKind::ConnectionReset, why)
}

/// Maximum number of questions from this bridge that wait for an answer of the session's thread.
const MOST_QUESTIONS: usize = 64;
/// Maximum number of incoming connections that wait until the bridge accepts them. Each costs a few bytes until then.
const MOST_ARRIVALS: usize = 64;
