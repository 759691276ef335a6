//! The quorum mode across three hosts, with votes on disk.

use std::{path::Path, sync::Arc};

use actix::clock::{Instant, sleep};
use actix_bully::{
    agent::{BullyAgent, BullyHandle, Inject},
    clock::VirtualClock,
    elections::{policy::Preemption, quorum::QuorumConfig},
    protocol::{Presence, Term, Timings},
    remote::{BridgeEvent, Closed, NodeIncarnation, transport::Pipes},
    store::{FileStore, StoreIdentity},
};

use super::kit::{Host, MS, builder, id, patient, play, told, until};

const VOTERS: [&str; 3] = ["a1", "b1", "c1"];

/// The one voter of a host; its record survives the host.
pub(crate) fn voter(host: &mut Host, name: &str, folder: &Path) -> BullyHandle {
    voter_of(host, name, folder, 0)
}

/// A voter of this epoch.
fn voter_of(host: &mut Host, name: &str, folder: &Path, epoch: u64) -> BullyHandle {
    let path = folder.join(name);
    let identity = StoreIdentity {
        cluster: id("test"),
        group: id("g"),
        node: id(name),
    };
    let store = if path.exists() {
        FileStore::open(&path, identity)
    } else {
        FileStore::create(&path, identity)
    };
    let weight = name.bytes().next().map_or(0, u32::from);
    let config = QuorumConfig::builder(VOTERS.map(id))
        .timings(Timings::lan())
        .preemption(Preemption::Never)
        .epoch(epoch)
        .build();
    let agent = BullyAgent::builder(name)
        .quorum_config(Arc::new(config.unwrap()))
        .restart_policy(patient())
        .score(weight)
        .clock(VirtualClock::new())
        .store(store.unwrap())
        .join(&host.group)
        .start()
        .unwrap();
    host.agents.push(agent.clone());
    agent
}

fn others(name: &str) -> Vec<&'static str> {
    ["a", "b", "c"].into_iter().filter(|n| *n != name).collect()
}

pub(crate) fn host(pipes: &Pipes, name: &'static str, life: u64, folder: &Path) -> Host {
    let mut host = Host::with(|group| {
        let bridge = builder(pipes, name, &others(name));
        bridge.incarnation(NodeIncarnation(life)).carry(group)
    });
    voter(&mut host, &format!("{name}1"), folder);
    host
}

/// Who believes that it leads; two of them fail the test.
pub(crate) fn believer(hosts: &[&Host]) -> Option<String> {
    let agents = hosts.iter().flat_map(|host| &host.agents);
    let leading: Vec<_> = agents
        .filter(|agent| agent.is_leader())
        .map(|agent| agent.id().to_string())
        .collect();
    assert!(leading.len() < 2, "{leading:?} believe that they lead");
    leading.first().cloned()
}

#[test]
fn three_hosts_vote_and_never_believe_in_two() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    play(async {
        let pipes = Pipes::new();
        let [a, b, c] = ["a", "b", "c"].map(|name| host(&pipes, name, 1_000, folder));
        until("c1 leads", || {
            believer(&[&a, &b, &c]).as_deref() == Some("c1")
        })
        .await;
        until("all know", || a.follows("c1") && b.follows("c1")).await;
        let term = c.agents[0].leader().unwrap().term;

        // Cut off from both, it stops believing before another one begins.
        pipes.partition("a", "c");
        pipes.partition("b", "c");
        let began = Instant::now();
        until("b1 leads", || {
            believer(&[&a, &b, &c]).as_deref() == Some("b1")
        })
        .await;
        assert!(began.elapsed() < MS(1_000), "{:?}", began.elapsed());
        assert!(b.agents[0].leader().unwrap().term > term);
        let quiet = Instant::now();
        while quiet.elapsed() < MS(3_000) {
            believer(&[&a, &b, &c]);
            sleep(MS(1)).await;
        }
        pipes.heal("a", "c");
        pipes.heal("b", "c");
        until("c1 follows", || {
            believer(&[&a, &b, &c]);
            c.follows("b1")
        })
        .await;
    });
}

#[test]
fn a_certain_death_on_another_host_frees_the_voters_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    play(async {
        let pipes = Pipes::new();
        let [a, b, c] = ["a", "b", "c"].map(|name| host(&pipes, name, 1_000, folder));
        until("c1 leads", || {
            believer(&[&a, &b, &c]).as_deref() == Some("c1")
        })
        .await;
        until("all know", || a.follows("c1") && b.follows("c1")).await;
        sleep(MS(1_000)).await;
        let began = Instant::now();
        c.agents[0].addr().do_send(Inject::Crash);
        until("b1 leads", || {
            believer(&[&a, &b, &c]).as_deref() == Some("b1")
        })
        .await;
        let took = began.elapsed();
        assert!(took < MS(100), "no lease was waited for: {took:?}");
    });
}

