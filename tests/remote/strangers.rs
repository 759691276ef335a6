//! The nodes that are refused, and the reports of both sides: greetings, secrets, limits.

use actix::clock::sleep;
use actix_bully::{
    Group,
    agent::BullyAgent,
    group::OpenError,
    remote::{BridgeBuilder, BridgeError, BridgeEvent, Peer, RemoteBridge, transport::Pipes},
    store::MemoryStore,
    testkit::VirtualClock,
};

use super::{
    kit::{Host, MS, address, builder, group, id, play, scene, told},
    warnings::warnings,
};

/// A change of the kit's bridge.
type Set = fn(BridgeBuilder) -> BridgeBuilder;

/// One of two hosts that must not link: its settings, the name and the reason of its refusal, and the words of its
/// diagnosis.
type Side = (Set, (&'static str, &'static str), &'static str);

/// Lets `a` and `b` dial each other for five seconds, unless a host does not know the other.
async fn are_refused(row: &str, sides: [Side; 2]) {
    let pipes = Pipes::new();
    let hosts = [("a", "b"), ("b", "a")].into_iter().zip(sides);
    let hosts: Vec<_> = hosts
        .map(|((name, other), side)| {
            let bridge = (side.0)(builder(&pipes, name, &[]));
            let mut host = Host::with(|group| bridge.carry(group));
            host.agent(&format!("{name}1"), 1);
            (host.bridge.events(), host, other, side)
        })
        .collect();
    sleep(MS(5_000)).await;
    assert_eq!(pipes.connections("a", "b"), 0, "{row}");
    for (mut events, host, other, (_, (name, reason), says)) in hosts {
        let row = format!("{row}, beside {other}");
        assert!(!host.is_linked(other), "{row}");
        assert_eq!(host.group.members().len(), 1, "{row}: no agent has crossed");
        assert!(host.bridge.counters().get(name) > Some(0), "{row}");
        let dials = host.bridge.traffic().dials;
        assert!(dials < 6, "{row}: not again and again at once: {dials}");
        let told = told(&mut events);
        let is_refusal = |event: &BridgeEvent| matches!(event, BridgeEvent::Refused { name: n, reason: r, .. } if *n == name && r == reason);
        assert!(told.iter().any(is_refusal), "{row}: {told:?}");
        let diagnosis = host.agents[0].diagnosis().to_string();
        assert!(diagnosis.contains(says), "{row}: {diagnosis}");
    }
}

fn knows_a(builder: BridgeBuilder) -> BridgeBuilder {
    builder.peer(Peer::new("a", &address("a")))
}

fn knows_b(builder: BridgeBuilder) -> BridgeBuilder {
    builder.peer(Peer::new("b", &address("b")))
}

#[test]
fn a_host_of_another_cluster_is_refused_and_both_say_what_to_do() {
    let advice = "give both nodes the same cluster";
    let said = warnings("link refused", async {
        let why = ("cluster", "the peer belongs to another cluster");
        let of_other: Set = |builder| knows_a(builder).cluster("other");
        let sides: [Side; 2] = [(knows_b, why, advice), (of_other, why, advice)];
        are_refused("another cluster", sides).await;
    });
    assert!(said.len() >= 2, "{said:?}");
    assert!(said.iter().all(|line| line.contains(advice)), "{said:?}");
}

#[test]
fn a_host_that_is_no_peer_is_refused_without_detail() {
    let said = warnings("link refused", async {
        let without_detail = "the peer said goodbye: this node is not allowed to connect";
        let why = "the peer uses a name that is not in this node's list of peers";
        let a: Side = (knows_b, ("goodbye", without_detail), "b");
        are_refused(
            "no peer",
            [a, (|builder| builder, ("auth_failed", why), "")],
        )
        .await;
    });
    let names = |line: &String| line.contains("names") && line.contains("not in this node's list");
    assert!(said.iter().any(names), "{said:?}");
}

#[test]
fn a_bridge_that_dials_itself_does_so_ever_less() {
    scene(async |pipes, _| {
        // By mistake the address of the peer is the host's own address.
        let a = Host::with(|group| {
            let peer = Peer::new("b", &address("a"));
            builder(pipes, "a", &[]).peer(peer).carry(group)
        });
        sleep(MS(60_000)).await;
        let dials = a.bridge.traffic().dials;
        assert!((2..10).contains(&dials), "{dials}");
        assert!(a.bridge.counters().get("self") > Some(0));
        assert_eq!(a.bridge.peers().len(), 1);
        assert_eq!(pipes.connections("a", "a"), 0);
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
    scene(async |pipes, _| {
        let group = group();
        let other = super::kit::group();
        let refused = |builder: BridgeBuilder| builder.start().unwrap_err();
        let plain = |name| builder(pipes, name, &[]);
        assert!(matches!(refused(plain("a")), BridgeError::NoGroup));
        let named = RemoteBridge::builder("A b").carry(&group);
        assert!(matches!(refused(named), BridgeError::Node { .. }));
        let twice = plain("a").carry(&group).carry(&other);
        assert!(matches!(refused(twice), BridgeError::TwoGroups { .. }));
        let oneself = builder(pipes, "a", &["a"]).carry(&group);
        assert!(matches!(refused(oneself), BridgeError::PeerIsSelf { .. }));
        let peers = builder(pipes, "a", &["b", "b"]).carry(&group);
        assert!(matches!(refused(peers), BridgeError::PeerTaken { .. }));
        let cluster = plain("a").cluster("").carry(&group);
        assert!(matches!(refused(cluster), BridgeError::Cluster(_)));
        let folder = tempfile::tempdir().unwrap();
        let memory = folder.path().join("none").join("a");
        let forgets = plain("a").remember(&memory).carry(&group);
        assert!(matches!(refused(forgets), BridgeError::Memory { path, .. } if path == memory));
        assert!(group.members().is_closed(), "nothing was changed");

        let taken = Host::start(pipes, "a", &[]);
        let busy = plain("a").carry(&group);
        assert!(matches!(refused(busy), BridgeError::Listen { .. }));
        drop(taken);
    });
}

/// Otherwise a host could confuse the incarnations of agents, and other hosts would rely on a vote that a restart
/// forgets.
#[test]
fn agents_start_after_the_bridge() {
    scene(async |pipes, _| {
        let (early, second) = (group(), Group::new("second").unwrap());
        let agent = || BullyAgent::builder("a1").join(&early);
        let voter = agent().quorum(["a1", "b1", "c1"]);
        let voter = voter.clock(VirtualClock::new()).store(MemoryStore::new());
        let id = id("a1");
        for (agent, why) in [
            (agent(), OpenError::TooLate { id: id.clone() }),
            (voter, OpenError::Volatile { id }),
        ] {
            let agent = agent.start().unwrap();
            let late = builder(pipes, "a", &[]).carry(&second).carry(&early);
            let Err(BridgeError::Open { reason, .. }) = late.start() else {
                panic!("not refused: {why}");
            };
            assert_eq!(reason, why);
            assert!(second.members().is_closed(), "all groups or none");
            agent.leave(MS(1_000)).await.ok();
            sleep(MS(1)).await;
        }
        let bridge = builder(pipes, "a", &[]).carry(&early).start().unwrap();
        let agent = agent().start().unwrap();
        assert!(agent.current().incarnation.0 > bridge.incarnation().0);
    });
}
