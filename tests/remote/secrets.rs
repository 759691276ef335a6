//! A secret that all hosts share: which are linked, which are refused, and what a stranger can do without.

use actix::clock::sleep;
use actix_bully::{
    agent::BullyHandle,
    protocol::{Incarnation, MemberKind, Presence},
    remote::{
        BridgeEvent, Closed, Farewell, Limits, LinkId, NodeIncarnation, Peer, SecretFault,
        internals::wire::{
            Allowance, Frame, Hello, LinkConditions, RosterContent, RosterFrame, Versions,
            encode_ready,
        },
        secret::Secret,
        transport::Pipes,
    },
};
use bully_core::protocol::Member;
use bytes::BytesMut;

use super::{
    kit::{Host, MS, address, builder, id, node, play, told, until},
    strangers::{Raw, hello},
    voters::voter,
};

fn secret(word: u8) -> Secret {
    Secret::new([word; 32]).unwrap()
}

/// A host with a secret, or with none.
fn host(pipes: &Pipes, name: &str, peers: &[&str], secret: Option<Secret>) -> Host {
    Host::with(|group| {
        let builder = builder(pipes, name, peers).carry(group);
        match secret {
            Some(secret) => builder.secret(secret),
            None => builder,
        }
    })
}

#[test]
fn hosts_that_share_a_secret_elect_together() {
    play(async {
        let pipes = Pipes::new();
        let mut a = host(&pipes, "a", &["b"], Some(secret(1)));
        let mut b = host(&pipes, "b", &["a"], Some(secret(1)));
        a.agent("a1", 1);
        b.agent("b1", 2);
        until("b1 leads", || a.follows("b1") && b.follows("b1")).await;
    });
}

/// What two hosts count and tell in a second, of which `a` dials and `b` listens.
async fn refusals(a: Option<Secret>, b: Option<Secret>) -> [(u64, Vec<BridgeEvent>); 2] {
    let pipes = Pipes::new();
    let b = Host::with(|group| {
        let builder = builder(&pipes, "b", &[]).peer(Peer::inbound("a"));
        let builder = builder.carry(group);
        match b {
            Some(secret) => builder.secret(secret),
            None => builder,
        }
    });
    let a = host(&pipes, "a", &["b"], a);
    let mut events = [a.bridge.events(), b.bridge.events()];
    sleep(MS(1_000)).await;
    assert!(!a.is_linked("b") && !b.is_linked("a"));
    assert!(a.group.members().is_empty() && b.group.members().is_empty());
    let fault = Closed::Secret(SecretFault::Unproved); // all faults are counted under one name
    let counted = [&a, &b].map(|host| host.bridge.counters().closed(fault));
    let mut told = events.each_mut().map(told);
    [
        (counted[0], std::mem::take(&mut told[0])),
        (counted[1], std::mem::take(&mut told[1])),
    ]
}

#[test]
fn a_host_without_a_secret_is_refused_and_refuses() {
    play(async {
        let (with, absent) = (Some(secret(1)), None);
        for (a, b, why_a, why_b) in [
            (
                with.clone(),
                absent.clone(),
                SecretFault::NotThere,
                SecretFault::NotHere,
            ),
            (absent, with, SecretFault::NotHere, SecretFault::NotThere),
        ] {
            let [(by_a, told_a), (by_b, told_b)] = refusals(a, b).await;
            assert!(by_a > 0 && by_b > 0, "{by_a} {by_b}");
            let (node, from, why) = (Some(node("b")), address("b"), Closed::Secret(why_a));
            assert!(
                told_a.contains(&BridgeEvent::Refused { node, from, why }),
                "{told_a:?}"
            );
            let (node, from, why) = (None, "a".to_owned(), Closed::Secret(why_b));
            assert!(
                told_b.contains(&BridgeEvent::Refused { node, from, why }),
                "{told_b:?}"
            );
        }
    });
}

#[test]
fn a_host_with_another_secret_is_refused_and_told_so() {
    play(async {
        let [(_, told_a), (by_b, told_b)] = refusals(Some(secret(1)), Some(secret(2))).await;
        assert!(by_b > 0);
        let refused = BridgeEvent::RefusedBy {
            node: Some(node("b")),
            from: address("b"),
            why: Farewell::Secret,
        };
        assert!(told_a.contains(&refused), "{told_a:?}");
        let unproven = BridgeEvent::Unproven {
            node: None,
            from: "a".to_owned(),
            reason: "it does not know the secret",
            names: Vec::new(),
        };
        assert!(told_b.contains(&unproven), "{told_b:?}");
    });
}

