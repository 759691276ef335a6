//! Whole bridges with TLS over real sockets: they elect a leader, and no other process takes part.

use std::{net::SocketAddr, path::Path, time::Duration};

use actix::{System, clock::timeout};
use actix_bully::{
    Group,
    config::{Config, PeerSettings, RunError, RunningNode},
    protocol::Timings,
    remote::{
        BridgeBuilder, BridgeEvent, BridgeHandle, Farewell, Limits, Peer,
        tls::{TlsConfig, connect},
    },
};
use actix_bully_tls_tests::Authority;
use futures::{Stream, StreamExt};
use kit::{Host, Raw, bridge, hello, linked, node, play, until};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

#[path = "../../adversary/kit.rs"]
#[expect(dead_code, reason = "other scenes need more of it")]
mod kit;
#[path = "bridges/renewed.rs"]
mod renewed;

/// Longest wait of a test, in real time, because sockets have no virtual time.
const DEADLINE: Duration = Duration::from_secs(20);

impl Host {
    /// Starts a process with these peers. It dials the peers whose hosts are given.
    fn start(
        name: &str,
        peers: &[(&str, Option<&Self>)],
        with: impl FnOnce(BridgeBuilder) -> BridgeBuilder,
    ) -> Self {
        let peers = peers.iter().map(|(peer, host)| match host {
            Some(host) => Peer::new(peer, &host.at().to_string()),
            None => Peer::inbound(peer),
        });
        let bridged = with(bridge(name, &Limits::builder(), peers.collect()));
        let group = Group::new("g").expect("a good name");
        kit::host(bridged, group, name, 1, Timings::lan())
    }

    fn tls(name: &str, peers: &[(&str, Option<&Self>)], config: &TlsConfig) -> Self {
        Self::start(name, peers, |builder| builder.tls(config.clone()))
    }

    fn at(&self) -> SocketAddr {
        self.bridge.local_addr().expect("it listens")
    }

    fn follows(&self, leader: &str) -> bool {
        let found = self.agent.leader();
        found.is_some_and(|found| found.id == leader)
    }

    fn count(&self, name: &str) -> u64 {
        let count = self.bridge.counters().get(name);
        count.expect("there is such a counter")
    }
}

/// Waits until a bridge reports a refusal of this kind. Returns the reason, and the names in the certificate.
async fn refusal(
    mut events: impl Stream<Item = BridgeEvent> + Unpin,
    kind: &str,
) -> (String, Vec<String>) {
    let finding = async {
        loop {
            if let Some(BridgeEvent::Refused {
                name,
                reason,
                names,
                ..
            }) = events.next().await
                && name == kind
            {
                return (reason, names);
            }
        }
    };
    timeout(DEADLINE, finding).await.expect("it comes in time")
}

/// Starts two linked hosts that follow the agent of `b`.
async fn two(a: &TlsConfig, b: &TlsConfig) -> [Host; 2] {
    let a = Host::tls("a", &[("b", None)], a);
    let b = Host::tls("b", &[("a", Some(&a))], b);
    until("b leads", || a.follows("b1") && b.follows("b1")).await;
    [a, b]
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
        let (reason, names) = refusal(events, "auth_failed").await;
        assert_eq!(names, ["c"]);
        assert!(reason.contains("not in this node's list"), "{reason}");
        let (farewell, _) = refusal(told, "goodbye").await;
        assert!(farewell.contains("not allowed to connect"), "{farewell}");
        assert!(a.count("auth_failed") >= 1);
        assert_eq!(linked(&c.bridge, "a"), None);
        assert!(a.follows("b1") && b.follows("b1"));
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

/// The node has a good certificate of `b`, and its HELLO has the name `c`. Both are peers of `a`.
#[test]
fn a_node_that_says_hello_as_another_is_refused() {
    play(async {
        let trust = Authority::new("ours");
        let a = Host::tls("a", &[("b", None), ("c", None)], &trust.config("a"));
        let dial = async || {
            let stream = TcpStream::connect(a.at()).await.expect("it listens");
            let connected = connect(&trust.config("b"), Box::new(stream), &node("a")).await;
            Raw::over(connected.expect("a good certificate").0)
        };
        let mut raw = dial().await;
        raw.hello(hello("c")).await;
        assert_eq!(raw.ends().await, Some(Farewell::Auth));
        assert_eq!(a.count("auth_failed"), 1);
        dial().await.greet("b").await;
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
        until("b leads", || a.follows("b1") && b.follows("b1")).await;
        let link = linked(&b.bridge, "a");
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
        assert_eq!(linked(&plain.bridge, "a"), None);
        assert!(a.follows("b1") && b.follows("b1"));
        assert_eq!(linked(&b.bridge, "a"), link, "the link is the same");
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
        for (key, expected) in [
            ("a.key", "the bridge does not start, because of `tls.certificate_file`: this bridge is c, but its certificate is that of a"),
            ("none", "the files of the section `tls` cannot be used: the private key cannot be read from"),
        ] {
            wrong.tls.key_file = Some(folder.path().join(key));
            let said = wrong.start().expect_err("refused").to_string();
            assert!(said.starts_with(expected), "{said}");
        }
    });
}
