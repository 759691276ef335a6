//! Hosts that are far from each other: what is sent over pipes arrives later, by a delay that a test may change.

use std::{
    collections::VecDeque,
    io,
    net::SocketAddr,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    task::{Context, Poll, ready},
    time::Duration,
};

use actix::clock::{Instant, Sleep, sleep_until};
use actix_bully::remote::transport::{
    IncomingStream, Listener, Pending, PipeHost, Pipes, Stream, Transport,
};
use futures::FutureExt;
use tokio::io::{AsyncRead, ReadBuf, ReadHalf, join, split};

/// How long every byte takes, one way. Clones are the same distance.
#[derive(Clone, Debug, Default)]
pub(crate) struct Distance(Arc<AtomicU64>);

impl Distance {
    pub(crate) fn set(&self, one_way: Duration) {
        let millis = u64::try_from(one_way.as_millis()).unwrap();
        self.0.store(millis, Relaxed);
    }

    fn get(&self) -> Duration {
        Duration::from_millis(self.0.load(Relaxed))
    }

    /// A host at that distance from every other.
    pub(crate) fn host(&self, pipes: &Pipes, name: &str) -> FarHost {
        FarHost {
            pipes: pipes.host(name),
            distance: self.clone(),
        }
    }
}

#[derive(Debug)]
pub(crate) struct FarHost {
    pipes: PipeHost,
    distance: Distance,
}

impl Transport for FarHost {
    fn dial<'a>(&'a self, address: &'a str) -> Pending<'a, Box<dyn Stream>> {
        let dialled = self.pipes.dial(address);
        Box::pin(dialled.map(|dialled| Ok(far(dialled?, &self.distance))))
    }

    fn listen(&self, address: &str) -> io::Result<Box<dyn Listener>> {
        let distance = self.distance.clone();
        let listener = self.pipes.listen(address)?;
        Ok(Box::new(FarListener { listener, distance }))
    }

    fn is_loopback(&self, address: &str) -> bool {
        self.pipes.is_loopback(address)
    }
}

struct FarListener {
    listener: Box<dyn Listener>,
    distance: Distance,
}

impl Listener for FarListener {
    fn local_addr(&self) -> Option<SocketAddr> {
        self.listener.local_addr()
    }

    fn accept(&mut self) -> Pending<'_, IncomingStream> {
        let distance = self.distance.clone();
        let come_in = self.listener.accept();
        Box::pin(come_in.map(move |arrival| {
            let IncomingStream { stream, from } = arrival?;
            let stream = far(stream, &distance);
            Ok(IncomingStream { stream, from })
        }))
    }
}

fn far(stream: Box<dyn Stream>, distance: &Distance) -> Box<dyn Stream> {
    let (stream, writer) = split(stream);
    let reader = FarReader {
        stream,
        distance: distance.clone(),
        on_the_way: VecDeque::new(),
        next: Box::pin(sleep_until(Instant::now())),
    };
    Box::new(join(reader, writer))
}

/// Keeps what arrives until it is due.
struct FarReader {
    stream: ReadHalf<Box<dyn Stream>>,
    distance: Distance,
    /// What is read at which instant; nothing: the end.
    on_the_way: VecDeque<(Instant, Vec<u8>)>,
    next: Pin<Box<Sleep>>,
}

impl FarReader {
    /// Takes what the pipe has; later bytes never overtake earlier ones.
    fn take(&mut self, task: &mut Context<'_>) -> io::Result<()> {
        loop {
            let mut bytes = [0; 4_096];
            let mut buf = ReadBuf::new(&mut bytes);
            let Poll::Ready(read) = Pin::new(&mut self.stream).poll_read(task, &mut buf) else {
                return Ok(());
            };
            read?;
            let after = self.on_the_way.back().map(|(at, _)| *at);
            let due = Instant::now() + self.distance.get();
            let due = after.map_or(due, |after| due.max(after));
            let filled = buf.filled().to_vec();
            let is_end = filled.is_empty();
            self.on_the_way.push_back((due, filled));
            if is_end {
                return Ok(());
            }
        }
    }
}

impl AsyncRead for FarReader {
    fn poll_read(
        mut self: Pin<&mut Self>,
        task: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        self.take(task)?;
        let Some((due, _)) = self.on_the_way.front() else {
            return Poll::Pending;
        };
        let due = *due;
        self.next.as_mut().reset(due);
        ready!(self.next.as_mut().poll_unpin(task));
        if let Some((due, mut bytes)) = self.on_the_way.pop_front() {
            let rest = bytes.split_off(bytes.len().min(buf.remaining()));
            buf.put_slice(&bytes);
            if !rest.is_empty() {
                self.on_the_way.push_front((due, rest));
            }
        }
        Poll::Ready(Ok(()))
    }
}
