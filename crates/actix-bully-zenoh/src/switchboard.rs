//! The state that the session, the streams and the bridge share: the open connections, and the waiting tasks.
//!
//! Decided here: the connection to which a packet belongs. Not here: its bytes ([`flow`](super::flow)), and the hosts
//! ([`hosts`](super::hosts)). zenoh calls from its own threads; the tasks that wait for a connection run on the
//! bridge's thread.

use std::{
    collections::BTreeMap,
    io,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError, RwLock,
        atomic::{AtomicBool, AtomicU64, Ordering::Relaxed},
        mpsc::SyncSender,
    },
    task::Waker,
};

use actix_bully::remote::{ClusterId, NodeId};
use tokio::sync::{Notify, mpsc, oneshot};
use tracing::debug;
use zenoh::{
    Session, Wait,
    key_expr::KeyExpr,
    qos::{CongestionControl, Priority},
    sample::{Sample, SampleKind},
};

use super::{
    error::text,
    flow::{Flow, Over},
    hosts::Hosts,
    keys::{self, SessionId},
    options::SessionMode,
    packet::{LONGEST, Packet, PacketBody},
};

/// The state that all parts of one bridge over zenoh share.
pub(super) struct Switchboard {
    pub(super) host: NodeId,
    pub(super) cluster: ClusterId,
    pub(super) me: SessionId,
    pub(super) mode: SessionMode,
    /// `Some` while the session is open. Nothing else may own the session: the drop of its last owner closes it, and on
    /// a thread of the bridge zenoh would panic, because that thread has tokio's current-thread scheduler.
    session: RwLock<Option<Session>>,
    table: Mutex<Table>,
    arrivals: mpsc::Sender<IncomingLine>,
    /// Notified when a session of a host was found.
    pub(super) found: Notify,
    refused: [AtomicU64; 4],
    is_closing: AtomicBool,
    wake: SyncSender<SessionWake>,
}

/// The reasons to wake the thread of the session.
#[derive(Debug)]
pub(super) enum SessionWake {
    /// The thread must check whether to end: the session must be closed, or the last connection has ended.
    Look,
    /// zenoh must be asked for this host once more.
    Probe(NodeId, oneshot::Sender<Probed>),
}

/// Result of the search for a host whose last token is gone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Probed {
    /// The host is present: a stranger has withdrawn a copy of its token, or the host has come back.
    Found,
    /// The host has probably ended.
    Ended,
    /// The result is not known: no router is connected, or the thread of the session does not answer.
    CutOff,
}

/// Hosts and connections.
#[derive(Debug, Default)]
pub(super) struct Table {
    pub(super) hosts: Hosts,
    lines: BTreeMap<LineId, LineEnd>,
}

/// The id of a connection: the session at its other end, and a random number from the side that opened it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct LineId {
    pub(super) session: SessionId,
    pub(super) number: u64,
}

/// One end of a connection, and the tasks that wait for it.
#[derive(Debug, Default)]
pub(super) struct LineEnd {
    pub(super) flow: Flow,
    pub(super) reader: Option<Waker>,
    pub(super) writer: Option<Waker>,
}

/// A connection that another host opens.
#[derive(Debug)]
pub(super) struct IncomingLine {
    pub(super) line: LineId,
    /// The name that the other side gives itself.
    pub(super) host: NodeId,
}

/// The names of the counts of ignored deliveries: messages that are no packets; packets of no connection, because they are
/// late or come from a stranger; new connections beyond the limit, or with a number that is in use; tokens whose key contains
/// no valid session, or that are beyond the limit of their host.
pub(super) const REFUSED: [&str; 4] = [MALFORMED, STRAY, CONNECTION, TOKEN];
const MALFORMED: &str = "packet_malformed";
const STRAY: &str = "packet_stray";
const CONNECTION: &str = "packet_refused";
const TOKEN: &str = "token_refused";

impl Switchboard {
    pub(super) fn new(
        (host, cluster): (&NodeId, &ClusterId),
        mode: SessionMode,
        arrivals: mpsc::Sender<IncomingLine>,
        wake: SyncSender<SessionWake>,
    ) -> Self {
        Self {
            host: host.clone(),
            cluster: cluster.clone(),
            me: SessionId::draw(),
            mode,
            session: RwLock::default(),
            table: Mutex::default(),
            arrivals,
            found: Notify::new(),
            refused: Default::default(),
            is_closing: AtomicBool::new(false),
            wake,
        }
    }

