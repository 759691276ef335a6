//! Pipes in memory: a network for tests, with cuts and partitions, that works with a paused clock.
//!
//! Decided here: how a broken network behaves at both ends. A cut connection ends at once, as when a process is killed.
//! A partition ends no connection: writes succeed, but no bytes arrive until the partition heals; a dial across it
//! waits.

use std::{
    collections::{BTreeMap, BTreeSet},
    future, io,
    net::SocketAddr,
    pin::Pin,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::{Context, Poll, Waker},
};

use tokio::{
    io::{AsyncRead, AsyncWrite, DuplexStream, ReadBuf, duplex},
    sync::{Notify, mpsc},
};

use super::{IncomingStream, Listener, Pending, Stream, Transport};

/// A network in memory. All clones are the same network.
///
/// ```
/// use actix_bully::remote::transport::{Pipes, Transport};
///
/// let pipes = Pipes::new();
/// let host_b = pipes.host("b");
/// let listener = host_b.listen("b:1")?; // what `.listen("b:1")` of a builder does
/// pipes.partition("a", "b");
/// pipes.heal("a", "b");
/// # drop(listener);
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Pipes(Arc<PipesState>);

#[derive(Debug, Default)]
struct PipesState {
    net: Mutex<Net>,
    healed: Notify,
}

#[derive(Debug, Default)]
struct Net {
    /// The listeners by address, and the channels for their connections.
    listening: BTreeMap<String, (String, mpsc::UnboundedSender<IncomingStream>)>,
    /// The pairs of hosts with a partition: bytes from the first host do not reach the second.
    held: BTreeSet<(String, String)>,
    /// Every half of a connection.
    halves: Vec<std::sync::Weak<Mutex<Half>>>,
}

/// The state of one end of a connection: whether bytes to this end are held back, and whether the connection is cut.
#[derive(Debug)]
struct Half {
    /// The direction of the bytes: from the first host to the second.
    way: (String, String),
    is_held: bool,
    is_cut: bool,
    reader: Option<Waker>,
    writer: Option<Waker>,
}

impl Pipes {
    /// Returns a network without faults.
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns the network as one host sees it, for a bridge of this host.
    pub fn host(&self, name: &str) -> PipeHost {
        PipeHost {
            pipes: self.clone(),
            name: name.to_owned(),
        }
    }

    /// Holds back all bytes between the two hosts from now on. No byte is lost, and neither side is informed.
    pub fn partition(&self, a: &str, b: &str) {
        self.partition_one_way(a, b);
        self.partition_one_way(b, a);
    }

    /// Holds back the bytes from `from` to `to` from now on. No byte is lost.
    pub fn partition_one_way(&self, from: &str, to: &str) {
        self.lock().held.insert((from.to_owned(), to.to_owned()));
        self.update();
    }

    /// Ends a partition: the bytes that were held back arrive.
    pub fn heal(&self, a: &str, b: &str) {
        let mut net = self.lock();
        net.held.remove(&(a.to_owned(), b.to_owned()));
        net.held.remove(&(b.to_owned(), a.to_owned()));
        drop(net);
        self.update();
        self.0.healed.notify_waiters();
    }

    /// Breaks all connections between two hosts, and both ends notice it. They may dial again.
    pub fn cut(&self, a: &str, b: &str) {
        let between = |(from, to): &(String, String)| from == a && to == b || from == b && to == a;
        for half in self.halves() {
            let mut half = lock(&half);
            if between(&half.way) {
                half.is_cut = true;
                half.wake();
            }
        }
    }

    /// Returns the number of connections between two hosts.
    pub fn connections(&self, a: &str, b: &str) -> usize {
        let there = |half: &Arc<Mutex<Half>>| {
            let half = lock(half);
            half.way.0 == a && half.way.1 == b && !half.is_cut
        };
        self.halves().iter().filter(|half| there(half)).count()
    }

    fn update(&self) {
        for half in self.halves() {
            let is_held = self.lock().held.contains(&lock(&half).way);
            let mut half = lock(&half);
            half.is_held = is_held;
            half.wake();
        }
    }

    fn halves(&self) -> Vec<Arc<Mutex<Half>>> {
        let mut net = self.lock();
        net.halves.retain(|half| half.strong_count() > 0);
        net.halves
            .iter()
            .filter_map(std::sync::Weak::upgrade)
            .collect()
    }

    fn half(&self, from: &str, to: &str) -> Arc<Mutex<Half>> {
        let way = (from.to_owned(), to.to_owned());
        let mut net = self.lock();
        let half = Arc::new(Mutex::new(Half {
            is_held: net.held.contains(&way),
            way,
            is_cut: false,
            reader: None,
            writer: None,
        }));
        // Added under the lock with which `held` was read, so that no partition misses this half.
        net.halves.push(Arc::downgrade(&half));
        half
    }

