//! A group that is upgraded host by host, and back: hosts of release 0.1's version of the wire beside those of
//! this one. Here they are this release's code, told to speak version 1 alone; what release 0.1 sent is kept in
//! `src/remote/wire/tests`.

use std::path::Path;

use actix::clock::{Instant, sleep};
use actix_bully::{
    agent::Finding,
    elections::{bully::Preemption, quorum::QuorumConfig},
    protocol::Timings,
    remote::{
        Closed, DropReason, NodeIncarnation, Peer, internals::wire::Versions, transport::Pipes,
    },
};

use super::{
    kit::{Host, MS, address, builder, id, play, until},
    voters::{VOTERS, believer, others},
};

const FIRST: Versions = Versions { min: 1, max: 1 };

/// What an operator says of the timings of peers that cannot say it themselves.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Timing {
    Unknown,
    Equal,
}

/// A host with its voter; its record survives the host.
fn host(
    pipes: &Pipes,
    name: &'static str,
    (versions, incarnation): (Versions, u64),
    timing: Timing,
    (timings, folder): (&Timings, &Path),
) -> Host {
    let mut host = Host::with(|group| {
        let bridge = builder(pipes, name, &[]).versions(versions);
        let peers = others(name).into_iter().map(|peer| {
            let peer = Peer::new(peer, &address(peer));
            // Release 0.1 knows no other timings than its own.
            if timing == Timing::Equal || versions == FIRST {
                peer.with_equal_timings()
            } else {
                peer
            }
        });
        let bridge = peers.fold(bridge, actix_bully::remote::BridgeBuilder::peer);
        bridge
            .incarnation(NodeIncarnation(incarnation))
            .carry(group)
    });
    let config = QuorumConfig {
        timings: timings.clone(),
        preemption: Preemption::Never,
        ..QuorumConfig::new(VOTERS.map(id))
    };
    let weight = name.bytes().next().map_or(0, i32::from);
    host.voter(&format!("{name}1"), weight, folder, config);
    host
}

/// For so long at most one of them considers itself leader; which ones did.
async fn watch(hosts: &[&Host], span: u64) -> Vec<String> {
    let began = Instant::now();
    let mut led = Vec::new();
    while began.elapsed() < MS(span) {
        if let Some(leader) = believer(hosts)
            && led.last() != Some(&leader)
        {
            led.push(leader);
        }
        sleep(MS(1)).await;
    }
    led
}

#[test]
fn voters_of_both_versions_elect_and_no_lease_counts_on_one_that_promises_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let timings = Timings::lan();
    let all = (&timings, folder.path());
    play(async {
        let pipes = Pipes::new();
        let [a, b] = ["a", "b"]
            .map(|name| host(&pipes, name, (Versions::OURS, 1_000), Timing::Unknown, all));
        let c = host(&pipes, "c", (FIRST, 1_000), Timing::Unknown, all);
        let hosts = [&a, &b, &c];
        until("one leads", || believer(&hosts).is_some()).await;
        let leader = believer(&hosts).unwrap();
        assert_ne!(leader, "c1", "the others' acknowledgements do not reach it");
        until("all follow", || hosts.iter().all(|h| h.follows(&leader))).await;
        let led = watch(&hosts, 5_000).await;
        assert_eq!(led, std::slice::from_ref(&leader));
        let tells = |host: &Host| {
            let found = host.agents[0].diagnosis().findings;
            let is_old = |f: &Finding| matches!(f, Finding::OldRelease { node } if node == "c");
            found.iter().any(is_old)
        };
        assert!(tells(&a) && tells(&b) && !tells(&c));
        let unequal = |host: &Host| host.bridge.counters().dropped(DropReason::UnequalTimings);
        assert!(unequal(if leader == "a1" { &a } else { &b }) > 0);

        // The other one of this release is cut off: the leader and c1 are a quorum of votes, and of no lease.
        pipes.partition("a", "b");
        until("none leads", || believer(&hosts).is_none()).await;
        let led = watch(&hosts, 10_000).await;
        assert!(led.is_empty(), "{led:?}: a lease counted on version 1");
        pipes.heal("a", "b");
        until("one leads again", || believer(&hosts).is_some()).await;

        c.stop().await;
        let c = host(&pipes, "c", (Versions::OURS, 2_000), Timing::Unknown, all);
        until("it is linked", || a.is_linked("c") && b.is_linked("c")).await;
        until("it counts", || !tells(&a) && !tells(&b)).await;
        let hosts = [&a, &b, &c];
        until("one leads", || believer(&hosts).is_some()).await;
    });
}