    /// Returns the number of ignored deliveries, by their names.
    pub(super) fn refused(&self) -> Vec<(&'static str, u64)> {
        let counts = self.refused.iter().map(|count| count.load(Relaxed));
        REFUSED.into_iter().zip(counts).collect()
    }

    pub(super) fn table(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes that the session is open.
    pub(super) fn opened(self: &Arc<Self>, session: Session) {
        *self.session.write().unwrap_or_else(PoisonError::into_inner) = Some(session);
        self.ask();
    }

    /// Ends all connections, and takes the session out so that it can be closed.
    pub(super) fn take(&self) -> Option<Session> {
        self.table().end_all(|_| true);
        let session = self.session.write();
        session.unwrap_or_else(PoisonError::into_inner).take()
    }

    /// Asks the thread of the session to close it.
    pub(super) fn close(&self) {
        self.is_closing.store(true, Relaxed);
        self.wake.try_send(SessionWake::Look).ok(); // it is awake already
    }

    pub(super) fn is_closing(&self) -> bool {
        self.is_closing.load(Relaxed)
    }

    /// Returns whether a host whose last token is gone has ended. The thread of the session answers, because zenoh
    /// panics on other threads.
    pub(super) async fn probe(&self, host: &NodeId) -> Probed {
        let (answer, answered) = oneshot::channel();
        let asked = self.wake.try_send(SessionWake::Probe(host.clone(), answer));
        if asked.is_err() {
            return Probed::CutOff; // without an answer nothing is known
        }
        answered.await.unwrap_or(Probed::CutOff)
    }

    /// Calls `what` with the session, on the thread that owns the session; `None` if the session is not open.
    pub(super) fn with_session<T>(&self, what: impl FnOnce(&Session) -> T) -> Option<T> {
        let session = self.session.read().unwrap_or_else(PoisonError::into_inner);
        session.as_ref().map(what)
    }

    /// Looks for this host from now on.
    pub(super) fn seek(self: &Arc<Self>, host: &NodeId) {
        self.table().hosts.seek(host);
        self.ask();
    }

    /// Asks zenoh for the tokens of all hosts that it was not asked for yet.
    fn ask(self: &Arc<Self>) {
        let session = self.session.read().unwrap_or_else(PoisonError::into_inner);
        let Some(session) = &*session else {
            return; // asked as soon as it is open
        };
        loop {
            // The table's lock is released before the question: zenoh reports known tokens at once, which needs it.
            let next = self.table().hosts.ask();
            let Some(host) = next else {
                return;
            };
            let (board, of) = (Arc::clone(self), host.clone());
            let asked = session
                .liveliness()
                .declare_subscriber(keys::tokens(&self.cluster, &host))
                .history(true)
                .callback(move |sample| board.on_token(&of, &sample))
                .background();
            if let Err(reason) = asked.wait() {
                debug!(peer = %host, reason = %text(&reason), "liveliness tokens not requested");
            }
        }
    }

    /// Handles a token of a host, as zenoh reports it.
    pub(super) fn on_token(&self, host: &NodeId, sample: &Sample) {
        let session = SessionId::of_token(sample.key_expr().as_str(), &self.cluster, host);
        let Some(session) = session else {
            return self.refuse(TOKEN);
        };
        let mut table = self.table();
        match sample.kind() {
            SampleKind::Put => {
                let has_room = table.hosts.up(host, session);
                drop(table);
                self.found.notify_waiters();
                if !has_room {
                    self.refuse(TOKEN);
                }
            }
            SampleKind::Delete => {
                table.hosts.down(host, session);
                table.end_all(|line| line.session == session);
            }
        }
    }

    /// Handles a packet for this session, as zenoh delivers it.
    pub(super) fn on_packet(&self, sample: &Sample) {
        let payload = sample.payload();
        // Checked before the parts of the payload are copied into one buffer.
        if payload.len() > LONGEST || sample.kind() != SampleKind::Put {
            return self.refuse(MALFORMED);
        }
        let bytes = payload.to_bytes();
        let Some(packet) = Packet::decode(&bytes) else {
            return self.refuse(MALFORMED);
        };
        let line = LineId {
            session: packet.from,
            number: packet.connection,
        };
        if let PacketBody::Open { host } = packet.body {
            return self.on_open(line, host);
        }
        let mut table = self.table();
        let Some(found) = table.lines.get_mut(&line) else {
            drop(table);
            return self.refuse(STRAY);
        };
        match packet.body {
            PacketBody::Open { .. } => {}
            PacketBody::Opened => found.flow.open(),
            PacketBody::Data { at, bytes } => found.flow.on_data(at, bytes),
            PacketBody::Taken { before } => found.flow.on_taken(before),
            PacketBody::End { at } => found.flow.on_end(at),
            PacketBody::Gone => found.flow.end(Over::Gone),
        }
        found.wake();
    }

    fn on_open(&self, line: LineId, host: NodeId) {
        if self.is_closing() || !self.table().begin(line) {
            return self.refuse(CONNECTION);
        }
        if self.arrivals.try_send(IncomingLine { line, host }).is_err() {
            self.table().lines.remove(&line);
            self.refuse(CONNECTION);
        }
    }

    /// Removes a connection that has ended on this side.
    pub(super) fn forget(&self, line: LineId) {
        let mut table = self.table();
        table.lines.remove(&line);
        let is_last = table.lines.is_empty();
        drop(table);
        if is_last && self.is_closing() {
            self.wake.try_send(SessionWake::Look).ok(); // if the queue is full, the thread is awake already
        }
    }

    /// Publishes a packet. A packet that zenoh has accepted may still be lost.
    pub(super) fn put(
        &self,
        key: &KeyExpr<'static>,
        connection: u64,
        body: PacketBody<'_>,
    ) -> io::Result<()> {
        let session = self.session.read().unwrap_or_else(PoisonError::into_inner);
        let session = session.as_ref().ok_or(io::ErrorKind::NotConnected)?;
        let packet = Packet {
            from: self.me,
            connection,
            body,
        };
        let put = session
            .put(key, packet.encode())
            // A packet is dropped if zenoh's queue is full, because a wait would hold up all actors of this thread. All
            // packets have the same priority, because zenoh keeps no order between two priorities.
            .congestion_control(CongestionControl::Drop)
            .priority(Priority::RealTime)
            .express(true);
        put.wait().map_err(|reason| text(&reason))
    }

    fn refuse(&self, what: &str) {
        let mut counts = REFUSED.iter().zip(&self.refused);
        if let Some((_, count)) = counts.find(|(name, _)| **name == what) {
            count.fetch_add(1, Relaxed);
        }
    }
}

impl std::fmt::Debug for Switchboard {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Switchboard")
            .field("host", &self.host)
            .field("me", &self.me)
            .finish_non_exhaustive()
    }
}

