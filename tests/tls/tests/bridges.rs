//! Whole bridges with TLS over real sockets: they elect a leader, and no other process takes part.

use std::{future::Future, net::SocketAddr, path::Path, time::Duration};

use actix::{System, clock::timeout};
use actix_bully::{
    Group,
    agent::{BullyAgent, BullyHandle},
    config::{Config, PeerSettings, RunError, RunningNode},
    protocol::{Time, Timings},
    remote::{
        BridgeBuilder, BridgeEvent, BridgeHandle, ClusterId, Limits, LinkStatus, NodeIncarnation,
        Peer, RemoteBridge,
        internals::{
            Acquaintance, Handshake, Introduction, Nonce,
            wire::{Frames, Hello},
        },
        tls::{TlsConfig, connect},
    },
};
use actix_bully_tls_tests::{
    Authority,
    ends::{End, node},
};
use bytes::BytesMut;
use futures::{Stream, StreamExt};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

#[path = "bridges/renewed.rs"]
mod renewed;

/// Longest wait of a test, in real time, because sockets have no virtual time.
const DEADLINE: Duration = Duration::from_secs(20);

/// One process.
struct Host {
    bridge: BridgeHandle,
    agent: BullyHandle,
}

impl Host {
    /// Starts a process, whose agent has the name of its node.
    fn start(
        name: &str,
        peers: &[(&str, Option<&Self>)],
        with: impl FnOnce(BridgeBuilder) -> BridgeBuilder,
    ) -> Self {
        let group = Group::new("g").expect("a good name");
        let bridge = with(builder(name, peers))
            .carry(&group)
            .start()
            .expect("a good bridge");
        let agent = BullyAgent::builder(name)
            .timings(Timings::lan())
            .join(&group)
            .start()
            .expect("a good agent");
        Self { bridge, agent }
    }

    fn tls(name: &str, peers: &[(&str, Option<&Self>)], config: &TlsConfig) -> Self {
        Self::start(name, peers, |builder| builder.tls(config.clone()))
    }

    fn at(&self) -> SocketAddr {
        self.bridge.local_addr().expect("it listens")
    }

    fn follows(&self, leader: &str) -> bool {
        let found = self.agent.leader();
        found.is_some_and(|found| found.id.as_str() == leader)
    }

    fn is_linked(&self) -> bool {
        let peers = self.bridge.peers();
        let is_linked = |link: &LinkStatus| matches!(link, LinkStatus::Linked { .. });
        peers.iter().all(|peer| is_linked(&peer.link))
    }

    fn count(&self, name: &str) -> u64 {
        let count = self.bridge.counters().get(name);
        count.expect("there is such a counter")
    }
}

fn builder(name: &str, peers: &[(&str, Option<&Host>)]) -> BridgeBuilder {
    let builder = RemoteBridge::builder(name).listen("127.0.0.1:0");
    peers.iter().fold(builder, |builder, (peer, host)| {
        builder.peer(match host {
            Some(host) => Peer::new(peer, &host.at().to_string()),
            None => Peer::inbound(peer),
        })
    })
}

async fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let waiting = async {
        while !holds() {
            actix::clock::sleep(Duration::from_millis(2)).await;
        }
    };
    timeout(DEADLINE, waiting)
        .await
        .unwrap_or_else(|_| panic!("never: {what}"));
}