#[test]
fn where_timings_are_known_to_be_equal_both_versions_are_one_group() {
    let folder = tempfile::tempdir().unwrap();
    let timings = Timings::lan();
    let all = (&timings, folder.path());
    play(async {
        let pipes = Pipes::new();
        let [a, b] =
            ["a", "b"].map(|name| host(&pipes, name, (Versions::OURS, 1_000), Timing::Equal, all));
        let c = host(&pipes, "c", (FIRST, 1_000), Timing::Equal, all);
        let hosts = [&a, &b, &c];
        let leads =
            |name: &'static str| move |hosts: &[&Host]| believer(hosts).as_deref() == Some(name);
        until("c1 leads", || leads("c1")(&hosts)).await;
        until("all follow", || hosts.iter().all(|h| h.follows("c1"))).await;
        assert_eq!(watch(&hosts, 3_000).await, ["c1"]);
        // Its lease is over before another one begins, whichever version the others have.
        pipes.partition("b", "c");
        pipes.partition("a", "c");
        assert_eq!(
            watch(&hosts, 3_000).await.last().map(String::as_str),
            Some("b1")
        );
        // And a leader of this release leads with the one of version 1 alone.
        pipes.partition("a", "b");
        pipes.heal("b", "c");
        let led = watch(&hosts, 5_000).await;
        assert_eq!(led.last().map(String::as_str), believer(&hosts).as_deref());
        assert!(believer(&hosts).is_some(), "{led:?}");
        let malformed = Closed::Protocol;
        assert!(
            hosts
                .iter()
                .all(|h| h.bridge.counters().closed(malformed) == 0)
        );
    });
}

/// c1's lease would be longer than what b1 promises, which cannot say so.
#[test]
fn a_lease_that_counts_on_version_1_with_other_timings_would_be_a_second_leader() {
    let folder = tempfile::tempdir().unwrap();
    let (long, short) = (Timings::default(), Timings::lan());
    let of = |timings| (timings, folder.path());
    play(async {
        let pipes = Pipes::new();
        pipes.partition("a", "c");
        let a = host(
            &pipes,
            "a",
            (Versions::OURS, 1_000),
            Timing::Unknown,
            of(&short),
        );
        let b = host(&pipes, "b", (FIRST, 1_000), Timing::Unknown, of(&short));
        let c = host(
            &pipes,
            "c",
            (Versions::OURS, 1_000),
            Timing::Unknown,
            of(&long),
        );
        let hosts = [&a, &b, &c];
        let mut led = Vec::new();
        for _ in 0..20 {
            led.extend(watch(&hosts, 2_000).await);
            pipes.partition("b", "c");
            led.extend(watch(&hosts, 3_000).await);
            pipes.heal("b", "c");
        }
        assert!(led.is_empty(), "{led:?}: a lease counted on version 1");
    });
}

#[test]
fn a_rolling_upgrade_and_the_way_back_never_have_two_leaders() {
    let folder = tempfile::tempdir().unwrap();
    let timings = Timings::lan();
    let all = (&timings, folder.path());
    play(async {
        for timing in [Timing::Unknown, Timing::Equal] {
            let pipes = Pipes::new();
            let start = |name, versions, incarnation| {
                host(&pipes, name, (versions, incarnation), timing, all)
            };
            let mut incarnation = 1_000;
            let names = ["a", "b", "c"];
            let mut hosts = names.map(|name| Some(start(name, FIRST, incarnation)));
            let settled = |hosts: &[Option<Host>; 3]| {
                let up: Vec<&Host> = hosts.iter().flatten().collect();
                believer(&up).is_some_and(|leader| up.iter().all(|host| host.follows(&leader)))
            };
            until("one leads", || settled(&hosts)).await;
            for versions in [Versions::OURS, FIRST, Versions::OURS] {
                for at in 0..3 {
                    incarnation += 1_000;
                    if let Some(host) = hosts[at].take() {
                        host.stop().await;
                    }
                    let up: Vec<&Host> = hosts.iter().flatten().collect();
                    watch(&up, 700).await;
                    hosts[at] = Some(start(names[at], versions, incarnation));
                    until("one leads", || settled(&hosts)).await;
                    let up: Vec<&Host> = hosts.iter().flatten().collect();
                    watch(&up, 1_000).await;
                }
            }
            for host in hosts.into_iter().flatten() {
                host.stop().await;
            }
        }
    });
}
