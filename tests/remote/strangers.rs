//! The nodes that are refused, and the reports of both sides: greetings, secrets, limits.

use actix::clock::sleep;
use actix_bully::{
    Group,
    agent::BullyAgent,
    group::OpenError,
    remote::{
        BridgeBuilder, BridgeError, BridgeEvent, NodeId, Peer, RemoteBridge, transport::Pipes,
    },
    store::MemoryStore,
    testkit::VirtualClock,
};

use super::{
    kit::{Host, MS, address, builder, group, id, node, play, scene, told},
    warnings::warnings,
};

#[cfg(feature = "secret")]
pub(super) fn secret(word: u8) -> actix_bully::remote::secret::Secret {
    actix_bully::remote::secret::Secret::new([word; 32]).unwrap()
}

/// A change of the kit's bridge.
type Set = fn(BridgeBuilder) -> BridgeBuilder;

/// One of two hosts that must not link: its settings, the counter that moves, its events, and the words of its
/// diagnosis.
struct Side {
    set: Set,
    counts: &'static str,
    tells: Vec<BridgeEvent>,
    says: &'static [&'static str],
}

impl Side {
    fn new(
        set: Set,
        counts: &'static str,
        tells: impl Into<Vec<BridgeEvent>>,
        says: &'static [&'static str],
    ) -> Self {
        let tells = tells.into();
        Self {
            set,
            counts,
            tells,
            says,
        }
    }
}

fn refuses(from: &str, node: Option<NodeId>, (name, reason): (&'static str, &str)) -> BridgeEvent {
    BridgeEvent::Refused {
        node,
        from: from.to_owned(),
        name,
        reason: reason.to_owned(),
        names: Vec::new(),
    }
}

/// Returns the event at `a` after `b` has refused `a` with this reason.
fn refused_by_b(why: &str) -> BridgeEvent {
    let said = format!("the peer said goodbye: {why}");
    refuses(&address("b"), Some(node("b")), ("goodbye", &said))
}

/// Lets two hosts dial each other for five seconds, unless a host does not know the other.
async fn are_refused(row: &str, [at_a, at_b]: [Side; 2]) {
    let pipes = Pipes::new();
    let start = |name: &str, side: &Side| {
        let bridge = (side.set)(builder(&pipes, name, &[]));
        let mut host = Host::with(|group| bridge.carry(group));
        let events = host.bridge.events();
        host.agent(&format!("{name}1"), 1);
        (host, events)
    };
    let sides = [("a", "b", at_a), ("b", "a", at_b)];
    let mut hosts = sides.each_ref().map(|(name, _, side)| start(name, side));
    sleep(MS(5_000)).await;
    assert_eq!(pipes.connections("a", "b"), 0, "{row}");
    for ((host, events), (name, other, side)) in hosts.iter_mut().zip(sides) {
        let row = format!("{row}, at {name}");
        assert!(!host.is_linked(other), "{row}");
        assert_eq!(host.group.members().len(), 1, "{row}: no agent has crossed");
        assert!(host.bridge.counters().get(side.counts) > Some(0), "{row}");
        let dials = host.bridge.traffic().dials;
        assert!(dials < 6, "{row}: not again and again at once: {dials}");
        let told = told(events);
        for event in side.tells {
            assert!(told.contains(&event), "{row}: {told:?}");
        }
        let diagnosis = host.agents[0].diagnosis().to_string();
        for words in side.says {
            assert!(diagnosis.contains(words), "{row}: {diagnosis}");
        }
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
    let said = warnings("link refused", async {
        let why = ("cluster", "the peer belongs to another cluster");
        let says = &["another cluster", "give both nodes the same cluster"];
        let side = |set, from| Side::new(set, "cluster", [refuses(from, None, why)], says);
        let of_other: Set = |builder| knows_a(builder).cluster("other");
        are_refused("another cluster", [side(knows_b, "b"), side(of_other, "a")]).await;
    });
    let advice = "give both nodes the same cluster";
    assert!(said.len() >= 2, "{said:?}");
    assert!(said.iter().all(|line| line.contains(advice)), "{said:?}");
}

#[test]
fn a_host_that_is_no_peer_is_refused_without_detail() {
    let said = warnings("link refused", async {
        let told = [refused_by_b("this node is not allowed to connect")];
        let a = Side::new(knows_b, "goodbye", told, &["b"]);
        let why = "the peer uses a name that is not in this node's list of peers";
        let mut tells = refuses("a", None, ("auth_failed", why));
        if let BridgeEvent::Refused { names, .. } = &mut tells {
            *names = vec!["a".to_owned()];
        }
        let b = Side::new(|builder| builder, "auth_failed", [tells], &[]);
        are_refused("no peer", [a, b]).await;
    });
    let names = |line: &String| line.contains("names") && line.contains("not in this node's list");
    assert!(said.iter().any(names), "{said:?}");
}

#[cfg(feature = "secret")]
#[test]
fn a_host_without_the_secret_or_with_another_one_is_refused_and_each_says_which_of_them_has_none() {
    let without: [Set; 2] = [knows_b, knows_a];
    let with: [Set; 2] = [
        |builder| knows_b(builder).secret(secret(1)),
        |builder| knows_a(builder).secret(secret(1)),
    ];
    let has: (_, &[&str]) = (
        "the peer has no secret, and this node has one",
        &["give the peer the secret of this node"],
    );
    let has_none: (_, &[&str]) = (
        "the peer asks for a secret, and this node has none",
        &["give this node the secret of the peer"],
    );
    for (row, [a, b], [of_a, of_b]) in [
        ("a alone has one", [with[0], without[1]], [has, has_none]),
        ("b alone has one", [without[0], with[1]], [has_none, has]),
    ] {
        let side = |set, (why, says), from: &str, node| {
            let tells = [refuses(from, node, ("secret", why))];
            Side::new(set, "secret", tells, says)
        };
        let at_a = side(a, of_a, &address("b"), Some(node("b")));
        let at_b = side(b, of_b, "a", None);
        play(are_refused(row, [at_a, at_b]));
    }
    // The two secrets differ. Only the listener can notice that.
    let told = [refused_by_b("the two sides do not know the same secret")];
    let at_a = Side::new(with[0], "goodbye", told, &["secret"]);
    let why = "the peer did not prove that it knows the secret of this node";
    let unproven = refuses("a", None, ("secret", why));
    let other: Set = |builder| knows_a(builder).secret(secret(2));
    let at_b = Side::new(other, "secret", [unproven], &["secret"]);
    play(are_refused("another secret", [at_a, at_b]));
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
