//! Which nodes are refused, and what both sides are told of it: rights, greetings, limits.

use actix::clock::sleep;
use actix_bully::{
    Group,
    agent::{BullyAgent, StartError},
    group::OpenError,
    remote::{
        BridgeBuilder, BridgeError, BridgeEvent, Closed, Farewell, Limits, MayBe, NodeIncarnation,
        Peer, RemoteBridge, Rights,
        internals::wire::{Features, Frame, Hello, Versions},
        transport::{Pipes, Transport},
    },
    store::MemoryStore,
};
use bytes::BytesMut;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use super::kit::{Host, MS, address, builder, group, id, node, play, told, until};

/// A host whose bridge differs from those of `kit` as said.
fn host(
    pipes: &Pipes,
    name: &str,
    peers: &[&str],
    set: impl FnOnce(BridgeBuilder) -> BridgeBuilder,
) -> Host {
    Host::with(|group| set(builder(pipes, name, peers)).carry(group))
}

#[test]
fn another_cluster_is_refused_and_both_are_told() {
    play(async {
        let pipes = Pipes::new();
        let a = Host::start(&pipes, "a", &["b"]);
        let mut events = a.bridge.events();
        let b = host(&pipes, "b", &["a"], |b| b.cluster("other"));
        sleep(MS(5_000)).await;
        assert!(a.bridge.counters().closed(Closed::Cluster) > 0);
        let (node, from, why) = (None, "b".to_owned(), Closed::Cluster);
        assert!(told(&mut events).contains(&BridgeEvent::Refused { node, from, why }));
        assert!(
            b.bridge.counters().closed(Closed::Cluster) > 0,
            "each sees the other's"
        );
        assert!(a.bridge.traffic().dials < 6, "not again and again at once");
        assert_eq!(pipes.connections("a", "b"), 0);
    });
}

#[test]
fn a_bridge_that_dials_itself_does_so_ever_less() {
    play(async {
        let pipes = Pipes::new();
        // By mistake the peer's address is one's own.
        let a = Host::with(|group| {
            let peer = Peer::new("b", &address("a"));
            builder(&pipes, "a", &[]).peer(peer).carry(group)
        });
        sleep(MS(60_000)).await;
        let dials = a.bridge.traffic().dials;
        assert!((2..10).contains(&dials), "{dials}");
        assert!(a.bridge.counters().closed(Closed::IsSelf) > 0);
        assert_eq!(a.bridge.peers().len(), 1);
        assert_eq!(pipes.connections("a", "a"), 0);
    });
}

#[test]
fn an_unknown_node_is_refused_without_detail() {
    play(async {
        let pipes = Pipes::new();
        let a = Host::start(&pipes, "a", &["b"]);
        let mut events = a.bridge.events();
        let stranger = Host::start(&pipes, "x", &["a"]);
        let mut answers = stranger.bridge.events();
        sleep(MS(1_000)).await;
        let refused = BridgeEvent::RefusedBy {
            node: Some(node("a")),
            from: address("a"),
            why: Farewell::Auth,
        };
        assert!(told(&mut answers).contains(&refused));
        let (node, from, why) = (None, "x".to_owned(), Closed::Auth);
        assert!(told(&mut events).contains(&BridgeEvent::Refused { node, from, why }));
    });
}

#[test]
fn an_agent_beyond_the_peers_rights_ends_the_link() {
    play(async {
        let pipes = Pipes::new();
        let rights = Rights::none().grant("g", "b*", MayBe::Leader);
        let mut a = Host::with(|group| {
            let peer = Peer::new("b", &address("b")).allow(rights);
            builder(&pipes, "a", &[]).peer(peer).carry(group)
        });
        a.agent("a1", 1);
        let mut b = Host::start(&pipes, "b", &["a"]);
        b.agent("b1", 2);
        until("b1 leads", || a.follows("b1") && b.follows("b1")).await;
        let mut events = a.bridge.events();
        b.agent("c1", 3);
        until("refused", || {
            a.bridge.counters().closed(Closed::FromNotAllowed) > 0
        })
        .await;
        let refused = |event: &BridgeEvent| matches!(event, BridgeEvent::Refused { why: Closed::FromNotAllowed, node: Some(n), .. } if *n == node("b"));
        sleep(MS(1)).await;
        assert!(told(&mut events).iter().any(refused));
        assert!(a.group.members().get(&id("c1")).is_none());
        assert!(!a.is_linked("b"));
    });
}

