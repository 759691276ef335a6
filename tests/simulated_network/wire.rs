//! A transport of the bridge over the simulated network, and a gauge on each host's streams.
//!
//! Decided here: what a dialler sees of a broken network. The simulated network refuses a connection at once if the
//! first packet is lost. A real network is silent, and a real host refuses if its process has ended. This file tells
//! the two cases apart by the faults of the history.
//!
//! Also here: a slow reader, and the counts that show whether links leak or storm.

use std::{
    collections::{BTreeMap, BTreeSet},
    io,
    net::SocketAddr,
    pin::Pin,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::{Context, Poll, ready},
    time::Duration,
};

use actix_bully::remote::transport::{
    Datagrams, IncomingStream, Listener, Pending, Stream, Transport,
};
use futures::FutureExt;
use tokio::{
    io::{AsyncRead, ReadBuf, ReadHalf, join, split},
    time::{Sleep, sleep},
};
use turmoil::net::{TcpListener, TcpStream};

use crate::sentinels::{self, Sentinels};

/// The faults of the network, and the use that the hosts make of it.
#[derive(Clone, Debug, Default)]
pub struct Net(Arc<Mutex<State>>);

#[derive(Debug, Default)]
pub(crate) struct State {
    pub(crate) sentinels: Sentinels,
    has_sentinels: bool,
    /// Whether a dial whose packets are lost gets no answer, as in a real network. Otherwise the network refuses the
    /// dial at once.
    is_silent: bool,
    /// The pairs of hosts of which the second gets no packet of the first.
    lost: BTreeSet<(String, String)>,
    /// The hosts whose process has ended; such a host refuses connections itself.
    ended: BTreeSet<String>,
    slow: BTreeMap<String, Pace>,
    /// The pairs of a reading host and a peer of which the host reads late. It reads streams that are older than this
    /// serial number only at this time.
    late: BTreeMap<(String, String), (u64, Duration)>,
    /// Number of times that a host read data of a former process late.
    late_reports: u64,
    /// The number of the present process of each host.
    processes: BTreeMap<String, u64>,
    serial: u64,
    streams: BTreeMap<String, usize>,
    /// Times at which the present process of a host dialled another host, in milliseconds, for the last second.
    dials: BTreeMap<(String, String), Vec<u64>>,
    /// The most dials of one host to another within a second, and the most streams of one host.
    peaks: Peaks,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Peaks {
    /// Most dials of one process to another host within a second.
    pub dials: usize,
    /// Most streams of one host at a time.
    pub streams: usize,
}

/// How slowly a host reads: a number of bytes, and then a pause in milliseconds.
#[derive(Clone, Copy, Debug)]
pub struct Pace {
    pub bytes: usize,
    pub pause: u64,
}

impl Peaks {
    pub fn max(self, other: Self) -> Self {
        Self {
            dials: self.dials.max(other.dials),
            streams: self.streams.max(other.streams),
        }
    }
}

impl Net {
    /// Creates a network without faults.
    pub fn new(is_silent: bool) -> Self {
        let net = Self::default();
        net.state().is_silent = is_silent;
        net
    }

    /// Returns the network as one host sees it.
    pub fn host(&self, name: &str) -> Wire {
        Wire {
            net: self.clone(),
            name: name.to_owned(),
        }
    }

    /// Loses the packets from one host to another from now on.
    pub fn lose(&self, from: &str, to: &str) {
        self.state().lost.insert((from.to_owned(), to.to_owned()));
    }

    /// Ends the loss of packets between two hosts.
    pub fn mend(&self, a: &str, b: &str) {
        let is_other = |(x, y): &(String, String)| !(x == a && y == b || x == b && y == a);
        self.state().lost.retain(is_other);
    }

    /// Sets whether the process of a host has ended while the host itself runs.
    pub fn set_ended(&self, host: &str, has_ended: bool) {
        let mut state = self.state();
        if has_ended {
            state.ended.insert(host.to_owned());
        } else {
            state.ended.remove(host);
        }
    }