impl Table {
    /// Begins a connection; `false` if its id is in use, or there is no room.
    pub(super) fn begin(&mut self, line: LineId) -> bool {
        let is_free = self.lines.len() < MOST_LINES && !self.lines.contains_key(&line);
        if is_free {
            self.lines.insert(line, LineEnd::default());
        }
        is_free
    }

    pub(super) fn line(&mut self, line: LineId) -> Option<&mut LineEnd> {
        self.lines.get_mut(&line)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }

    /// Ends the connections that `is_meant` selects: their other end is gone.
    fn end_all(&mut self, is_meant: impl Fn(&LineId) -> bool) {
        for (_, line) in self.lines.iter_mut().filter(|(id, _)| is_meant(id)) {
            line.flow.end(Over::Gone);
            line.wake();
        }
    }
}

impl LineEnd {
    fn wake(&mut self) {
        for waker in [self.reader.take(), self.writer.take()] {
            waker.into_iter().for_each(Waker::wake);
        }
    }
}

/// Maximum number of connections. The bridge itself accepts fewer, and its queue bounds the connections that wait to be
/// accepted.
const MOST_LINES: usize = 8_192;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_connection_has_its_id_until_its_end_and_the_last_one_lets_the_session_end() {
        let (arrivals, _arrived) = mpsc::channel(1);
        let (wake, woken) = std::sync::mpsc::sync_channel(9);
        let names = (&NodeId::new("a").unwrap(), &ClusterId::new("c").unwrap());
        let board = Switchboard::new(names, SessionMode::Peer, arrivals, wake);
        let [first, last] = [1, 2].map(|number| LineId {
            session: SessionId::draw(),
            number,
        });
        assert!(board.table().begin(first) && board.table().begin(last));
        assert!(!board.table().begin(first));
        board.close();
        assert!(woken.try_recv().is_ok());
        board.forget(first);
        assert!(woken.try_recv().is_err());
        board.forget(last);
        assert!(woken.try_recv().is_ok() && board.table().is_empty());
        assert!(board.table().begin(first));
    }
}