/// Waits for the first event for which `find` returns a value. Returns this value.
async fn event<T>(
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

/// Waits until a listener reports a refused certificate. Returns the reason and the names in the certificate.
async fn unproven(events: impl Stream<Item = BridgeEvent> + Unpin) -> (String, Vec<String>) {
    event(events, |event| match event {
        BridgeEvent::Refused {
            name: "auth_failed",
            reason,
            names,
            from,
            ..
        } => {
            assert_eq!(from, "127.0.0.1");
            Some((reason, names))
        }
        _ => None,
    })
    .await
}

/// Starts two linked hosts that follow `b`.
async fn two(a: &TlsConfig, b: &TlsConfig) -> [Host; 2] {
    let a = Host::tls("a", &[("b", None)], a);
    let b = Host::tls("b", &[("a", Some(&a))], b);
    until("b leads", || a.follows("b") && b.follows("b")).await;
    [a, b]
}

fn play(scene: impl Future<Output = ()>) {
    System::new().block_on(scene);
}

/// The refused node learns the reason, and the listener's event has the names of its certificate.
#[test]
fn a_node_that_is_no_peer_is_told_goodbye() {
    play(async {
        let trust = Authority::new("ours");
        let [a, b] = two(&trust.config("a"), &trust.config("b")).await;
        let events = a.bridge.events();
        let c = Host::tls("c", &[("a", Some(&a))], &trust.config("c"));
        let told = c.bridge.events();
        let (reason, names) = unproven(events).await;
        assert_eq!(names, ["c"]);
        assert!(reason.contains("not in this node's list"), "{reason}");
        let farewell = event(told, |event| match event {
            BridgeEvent::Refused {
                name: "goodbye",
                reason,
                ..
            } => Some(reason),
            _ => None,
        });
        assert!(farewell.await.contains("not allowed to connect"));
        assert!(a.count("auth_failed") >= 1);
        assert!(!c.is_linked() && a.follows("b") && b.follows("b"));
    });
}

/// Waits until the diagnosis of a host whose peer is not linked contains both parts.
async fn says(what: &str, host: &Host, parts: [&str; 2]) {
    let told = || host.agent.diagnosis().to_string();
    until(what, || parts.iter().all(|part| told().contains(part))).await;
}

#[test]
fn a_diagnosis_names_another_authority_and_what_to_do() {
    play(async {
        let (trust, other) = (Authority::new("ours"), Authority::new("theirs"));
        let a = Host::tls("a", &[("b", None)], &trust.config("a"));
        let b = Host::tls("b", &[("a", Some(&a))], &other.config("b"));
        let parts = [
            "the peer's certificate is of an authority that this node does not trust",
            "let this node trust the authority of the peer's certificate",
        ];
        says("b does not trust a", &b, parts).await;
        let both = other
            .builder(&other.node("c"))
            .authorities_pem(trust.pem.clone() + &other.pem);
        let c = Host::tls("c", &[("a", Some(&a))], &both.build().expect("good"));
        let parts = [
            "the peer does not trust the authority of this node's certificate",
            "let the peer trust the authority of this node's certificate",
        ];
        says("a does not trust c", &c, parts).await;
    });
}

/// Greets `a` as the node `name` over a given connection. An error is the reason why the link was closed.
async fn hello(mut stream: End, name: &str) -> Result<(), String> {
    let cluster = ClusterId::new("default").expect("a good name");
    let me = Introduction::new(node(name), cluster, NodeIncarnation(1));
    let (limits, now, mut out) = (Limits::default(), Time::ZERO, BytesMut::new());
    let mut frames = Frames::new(&limits);
    let mut hands = Handshake::begin(me, Nonce([7; 8]), Some(node("a")), &limits, now, &mut out);
    let every_node = |_: &Hello| Some(Acquaintance::default());
    loop {
        stream.write_all(&out).await.expect("open");
        stream.flush().await.expect("open");
        out.clear();
        if let Some(body) = frames.next(now).map_err(|why| why.to_string())? {
            let progress = hands.receive(now, body, every_node, &mut out);
            let progress = progress.map_err(|why| why.to_string())?;
            if progress.is_some() {
                return Ok(());
            }
        } else if stream.read_buf(frames.room()).await.expect("open") == 0 {
            return Err("the connection ended".to_owned());
        }
    }
}

/// The node has a good certificate of `b`, and its HELLO has the name `c`. Both are peers of `a`.
#[test]
fn a_node_that_says_hello_as_another_is_refused() {
    play(async {
        let trust = Authority::new("ours");
        let a = Host::tls("a", &[("b", None), ("c", None)], &trust.config("a"));
        let refused = "the peer said goodbye: this node is not allowed to connect";
        for (name, expected) in [("c", Err(refused.to_owned())), ("b", Ok(()))] {
            let stream = TcpStream::connect(a.at()).await.expect("it listens");
            let (config, stream) = (trust.config("b"), Box::new(stream));
            let connected = connect(&config, stream, &node("a")).await;
            let (stream, _) = connected.expect("a good certificate");
            let answered = timeout(DEADLINE, hello(stream, name)).await;
            assert_eq!(answered.expect("in time"), expected, "{name}");
        }
        assert_eq!(a.count("auth_failed"), 1);
    });
}

/// A stranger may send no TLS, send nothing, or have no certificate. None of them disturbs a linked node.
#[test]
fn strangers_on_the_port_are_counted_and_nothing_else() {
    play(async {
        let trust = Authority::new("ours");
        let limits = Limits::builder()
            .handshake(Duration::from_millis(300))
            .build();
        let limits = limits.expect("within the ranges");
        let with = |builder: BridgeBuilder| builder.tls(trust.config("a")).limits(limits);
        let a = Host::start("a", &[("b", None)], with);
        let b = Host::tls("b", &[("a", Some(&a))], &trust.config("b"));
        until("b leads", || a.follows("b") && b.follows("b")).await;
        let link = || {
            b.bridge
                .peers()
                .into_iter()
                .map(|peer| (peer.node, peer.link))
        };
        let links: Vec<_> = link().collect();
        for (said, counter) in [
            (b"GET / HTTP/1.1\r\n\r\n".as_slice(), "tls"),
            (b"\xff\xfe\xfd\xfc and more noise that is no record", "tls"),
            (b"", "handshake_timeout"),
            (b"\x16\x03\x01", "handshake_timeout"),
        ] {
            let before = a.count(counter);
            let mut stranger = TcpStream::connect(a.at()).await.expect("it listens");
            stranger.write_all(said).await.expect("open");
            let mut heard = Vec::new();
            let ended = timeout(DEADLINE, stranger.read_to_end(&mut heard)).await;
            assert!(ended.is_ok(), "it is closed");
            assert!(heard.len() <= 7, "an alert at most: {heard:?}");
            until(counter, || a.count(counter) > before).await;
        }
        // A bridge without TLS is also a stranger to a bridge with TLS, and the other way round.
        let before = a.count("tls");
        let plain = Host::start("b", &[("a", Some(&a))], |builder| builder);
        until("plain text is refused", || a.count("tls") > before).await;
        assert!(!plain.is_linked());
        assert!(a.follows("b") && b.follows("b"));
        assert!(link().eq(links), "the link is the same");
    });
}

/// Starts a node from its configuration. Its certificates are in files of this folder.
fn configured(
    name: &str,
    authority: &Authority,
    folder: &Path,
    peer: PeerSettings,
) -> Result<RunningNode, RunError> {
    let leaf = authority.node(name);
    let write = |file: String, pem: &str| {
        let path = folder.join(file);
        std::fs::write(&path, pem).expect("a file can be written");
        path
    };
    let mut config = Config::new(name, "jobs");
    config.listen = Some("127.0.0.1:0".to_owned());
    config.tls.authorities_file = Some(write("ca.pem".to_owned(), &authority.pem));
    config.tls.certificate_file = Some(write(format!("{name}.pem"), &leaf.certificate));
    config.tls.key_file = Some(write(format!("{name}.key"), &leaf.key));
    config.score = i64::from(name.as_bytes()[0]).into();
    config.peers = vec![peer];
    config.start()
}

#[test]
fn nodes_whose_configuration_names_certificates_elect_together() {
    System::new().block_on(async {
        let authority = Authority::new("ours");
        let folder = tempfile::tempdir().expect("a folder can be made");
        let inbound = PeerSettings::inbound("b");
        let a = configured("a", &authority, folder.path(), inbound).expect("it starts");
        let at = a.bridge().and_then(BridgeHandle::local_addr);
        let at = at.expect("it listens").to_string();
        let b = configured("b", &authority, folder.path(), PeerSettings::new("a", &at));
        let b = b.expect("it starts");
        let followed = async {
            while a.agent().leader().is_none_or(|leader| leader.id != "b") {
                actix::clock::sleep(Duration::from_millis(2)).await;
            }
        };
        timeout(DEADLINE, followed).await.expect("a follows b, by way of TLS");
        let tls = a.tls().expect("it has certificates");
        assert_eq!(tls.node().as_str(), "a");
        tls.reload().expect("the files are there");
        b.leave(DEADLINE).await.expect("it leaves");
        assert!(a.agent().wait_for_leader(DEADLINE).await.is_ok_and(|leader| leader.id == "a"));

        let mut wrong = Config::new("c", "jobs");
        wrong.listen = Some("127.0.0.1:0".to_owned());
        wrong.tls.authorities_file = Some(folder.path().join("ca.pem"));
        wrong.tls.certificate_file = Some(folder.path().join("a.pem"));
        wrong.tls.key_file = Some(folder.path().join("a.key"));
        let said = wrong.start().expect_err("that is the certificate of another node").to_string();
        let expected = "the bridge does not start, because of `tls.certificate_file`: this bridge is c, but its certificate is that of a";
        assert!(said.starts_with(expected), "{said}");
        wrong.tls.key_file = Some(folder.path().join("none"));
        let said = wrong.start().expect_err("there is no such file").to_string();
        assert!(said.starts_with("the files of the section `tls` cannot be used: the private key cannot be read from"), "{said}");
    });
}