/// Speaks the bytes of the protocol itself.
pub(crate) struct Raw(Box<dyn actix_bully::remote::transport::Stream>);

impl Raw {
    pub(crate) async fn dial(pipes: &Pipes, from: &str, to: &str) -> Self {
        Self(pipes.host(from).dial(&address(to)).await.unwrap())
    }

    pub(crate) async fn say(&mut self, bytes: &[u8]) {
        self.0.write_all(bytes).await.unwrap();
    }

    /// The body of the next frame; `None` at the end.
    pub(crate) async fn hear(&mut self) -> Option<Vec<u8>> {
        let len = self.0.read_u32().await.ok()?;
        let mut body = vec![0; usize::try_from(len).unwrap()];
        self.0.read_exact(&mut body).await.ok()?;
        Some(body)
    }
}

pub(crate) fn hello(name: &str, versions: Versions) -> BytesMut {
    let mut out = BytesMut::new();
    Hello {
        versions,
        cluster: actix_bully::remote::ClusterId::new("test").unwrap(),
        node: node(name),
        incarnation: NodeIncarnation(1),
        nonce: actix_bully::remote::internals::Nonce([3; 8]),
        frame: 64 * 1024,
        features: Features::default(),
        required: Features::default(),
    }
    .encode(&mut out);
    out
}

#[test]
fn a_version_that_is_not_spoken_here_gets_a_goodbye() {
    play(async {
        let pipes = Pipes::new();
        let a = Host::start(&pipes, "a", &["b"]);
        sleep(MS(1)).await;
        let mut raw = Raw::dial(&pipes, "b", "a").await;
        raw.say(&hello("b", Versions { min: 7, max: 9 })).await;
        let bounds = Limits::default().bounds();
        let first = raw.hear().await.unwrap();
        assert!(matches!(Frame::decode(&first, bounds), Ok(Frame::Hello(_))));
        let second = raw.hear().await.unwrap();
        let why = Farewell::Version;
        assert_eq!(Frame::decode(&second, bounds), Ok(Frame::Goodbye { why }));
        assert_eq!(raw.hear().await, None);
        assert_eq!(a.bridge.counters().closed(Closed::Version), 1);
    });
}

#[test]
fn a_silent_connection_is_not_waited_for() {
    play(async {
        let pipes = Pipes::new();
        let a = Host::start(&pipes, "a", &[]);
        sleep(MS(1)).await;
        let mut silent = Vec::new();
        for _ in 0..9 {
            silent.push(Raw::dial(&pipes, "x", "a").await);
        }
        sleep(MS(1)).await;
        let full = a.bridge.counters().closed(Closed::TooManyConnections);
        assert_eq!(full, 1, "eight of one address that are not known");
        sleep(MS(590)).await;
        assert_eq!(a.bridge.counters().closed(Closed::HandshakeTimeout), 0);
        sleep(MS(20)).await;
        assert_eq!(a.bridge.counters().closed(Closed::HandshakeTimeout), 8);
        let mut later = Raw::dial(&pipes, "x", "a").await;
        assert!(later.hear().await.is_some(), "there is room again");
    });
}

#[test]
fn garbage_is_counted_and_closed() {
    play(async {
        let pipes = Pipes::new();
        let a = Host::start(&pipes, "a", &[]);
        sleep(MS(1)).await;
        let mut raw = Raw::dial(&pipes, "x", "a").await;
        raw.say(b"GET / HTTP/1.1\r\n\r\n").await;
        sleep(MS(1)).await;
        let too_large = Closed::FrameTooLarge { len: 0, max: 0 };
        assert_eq!(a.bridge.counters().closed(too_large), 1);
    });
}

