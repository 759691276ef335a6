//! Hosts that are far from each other, or short of descriptors. Data over pipes arrives after a delay that a test may
//! change. Connections are refused while a test sets `is_short`.

use std::{
    io,
    net::SocketAddr,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering::Relaxed},
    },
    time::Duration,
};

use actix::clock::{Instant, sleep_until};
use actix_bully::remote::transport::{
    IncomingStream, Listener, Pending, PipeHost, Pipes, Stream, Transport,
};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt, duplex, join, split},
    sync::mpsc::unbounded_channel,
};

/// The delay of every byte in one direction, and the faults of the system. Clones share one distance.
#[derive(Clone, Debug, Default)]
pub(crate) struct Distance(Arc<Trouble>);

#[derive(Debug, Default)]
pub(crate) struct Trouble {
    millis: AtomicU64,
    pub(crate) is_short: AtomicBool,
    /// Number of tries to accept a connection that failed because the system was short of descriptors. `dials` is the
    /// number of such dials.
    pub(crate) accepts: AtomicU32,
    pub(crate) dials: AtomicU32,
}

impl Trouble {
    fn check(&self, asked: &AtomicU32) -> io::Result<()> {
        const EMFILE: i32 = 24;
        if self.is_short.load(Relaxed) {
            asked.fetch_add(1, Relaxed);
            return Err(io::Error::from_raw_os_error(EMFILE));
        }
        Ok(())
    }
}

impl std::ops::Deref for Distance {
    type Target = Trouble;

    fn deref(&self) -> &Trouble {
        &self.0
    }
}

impl Distance {
    pub(crate) fn set(&self, one_way: Duration) {
        let millis = u64::try_from(one_way.as_millis()).unwrap();
        self.millis.store(millis, Relaxed);
    }

    /// Returns the network of a host at this distance from every other host.
    pub(crate) fn host(&self, pipes: &Pipes, name: &str) -> FarHost {
        FarHost(pipes.host(name), self.clone())
    }
}

#[derive(Debug)]
pub(crate) struct FarHost(PipeHost, Distance);

impl Transport for FarHost {
    fn dial<'a>(&'a self, address: &'a str) -> Pending<'a, Box<dyn Stream>> {
        Box::pin(async move {
            self.1.check(&self.1.dials)?;
            Ok(far(self.0.dial(address).await?, self.1.clone()))
        })
    }

    fn listen(&self, address: &str) -> io::Result<Box<dyn Listener>> {
        let listener = self.0.listen(address)?;
        Ok(Box::new(FarListener(listener, self.1.clone())))
    }

    fn is_loopback(&self, address: &str) -> bool {
        self.0.is_loopback(address)
    }
}

struct FarListener(Box<dyn Listener>, Distance);

impl Listener for FarListener {
    fn local_addr(&self) -> Option<SocketAddr> {
        self.0.local_addr()
    }

    fn accept(&mut self) -> Pending<'_, IncomingStream> {
        Box::pin(async move {
            self.1.check(&self.1.accepts)?;
            let IncomingStream { stream, from } = self.0.accept().await?;
            let stream = far(stream, self.1.clone());
            Ok(IncomingStream { stream, from })
        })
    }
}

/// Keeps each byte until its delay is over. Later bytes never overtake earlier bytes.
fn far(stream: Box<dyn Stream>, distance: Distance) -> Box<dyn Stream> {
    let (mut arrives, writer) = split(stream);
    let (mut late, reader) = duplex(1 << 20);
    let (keep, mut kept) = unbounded_channel();
    actix::spawn(async move {
        let mut bytes = [0; 4_096];
        while let Ok(len @ 1..) = arrives.read(&mut bytes).await {
            let due = Instant::now() + Duration::from_millis(distance.millis.load(Relaxed));
            if keep.send((due, bytes[..len].to_vec())).is_err() {
                break;
            }
        }
    });
    actix::spawn(async move {
        while let Some((due, bytes)) = kept.recv().await {
            sleep_until(due).await;
            if late.write_all(&bytes).await.is_err() {
                break;
            }
        }
    });
    Box::new(join(reader, writer))
}
