//! The parts that the tests of zenoh share: hosts, a router, and raw sessions that break the rules.
//!
//! Decided here: no rule of zenoh or of the bridge. A test waits for an event, with a deadline, and never for a fixed
//! time.

#[path = "../../tls/src/authority.rs"]
#[expect(
    dead_code,
    clippy::needless_pass_by_value,
    clippy::return_self_not_must_use,
    reason = "the tests of TLS ask more, and have fewer lints"
)]
mod authority;

pub use authority::{Authority, Leaf};

use std::{
    future::Future,
    net::UdpSocket,
    panic,
    path::Path,
    sync::{
        atomic::{AtomicBool, AtomicU8, Ordering::Relaxed},
        mpsc,
    },
    thread,
    time::Duration,
};

use actix::{System, clock::timeout};
use actix_bully::{
    Group,
    agent::{BullyAgent, BullyHandle},
    protocol::{AgentId, Timings},
    remote::{
        BridgeBuilder, BridgeEvent, BridgeHandle, Limits, LinkStatus, Peer, RemoteBridge,
        secret::Secret,
    },
    store::{FileStore, StoreIdentity},
};
use actix_bully_zenoh::{ZenohOptions, ZenohTransport};
use futures::{Stream, StreamExt};
use serde_json::{Value, json};
use tempfile::TempDir;
use zenoh::{Config, Session, Wait};

/// Longest time for an event: sockets have no virtual time.
pub const DEADLINE: Duration = Duration::from_secs(30);

/// One host, with one agent of the host's name.
pub struct Host {
    /// The bridge of the host.
    pub bridge: BridgeHandle,
    /// The agent of the host, a voter in a quorum of all hosts.
    pub agent: BullyHandle,
    /// The folder of the votes; it is removed with the host.
    records: Option<TempDir>,
}

impl Host {
    /// Starts a host whose peers and voters are the hosts `all`.
    pub fn start(name: &str, all: &[&str], zenoh: ZenohOptions) -> Self {
        Self::with(name, all, |builder| {
            over(builder, zenoh).secret(secret("ours"))
        })
    }

    /// Starts a host with a bridge that `bridge` makes.
    pub fn with(
        name: &str,
        all: &[&str],
        with: impl FnOnce(BridgeBuilder) -> BridgeBuilder,
    ) -> Self {
        let records = TempDir::new().expect("a folder");
        let mut host = Self::kept(name, all, records.path(), with);
        host.records = Some(records);
        host
    }

    /// Starts a host that keeps its votes in a folder.
    pub fn kept(
        name: &str,
        all: &[&str],
        records: &Path,
        with: impl FnOnce(BridgeBuilder) -> BridgeBuilder,
    ) -> Self {
        let group = Group::new("g").expect("a good name");
        let bridge = with(builder(name, all)).carry(&group).start();
        let id = |name: &str| AgentId::new(name).expect("a good name");
        let identity = StoreIdentity {
            cluster: id("default"),
            group: id("g"),
            node: id(name),
        };
        let record = records.join(name);
        let store = if record.exists() {
            FileStore::open(&record, identity)
        } else {
            FileStore::create(&record, identity)
        };
        let agent = BullyAgent::builder(name)
            .timings(Timings::lan())
            .quorum(all.iter().copied())
            .store(store.expect("a record"))
            .join(&group)
            .start();
        Self {
            bridge: bridge.expect("a good bridge"),
            agent: agent.expect("a good agent"),
            records: None,
        }
    }

    /// Returns whether the agent follows `leader`, or is it.
    pub fn follows(&self, leader: &str) -> bool {
        let found = self.agent.leader();
        found.is_some_and(|found| found.id.as_str() == leader)
    }

    /// Returns the leader that the agent knows.
    pub fn leader(&self) -> Option<String> {
        self.agent.leader().map(|found| found.id.to_string())
    }

    /// Returns whether the peer is linked.
    pub fn is_linked_with(&self, peer: &str) -> bool {
        let peers = self.bridge.peers();
        let peer = peers.iter().find(|status| status.node.as_str() == peer);
        matches!(peer.expect("a peer").link, LinkStatus::Linked { .. })
    }

    /// Returns the value of a counter.
    pub fn count(&self, name: &str) -> u64 {
        let count = self.bridge.counters().get(name);
        count.expect("there is such a counter")
    }
}

/// Returns a bridge with these peers and without a network. It redials within 500 ms.
pub fn builder(name: &str, all: &[&str]) -> BridgeBuilder {
    let limits = Limits::builder().dial_max(Duration::from_millis(500));
    let limits = limits.build().expect("good limits");
    let peers = all.iter().filter(|peer| **peer != name);
    peers.fold(
        RemoteBridge::builder(name).limits(limits),
        |builder, peer| builder.peer(Peer::inbound(peer)),
    )
}