    /// Sets the pace of a host's reads; `None` is as fast as possible.
    pub fn set_pace(&self, host: &str, pace: Option<Pace>) {
        let mut state = self.state();
        match pace {
            Some(pace) => state.slow.insert(host.to_owned(), pace),
            None => state.slow.remove(host),
        };
    }

    /// Delays the reads of the present streams from one host to another until this time.
    pub fn delay(&self, from: &str, to: &str, until: Duration) {
        let mut state = self.state();
        let serial = state.serial;
        let between = (to.to_owned(), from.to_owned());
        state.late.insert(between, (serial, until));
    }

    /// Returns the number of times that a host read data of a former process.
    pub fn late_reports(&self) -> u64 {
        self.state().late_reports
    }

    /// Ends all delays of reads.
    pub fn hurry(&self) {
        self.state().late.clear();
    }

    /// Notes that a process of a host begins.
    pub fn set_process(&self, host: &str, process: u64) {
        let mut state = self.state();
        state.processes.insert(host.to_owned(), process);
        // A process cannot know how often the former process dialled, so each process has its own bound.
        state.dials.retain(|(from, _), _| from != host);
    }

    pub fn streams(&self, host: &str) -> usize {
        self.state().streams.get(host).copied().unwrap_or_default()
    }

    pub fn peaks(&self) -> Peaks {
        self.state().peaks
    }

    /// Sets whether the hosts have sentinels.
    pub fn with_sentinels(self, has_sentinels: bool) -> Self {
        self.state().has_sentinels = has_sentinels;
        self
    }

    pub(crate) fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn note_dial(&mut self, from: &str, to: &str) {
        let now = turmoil::sim_elapsed().unwrap_or_default().as_millis();
        let now = u64::try_from(now).unwrap_or(u64::MAX);
        let dials = self.dials.entry((from.to_owned(), to.to_owned()));
        let dials = dials.or_default();
        dials.retain(|at| at + 1_000 > now);
        dials.push(now);
        self.peaks.dials = self.peaks.dials.max(dials.len());
    }

    pub(crate) fn loses(&self, from: &str, to: &str) -> bool {
        self.lost.contains(&(from.to_owned(), to.to_owned()))
    }
}

#[derive(Clone, Debug)]
pub struct Wire {
    net: Net,
    name: String,
}

impl Wire {
    /// Whether a dial gets no answer in time. A real network repeats a lost packet of a dial; this network does not.
    fn is_unanswered(&self, host: &str) -> bool {
        let state = self.net.state();
        state.is_silent && (state.loses(&self.name, host) || state.loses(host, &self.name))
    }

    fn is_refused(&self, host: &str) -> bool {
        let state = self.net.state();
        let is_cut = state.loses(&self.name, host) || state.loses(host, &self.name);
        !is_cut && state.ended.contains(host)
    }

    fn tap(&self, stream: TcpStream, peer: &str) -> Box<dyn Stream> {
        let mut state = self.net.state();
        state.serial += 1;
        let serial = state.serial;
        let process = state.processes.get(peer).copied();
        let streams = state.streams.entry(self.name.clone()).or_default();
        *streams += 1;
        let open = *streams;
        state.peaks.streams = state.peaks.streams.max(open);
        drop(state);
        let (stream, writer) = split(stream);
        let reader = Tap {
            stream,
            wire: self.clone(),
            peer: peer.to_owned(),
            process,
            serial,
            nap: None,
            wait: None,
        };
        Box::new(join(reader, writer))
    }
}

impl Transport for Wire {
    fn dial<'a>(&'a self, address: &'a str) -> Pending<'a, Box<dyn Stream>> {
        let host = address.rsplit_once(':').map_or(address, |(host, _)| host);
        self.net.state().note_dial(&self.name, host);
        Box::pin(async move {
            if self.is_refused(host) {
                sleep(Duration::from_millis(ROUND_TRIP)).await;
                return Err(io::ErrorKind::ConnectionRefused.into());
            }
            let dialled = TcpStream::connect(address).await;
            if self.is_unanswered(host) {
                futures::future::pending::<()>().await;
            }
            dialled.map(|stream| self.tap(stream, host))
        })
    }