#[test]
fn plain_text_stays_on_this_host_unless_it_is_called_dangerous() {
    play(async {
        let group = group();
        let refused = |builder: BridgeBuilder| builder.carry(&group).start().unwrap_err();
        let listening = RemoteBridge::builder("a").listen("0.0.0.0:0");
        assert!(matches!(refused(listening), BridgeError::Plaintext { .. }));
        let dialling = RemoteBridge::builder("a").peer(Peer::new("b", "host-b:7400"));
        assert!(matches!(refused(dialling), BridgeError::Plaintext { .. }));
    });
}

#[test]
fn an_invalid_bridge_is_refused_before_anything_changes() {
    play(async {
        let pipes = Pipes::new();
        let group = group();
        let other = super::kit::group();
        let refused = |builder: BridgeBuilder| builder.start().unwrap_err();
        let plain = |name| builder(&pipes, name, &[]);
        assert!(matches!(refused(plain("a")), BridgeError::NoGroup));
        let named = RemoteBridge::builder("A b").carry(&group);
        assert!(matches!(refused(named), BridgeError::Node { .. }));
        let twice = plain("a").carry(&group).carry(&other);
        assert!(matches!(refused(twice), BridgeError::TwoGroups { .. }));
        let oneself = builder(&pipes, "a", &["a"]).carry(&group);
        assert!(matches!(refused(oneself), BridgeError::PeerIsSelf { .. }));
        let peers = builder(&pipes, "a", &["b", "b"]).carry(&group);
        assert!(matches!(refused(peers), BridgeError::PeerTaken { .. }));
        let cluster = plain("a").cluster("").carry(&group);
        assert!(matches!(refused(cluster), BridgeError::Cluster(_)));
        assert!(group.members().is_closed(), "nothing was changed");

        let taken = Host::start(&pipes, "a", &[]);
        let busy = plain("a").carry(&group);
        assert!(matches!(refused(busy), BridgeError::Listen { .. }));
        drop(taken);
    });
}

#[test]
fn agents_start_after_the_bridge() {
    play(async {
        let pipes = Pipes::new();
        let (early, second): (Group, Group) = (group(), Group::new("second").unwrap());
        let agent = BullyAgent::builder("a1").join(&early).start().unwrap();
        let late = builder(&pipes, "a", &[]).carry(&second).carry(&early);
        let Err(BridgeError::Open { reason, .. }) = late.start() else {
            panic!("the incarnations of a1 could be mistaken");
        };
        assert_eq!(reason, OpenError::TooLate { id: id("a1") });
        assert!(second.members().is_closed(), "all groups or none");
        agent.leave(MS(1_000)).await.unwrap();
        sleep(MS(1)).await;
        let bridge = builder(&pipes, "a", &[]).carry(&early).start().unwrap();
        let incarnation = |agent: &actix_bully::agent::BullyHandle| agent.current().incarnation.0;
        let agent = BullyAgent::builder("a1").join(&early).start().unwrap();
        assert!(incarnation(&agent) > bridge.incarnation().0);
    });
}

#[test]
fn a_vote_that_is_kept_in_memory_is_not_for_other_hosts() {
    play(async {
        let pipes = Pipes::new();
        let group = group();
        let voter = || {
            let voter = BullyAgent::builder("a1").quorum(["a1", "b1", "c1"]);
            let clock = actix_bully::testkit::VirtualClock::new();
            voter.clock(clock).store(MemoryStore::new()).join(&group)
        };
        // The agent first: the bridge is refused.
        let agent = voter().start().unwrap();
        let Err(BridgeError::Open { reason, .. }) = builder(&pipes, "a", &[]).carry(&group).start()
        else {
            panic!("others would rely on it");
        };
        assert_eq!(reason, OpenError::Volatile { id: id("a1") });
        agent.leave(MS(1_000)).await.ok();
        sleep(MS(1)).await;
        // The bridge first: the agent is.
        let _bridge = builder(&pipes, "a", &[]).carry(&group).start().unwrap();
        assert!(matches!(voter().start(), Err(StartError::VolatileStore)));
    });
}