    fn lock(&self) -> MutexGuard<'_, Net> {
        lock(&self.0.net)
    }
}

impl Half {
    fn wake(&mut self) {
        for waker in [self.reader.take(), self.writer.take()] {
            waker.into_iter().for_each(Waker::wake);
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A host on a network in memory. An address is any text.
#[derive(Clone, Debug)]
pub struct PipeHost {
    pipes: Pipes,
    name: String,
}

impl PipeHost {
    fn connect(&self, address: &str) -> io::Result<Option<Box<dyn Stream>>> {
        let refused = || io::Error::from(io::ErrorKind::ConnectionRefused);
        let net = self.pipes.lock();
        let listening = net.listening.get(address).cloned();
        let (host, arrivals) = listening.ok_or_else(refused)?;
        let (there, back) = (
            (self.name.clone(), host.clone()),
            (host.clone(), self.name.clone()),
        );
        let is_held = net.held.contains(&there) || net.held.contains(&back);
        drop(net);
        if is_held {
            return Ok(None);
        }
        let (here, far) = duplex(CAPACITY);
        let near = Pipe {
            bytes: here,
            half: self.pipes.half(&host, &self.name),
        };
        let far = Pipe {
            bytes: far,
            half: self.pipes.half(&self.name, &host),
        };
        let arrival = IncomingStream {
            stream: Box::new(far),
            from: self.name.clone(),
        };
        arrivals.send(arrival).map_err(|_| refused())?;
        Ok(Some(Box::new(near)))
    }
}

impl Transport for PipeHost {
    fn dial<'a>(&'a self, address: &'a str) -> Pending<'a, Box<dyn Stream>> {
        Box::pin(async move {
            loop {
                // The wait for a heal begins before the check, because a heal between the two would otherwise be
                // missed.
                let healed = self.pipes.0.healed.notified();
                if let Some(stream) = self.connect(address)? {
                    return Ok(stream);
                }
                healed.await;
            }
        })
    }

    fn listen(&self, address: &str) -> io::Result<Box<dyn Listener>> {
        let (sender, arrivals) = mpsc::unbounded_channel();
        let mut net = self.pipes.lock();
        let taken = net.listening.get(address);
        if taken.is_some_and(|(_, there)| !there.is_closed()) {
            return Err(io::ErrorKind::AddrInUse.into());
        }
        let here = (self.name.clone(), sender);
        net.listening.insert(address.to_owned(), here);
        Ok(Box::new(Mouth { arrivals }))
    }

    fn hosts<'a>(&'a self, address: &'a str) -> Pending<'a, Vec<String>> {
        let listening = self.pipes.lock().listening.get(address).cloned();
        let host = listening.map(|(host, _)| host);
        Box::pin(future::ready(Ok(host.into_iter().collect())))
    }

    fn is_loopback(&self, _: &str) -> bool {
        true // never leaves the process
    }
}

struct Mouth {
    arrivals: mpsc::UnboundedReceiver<IncomingStream>,
}

impl Listener for Mouth {
    fn local_addr(&self) -> Option<SocketAddr> {
        None
    }

    fn accept(&mut self) -> Pending<'_, IncomingStream> {
        Box::pin(async {
            let arrival = self.arrivals.recv().await;
            arrival.ok_or_else(|| io::ErrorKind::NotConnected.into())
        })
    }
}

/// One end of a connection.
struct Pipe {
    bytes: DuplexStream,
    half: Arc<Mutex<Half>>,
}

impl AsyncRead for Pipe {
    fn poll_read(
        mut self: Pin<&mut Self>,
        task: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let mut half = lock(&self.half);
        half.reader = Some(task.waker().clone());
        if half.is_cut {
            return Poll::Ready(Err(io::ErrorKind::ConnectionReset.into()));
        }
        if half.is_held {
            return Poll::Pending;
        }
        drop(half);
        Pin::new(&mut self.bytes).poll_read(task, buf)
    }
}

impl AsyncWrite for Pipe {
    fn poll_write(
        mut self: Pin<&mut Self>,
        task: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let mut half = lock(&self.half);
        half.writer = Some(task.waker().clone());
        if half.is_cut {
            return Poll::Ready(Err(io::ErrorKind::BrokenPipe.into()));
        }
        drop(half);
        Pin::new(&mut self.bytes).poll_write(task, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.bytes).poll_flush(task)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.bytes).poll_shutdown(task)
    }
}

/// Bytes on their way in each direction before a writer waits.
const CAPACITY: usize = 64 * 1024;