/// Lets the bridge use zenoh.
pub fn over(builder: BridgeBuilder, options: ZenohOptions) -> BridgeBuilder {
    builder.transport(ZenohTransport::new(options))
}

/// Returns a secret of 32 bytes that begins with `word`.
pub fn secret(word: &str) -> Secret {
    Secret::new(format!("{word:-<32}").as_bytes()).expect("a long secret")
}

/// Returns an endpoint of loopback that no other test uses. Only an unstable interface of zenoh tells the port that
/// zenoh has chosen, and another process may take a free port before zenoh listens on it.
pub fn endpoint() -> String {
    static SERIAL: AtomicU8 = AtomicU8::new(1);
    let [_, _, high, low] = std::process::id().to_be_bytes();
    let serial = SERIAL.fetch_add(1, Relaxed);
    format!("tcp/127.{serial}.{high}.{low}:7447")
}

/// Returns a port of loopback on which no process receives datagrams now.
pub fn free_udp_port() -> u16 {
    let socket = UdpSocket::bind("127.0.0.1:0").expect("a free port");
    socket.local_addr().expect("an address").port()
}

/// A session of zenoh itself, on a thread of its own, until it is dropped.
pub struct Raw {
    /// The session; it may publish and declare on any thread.
    pub session: Option<Session>,
    close: Option<mpsc::Sender<Session>>,
    thread: Option<thread::JoinHandle<()>>,
}

impl Raw {
    /// Starts a router that listens on `at`.
    pub fn router(at: &str) -> Self {
        Self::open(&json!({ "mode": "router", "listen": { "endpoints": [at] } }))
    }

    /// Starts a router that listens on `at` and is linked with the router at `other`.
    pub fn router_behind(at: &str, other: &str) -> Self {
        Self::open(&json!({
            "mode": "router",
            "listen": { "endpoints": [at] },
            "connect": { "endpoints": [other] },
        }))
    }

    /// Connects a stranger to `at`.
    pub fn stranger(at: &str) -> Self {
        Self::open(&json!({ "mode": "client", "connect": { "endpoints": [at] } }))
    }

    fn open(settings: &Value) -> Self {
        let mut settings = settings.clone();
        settings["scouting"] = json!({ "multicast": { "enabled": false } });
        let config = Config::from_json5(&settings.to_string()).expect("good settings");
        let ((ready, opened), (close, closed)) = (mpsc::channel(), mpsc::channel::<Session>());
        let thread = thread::spawn(move || {
            let session = zenoh::open(config).wait().expect("a session");
            ready
                .send(session.clone())
                .expect("the test waits for the session");
            drop(closed.recv());
            session.close().wait().expect("the session is open");
        });
        Self {
            session: Some(opened.recv_timeout(DEADLINE).expect("a session opens")),
            close: Some(close),
            thread: Some(thread),
        }
    }

    /// Publishes a payload under any key.
    pub fn publish(&self, key: &str, payload: &[u8]) {
        let session = self.session.as_ref().expect("the session is open");
        session
            .put(key, payload)
            .wait()
            .expect("the session is open");
    }
}

impl Drop for Raw {
    fn drop(&mut self) {
        if let (Some(close), Some(session)) = (self.close.take(), self.session.take()) {
            close.send(session).ok();
        }
        if let Some(thread) = self.thread.take() {
            thread.join().ok();
        }
    }
}

/// Waits until `holds` returns true.
pub async fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let waiting = async {
        while !holds() {
            actix::clock::sleep(Duration::from_millis(2)).await;
        }
    };
    timeout(DEADLINE, waiting)
        .await
        .unwrap_or_else(|_| panic!("never: {what}"));
}

/// Waits for the first event for which `find` returns a value.
pub async fn event<T>(
    mut events: impl Stream<Item = BridgeEvent> + Unpin,
    mut find: impl FnMut(BridgeEvent) -> Option<T>,
) -> T {
    let finding = async {
        loop {
            let event = events.next().await.expect("the bridge runs");
            if let Some(found) = find(event) {
                return found;
            }
        }
    };
    timeout(DEADLINE, finding)
        .await
        .expect("the event comes in time")
}

/// Runs a scene on a System of its own.
pub fn play(scene: impl Future<Output = ()>) {
    // A task of a bridge would handle a panic as a failed dial.
    panic::set_hook(Box::new(|panic| {
        eprintln!("{panic}");
        if panic.to_string().contains("Zenoh runtime") {
            HAS_PANICKED.store(true, Relaxed);
        }
    }));
    System::new().block_on(scene);
    assert!(
        !HAS_PANICKED.load(Relaxed),
        "a thread of actors called zenoh"
    );
}

static HAS_PANICKED: AtomicBool = AtomicBool::new(false);