#[test]
fn a_host_that_is_killed_and_comes_back_with_its_store_votes_on() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    play(async {
        let pipes = Pipes::new();
        let [a, b, c] = ["a", "b", "c"].map(|name| host(&pipes, name, 1_000, folder));
        until("c1 leads", || {
            believer(&[&a, &b, &c]).as_deref() == Some("c1")
        })
        .await;
        until("all know", || a.follows("c1") && b.follows("c1")).await;
        let first = c.agents[0].leader().unwrap().term;
        c.stop().await;
        until("b1 leads", || believer(&[&a, &b]).as_deref() == Some("b1")).await;
        let known = a.group.members().get(&id("c1")).map(|m| m.presence);
        assert_eq!(
            known,
            Some(Presence::Suspect),
            "a guess, as far as a can tell"
        );

        let c = host(&pipes, "c", 2_000, folder);
        until("c1 follows", || c.follows("b1")).await;
        b.stop().await; // now a1 needs the vote of c1, or c1 that of a1
        until("one of them leads", || believer(&[&a, &c]).is_some()).await;
        let leader = believer(&[&a, &c]).unwrap();
        until("both know", || a.follows(&leader) && c.follows(&leader)).await;
        let term = a.agents[0].leader().unwrap().term;
        assert!(term > Term(first.0 + 1), "{term} after {first}");
    });
}

/// What a says of b: its rules, and the number of its choice of voters.
fn mismatch(events: Vec<BridgeEvent>) -> Option<(String, u64)> {
    events.into_iter().find_map(|event| {
        if let BridgeEvent::Mismatch { theirs, .. } = event {
            return Some(theirs);
        }
        None
    })
}

#[test]
fn agents_that_follow_other_rules_do_not_hear_each_other() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    play(async {
        let pipes = Pipes::new();
        let mut a = Host::start(&pipes, "a", &["b"]);
        let mut b = Host::start(&pipes, "b", &["a"]);
        let mut events = a.bridge.events();
        a.agent("a1", 1);
        voter(&mut b, "b1", folder);
        sleep(MS(3_000)).await;
        assert!(a.is_linked("b"), "the link stays");
        assert!(a.follows("a1") && a.group.members().len() == 1);
        assert_eq!(b.group.members().len(), 1);
        assert_eq!(mismatch(told(&mut events)), Some(("quorum".to_owned(), 0)));
    });
}

#[test]
fn voters_of_another_epoch_do_not_hear_each_other_until_all_have_changed() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    play(async {
        let pipes = Pipes::new();
        let mut hosts = ["a", "b", "c"].map(|name| host(&pipes, name, 1_000, folder));
        until("c1 leads", || {
            believer(&hosts.each_ref()).as_deref() == Some("c1")
        })
        .await;
        let term = hosts[2].agents[0].leader().unwrap().term;
        let mut events = hosts[0].bridge.events();
        // The voters stop, and start again as another choice, one after the other.
        for host in &mut hosts {
            let agent = host.agents.pop().unwrap();
            agent.leave(MS(1_000)).await.ok();
        }
        sleep(MS(1_000)).await;
        for (host, name) in hosts.iter_mut().zip(VOTERS) {
            voter_of(host, name, folder, 1);
            sleep(MS(700)).await;
        }
        until("one leads", || believer(&hosts.each_ref()).is_some()).await;
        let leader = believer(&hosts.each_ref()).unwrap();
        until("all know", || {
            hosts.iter().all(|host| host.follows(&leader))
        })
        .await;
        let now = hosts[0].agents[0].leader().unwrap().term;
        assert!(
            now.0 > term.0 + (1 << 20),
            "{now}: far above {term}, and no link was closed"
        );
        for host in &hosts {
            let counters = host.bridge.counters();
            let fault = actix_bully::remote::TermFault::Last { term: now };
            assert_eq!(counters.closed(Closed::Term(fault)), 0);
        }
        drop(told(&mut events));
    });
}

#[test]
fn a_leader_that_leaves_hands_over_before_its_lease_has_run_out() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    play(async {
        let pipes = Pipes::new();
        let mut hosts = ["a", "b", "c"].map(|name| host(&pipes, name, 1_000, folder));
        let leads = |hosts: &[Host; 3]| believer(&hosts.each_ref());
        until("c1 leads", || leads(&hosts).as_deref() == Some("c1")).await;
        sleep(MS(2_000)).await;
        let began = Instant::now();
        let agent = hosts[2].agents.pop().unwrap();
        agent.leave(MS(1_000)).await.unwrap();
        until("b1 leads", || leads(&hosts).as_deref() == Some("b1")).await;
        let took = began.elapsed();
        assert!(took < MS(100), "{took:?}");
    });
}