    fn listen(&self, address: &str) -> io::Result<Box<dyn Listener>> {
        // The simulated network never waits in `bind`, so the future is ready at once.
        let bound = TcpListener::bind(address).now_or_never();
        let listener = bound.unwrap_or_else(|| Err(io::ErrorKind::WouldBlock.into()))?;
        Ok(Box::new(Door {
            listener,
            wire: self.clone(),
        }))
    }

    fn addresses<'a>(&'a self, address: &'a str) -> Pending<'a, Vec<SocketAddr>> {
        let found = sentinels::address(address).into_iter().collect();
        Box::pin(futures::future::ready(Ok(found)))
    }

    fn hear(&self, _: SocketAddr) -> io::Result<Option<Box<dyn Datagrams>>> {
        let has_sentinels = self.net.state().has_sentinels;
        Ok(has_sentinels.then(|| self.net.datagrams(&self.name)))
    }

    fn is_loopback(&self, _: &str) -> bool {
        true // nothing leaves the simulation
    }
}

struct Door {
    listener: TcpListener,
    wire: Wire,
}

impl Listener for Door {
    fn local_addr(&self) -> Option<SocketAddr> {
        self.listener.local_addr().ok()
    }

    fn accept(&mut self) -> Pending<'_, IncomingStream> {
        Box::pin(async {
            let (stream, from) = self.listener.accept().await?;
            let peer = turmoil::reverse_lookup(from.ip()).unwrap_or_default();
            Ok(IncomingStream {
                stream: self.wire.tap(stream, &peer),
                from: from.ip().to_string(),
            })
        })
    }
}

/// The reading half of a stream. It is counted, and it reads as slowly or as late as its host.
struct Tap {
    stream: ReadHalf<TcpStream>,
    wire: Wire,
    /// The host at the other end; `process` is the number of its process.
    peer: String,
    process: Option<u64>,
    serial: u64,
    nap: Option<Pin<Box<Sleep>>>,
    /// The wait until a late read may happen.
    wait: Option<Pin<Box<Sleep>>>,
}

impl Tap {
    /// Returns the time for which the stream must not be read yet.
    fn is_late_for(&self, state: &State) -> Option<Duration> {
        let between = (self.wire.name.clone(), self.peer.clone());
        let (before, until) = state.late.get(&between)?;
        let now = turmoil::sim_elapsed().unwrap_or_default();
        let rest = until.checked_sub(now).filter(|rest| !rest.is_zero());
        rest.filter(|_| self.serial <= *before)
    }

    fn note_late_reports(&self) {
        let mut state = self.wire.net.state();
        if state.processes.get(&self.peer).copied() > self.process {
            state.late_reports += 1;
        }
    }
}

impl AsyncRead for Tap {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let state = self.wire.net.state();
        let pace = state.slow.get(&self.wire.name).copied();
        let late = if state.late.is_empty() {
            None
        } else {
            self.is_late_for(&state)
        };
        drop(state);
        if let Some(rest) = late {
            let wait = self.wait.insert(Box::pin(sleep(rest)));
            ready!(wait.as_mut().poll(cx));
        }
        let Some(pace) = pace else {
            self.nap = None;
            let before = buf.filled().len();
            let read = Pin::new(&mut self.stream).poll_read(cx, buf);
            if read.is_ready() && buf.filled().len() > before {
                self.note_late_reports();
            }
            return read;
        };
        if let Some(nap) = &mut self.nap {
            ready!(nap.as_mut().poll(cx));
        }
        let mut sip = [0; 64];
        let most = pace.bytes.min(buf.remaining()).min(sip.len());
        let mut sip = ReadBuf::new(&mut sip[..most]);
        let read = ready!(Pin::new(&mut self.stream).poll_read(cx, &mut sip));
        self.nap = Some(Box::pin(sleep(Duration::from_millis(pace.pause))));
        buf.put_slice(sip.filled());
        Poll::Ready(read)
    }
}

impl Drop for Tap {
    fn drop(&mut self) {
        let mut state = self.wire.net.state();
        if let Some(streams) = state.streams.get_mut(&self.wire.name) {
            *streams -= 1;
        }
    }
}

/// Time that the refusal of a host takes, in milliseconds.
const ROUND_TRIP: u64 = 10;