/// Each host in its turn: first all accept both secrets, then the new one only.
#[test]
fn a_secret_is_changed_host_by_host_while_the_others_are_linked() {
    play(async {
        let pipes = Pipes::new();
        let (old, new) = (secret(1), secret(2));
        let both = new.clone().also_accept(old.clone());
        let start = |name: &str, incarnation, secret: &Secret| {
            let others = ["a", "b", "c"].into_iter().filter(|other| *other != name);
            let others: Vec<_> = others.collect();
            let mut host = Host::with(|group| {
                let builder = builder(&pipes, name, &others);
                let builder = builder.incarnation(NodeIncarnation(incarnation));
                builder.secret(secret.clone()).carry(group)
            });
            host.agent(&format!("{name}1"), 1);
            host
        };
        let all_linked = |hosts: &[Host]| {
            hosts.iter().all(|host| {
                let others = hosts
                    .iter()
                    .filter(|other| other.bridge.node() != host.bridge.node());
                others
                    .into_iter()
                    .all(|other| host.is_linked(other.bridge.node().as_str()))
            })
        };
        let mut hosts: Vec<_> = ["a", "b", "c"].map(|name| start(name, 1_000, &old)).into();
        until("linked", || all_linked(&hosts)).await;
        for (round, secret) in (1..).zip([&both, &new]) {
            for at in 0..3 {
                let name = ["a", "b", "c"][at];
                hosts.remove(at).stop().await;
                hosts.insert(at, start(name, 1_000 + round, secret));
                until("linked again", || all_linked(&hosts)).await;
            }
        }
        hosts.remove(1).stop().await;
        let late = start("b", 2_000, &old);
        sleep(MS(500)).await;
        assert!(
            !late.is_linked("a") && !late.is_linked("c"),
            "the old one is over"
        );
    });
}

/// Says to the host at `to` that it is `c`, and that this incarnation of the agent `c1` has ended.
async fn forge(pipes: &Pipes, to: &str, incarnation: Incarnation) -> Option<Raw> {
    let bounds = Limits::default().bounds();
    let mut raw = Raw::dial(pipes, "x", to).await;
    let honest = hello("c", Versions::OURS);
    let mine = Hello::decode(&honest[4..], bounds).ok()?;
    let mine = Hello {
        incarnation: NodeIncarnation(1_001),
        ..mine
    };
    let mut said = BytesMut::new();
    mine.encode(&mut said);
    let theirs = Hello::decode(&raw.hear().await?, bounds).ok()?;
    let link = LinkId::between((&theirs.node, theirs.nonce), (&mine.node, mine.nonce));
    LinkConditions {
        challenge: None,
        allowance: Allowance::of(&Limits::default()),
        end: None,
    }
    .encode(&mut said);
    encode_ready(link, &mut said);
    raw.say(&said).await;
    // It opens the group as the other side does.
    let mut forged = BytesMut::new();
    while forged.is_empty() {
        let body = raw.hear().await?;
        if let Ok(Frame::Roster(roster)) = Frame::decode(&body, bounds) {
            let mut member = Member::up(id("c1"), MemberKind::Voter, Some(3.into()), incarnation);
            (member.presence, member.ends) = (Presence::Down, [incarnation].into_iter().collect());
            let content = RosterContent {
                members: vec![(0, member)],
                ..RosterContent::default()
            };
            RosterFrame::encode(1, 0, roster.opening, &content, &mut forged);
        }
    }
    raw.say(&forged).await;
    Some(raw)
}

/// Three voters whose leader `c1` is said to have ended; how many believe at once that they lead.
async fn believers_after_a_forged_end(secret: Option<Secret>) -> (usize, u64) {
    let folder = tempfile::tempdir().unwrap();
    let pipes = Pipes::new();
    let [a, b, c] = ["a", "b", "c"].map(|name| {
        let others = ["a", "b", "c"].into_iter().filter(|other| *other != name);
        let others: Vec<_> = others.collect();
        let mut host = host(&pipes, name, &others, secret.clone());
        voter(&mut host, &format!("{name}1"), folder.path());
        host
    });
    let agents: Vec<BullyHandle> = [&a, &b, &c].map(|host| host.agents[0].clone()).into();
    let leads = |agent: &&BullyHandle| agent.is_leader();
    until("c1 leads", || agents[2].is_leader()).await;
    until("all know", || a.follows("c1") && b.follows("c1")).await;
    sleep(MS(500)).await;
    let incarnation = agents[2].current().incarnation;
    let forged = [
        forge(&pipes, "a", incarnation).await,
        forge(&pipes, "b", incarnation).await,
    ];
    let mut most = 0;
    for _ in 0..1_000 {
        most = most.max(agents.iter().filter(leads).count());
        sleep(MS(1)).await;
    }
    drop(forged);
    let fault = Closed::Secret(SecretFault::NotThere);
    let counted = [&a, &b].map(|host| host.bridge.counters().closed(fault));
    (most, counted.iter().sum())
}

/// The one promise of the quorum mode that depends on which nodes its peers are.
#[test]
fn a_forged_end_gives_two_believers_only_where_peers_prove_nothing() {
    play(async {
        let (most, _) = believers_after_a_forged_end(None).await;
        assert_eq!(most, 2, "as documented: any local user can do this");
        let (most, counted) = believers_after_a_forged_end(Some(secret(1))).await;
        assert_eq!((most, counted), (1, 2));
    });
}
