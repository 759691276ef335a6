//! zenoh as a network of the bridge: hosts are dialled by their names, and connections are streams.
//!
//! Decided here: what a dial says of a host. A host whose token has gone is refused, once: its process has probably
//! ended, and its agents are suspected; elections find out. One that was never seen, or cannot be because
//! no router is there, is waited for.

use std::{
    future::poll_fn,
    io,
    net::SocketAddr,
    pin::Pin,
    sync::{Arc, Mutex, PoisonError},
    task::{Context, Poll},
};

use ::zenoh::key_expr::KeyExpr;
use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    sync::mpsc,
};

use crate::remote::{
    NodeId,
    node::ClusterId,
    transport::{IncomingStream, Listener, Pending, Stream, Transport},
};

use super::{
    ZenohError, ZenohOptions,
    error::text,
    flow::{FlowRead, Over},
    hosts::Sought,
    keys,
    packet::{MOST_DATA, PacketBody},
    session,
    switchboard::{IncomingLine, LineId, Probed, Switchboard},
};

/// A zenoh network, as one host sees it.
#[derive(Debug)]
pub(crate) struct ZenohNetwork {
    board: Arc<Switchboard>,
    entrance: Mutex<Option<Entrance>>,
}

impl ZenohNetwork {
    /// Opens a session. It is closed with the listener.
    pub(crate) fn open(
        options: &ZenohOptions,
        (host, cluster): (&NodeId, &ClusterId),
        may_be_read: bool,
    ) -> Result<Self, ZenohError> {
        options.check(may_be_read)?;
        let (sender, arrivals) = mpsc::channel(MOST_ARRIVALS);
        let (wake, asleep) = std::sync::mpsc::sync_channel(MOST_QUESTIONS);
        let board = Switchboard::new((host, cluster), options.mode(), sender, wake);
        let board = Arc::new(board);
        // Before the session: dropped, it closes what was opened.
        let entrance = Entrance {
            board: Arc::clone(&board),
            arrivals,
        };
        session::open(&board, options, asleep)?;
        Ok(Self {
            board,
            entrance: Mutex::new(Some(entrance)),
        })
    }

    async fn connect(&self, address: &str) -> io::Result<Box<dyn Stream>> {
        let host = NodeId::new(address).map_err(|_| io::ErrorKind::InvalidInput)?;
        self.board.seek(&host);
        let session = loop {
            // Asked for before the look: a token between the two would be missed.
            let found = self.board.found.notified();
            let sought = self.board.table().hosts.dial(&host);
            match sought {
                Sought::Session(session) => break session,
                Sought::Ended => match self.board.probe(&host).await {
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
        if !self.board.table().begin(line) {
            return Err(io::ErrorKind::QuotaExceeded.into());
        }
        let stream = ZenohStream::new(&self.board, &host, line)?;
        let host = self.board.host.clone();
        stream.put(PacketBody::Open { host })?;
        poll_fn(|task| stream.poll_open(task)).await?;
        Ok(Box::new(stream))
    }
}

impl Transport for ZenohNetwork {
    fn dial<'a>(&'a self, address: &'a str) -> Pending<'a, Box<dyn Stream>> {
        Box::pin(self.connect(address))
    }

    fn listen(&self, _: &str) -> io::Result<Box<dyn Listener>> {
        let mut entrance = self.entrance.lock().unwrap_or_else(PoisonError::into_inner);
        let entrance = entrance.take().ok_or(io::ErrorKind::AddrInUse)?;
        Ok(Box::new(entrance))
    }

    /// Each configured host has slots of its own by the name that it says. A stranger can say it too, and then
    /// takes slots of that host alone.
    fn hosts<'a>(&'a self, address: &'a str) -> Pending<'a, Vec<String>> {
        Box::pin(std::future::ready(Ok(vec![address.to_owned()])))
    }

    /// A host is found by its name, wherever it is.
    fn address_of(&self, node: &NodeId, _: Option<String>) -> Option<String> {
        Some(node.to_string())
    }

    /// What leaves this host was decided with the endpoints: a name says nothing of it.
    fn is_loopback(&self, _: &str) -> bool {
        true
    }

    fn refused(&self) -> [u64; 4] {
        self.board.refused()
    }
}

/// Where connections come in. The session lasts as long as it.
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

    /// Until the other end has taken the connection.
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
                    // Lost, it would hold the sender up until the link is silent for too long.
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

/// So many questions to the thread of the session wait for an answer.
const MOST_QUESTIONS: usize = 64;
/// So many connections wait to be taken. Each costs a few bytes until then.
const MOST_ARRIVALS: usize = 64;
