//! The quorum mode across three hosts, with votes on disk.

use std::path::Path;

use actix::clock::{Instant, sleep};
use actix_bully::{
    elections::{bully::Preemption, quorum::QuorumConfig},
    protocol::Timings,
    remote::{BridgeEvent, NodeIncarnation, transport::Pipes},
    testkit::Inject,
};

use super::kit::{Host, MS, builder, id, others, pair, scene, told, until};

pub(crate) const VOTERS: [&str; 3] = ["a1", "b1", "c1"];

/// Returns the configuration of a voter in this epoch.
pub(crate) fn of_epoch(epoch: u64) -> QuorumConfig {
    QuorumConfig {
        preemption: Preemption::Never,
        epoch,
        timings: Timings::lan(),
        ..QuorumConfig::new(VOTERS.map(id))
    }
}

/// Starts a host with a voter, whose record survives the host.
pub(crate) fn host(pipes: &Pipes, name: &'static str, incarnation: u64, folder: &Path) -> Host {
    let bridge = builder(pipes, name, &others(name));
    let bridge = bridge.incarnation(NodeIncarnation(incarnation));
    Host::of_voter(bridge, folder, of_epoch(0))
}

/// Returns the agent that considers itself leader. Two such agents fail the test.
pub(crate) fn believer(hosts: &[&Host]) -> Option<String> {
    let agents = hosts.iter().flat_map(|host| &host.agents);
    let leading: Vec<_> = agents
        .filter(|agent| agent.is_leader())
        .map(|agent| agent.id().to_string())
        .collect();
    assert!(leading.len() < 2, "{leading:?} believe that they lead");
    leading.first().cloned()
}

/// Waits until all agents follow this leader, while no other agent considers itself leader.
pub(crate) async fn all_follow_alone(hosts: &[&Host], leader: &str) {
    let follow = || hosts.iter().all(|host| host.follows(leader));
    let is_so = || believer(hosts).as_deref() == Some(leader) && follow();
    until(&format!("all follow {leader} alone"), is_so).await;
}

/// Waits until this agent leads, while no other agent considers itself leader.
pub(crate) async fn leads_alone(hosts: &[&Host], leader: &str) {
    let leads = || believer(hosts).as_deref() == Some(leader);
    until(&format!("{leader} leads"), leads).await;
}

/// Starts three hosts, whose voters all follow `c1`.
pub(crate) async fn elected(pipes: &Pipes, folder: &Path) -> [Host; 3] {
    let hosts = ["a", "b", "c"].map(|name| host(pipes, name, 1_000, folder));
    all_follow_alone(&hosts.each_ref(), "c1").await;
    hosts
}

#[test]
fn a_certain_death_on_another_host_frees_the_voters_at_once() {
    scene(async |pipes, folder| {
        let [a, b, c] = elected(pipes, folder).await;
        sleep(MS(1_000)).await;
        let began = Instant::now();
        c.agents[0].addr().do_send(Inject::Crash);
        leads_alone(&[&a, &b, &c], "b1").await;
        let took = began.elapsed();
        assert!(took < MS(100), "no lease was waited for: {took:?}");
    });
}

/// Returns the rules of the peer and the rules of this side from the event of a mismatch.
fn mismatch(events: Vec<BridgeEvent>) -> Option<(String, String)> {
    events.into_iter().find_map(|event| {
        if let BridgeEvent::Mismatch { theirs, mine, .. } = event {
            return Some((theirs, mine));
        }
        None
    })
}

/// The other side opened the group while this side had no agents, and therefore no rules.
#[test]
fn agents_that_turn_out_to_follow_other_rules_are_no_members_and_do_not_hear_each_other() {
    scene(async |pipes, folder| {
        let [mut a, mut b] = pair(pipes, |bridge| bridge);
        b.voter("b1", 1, folder, of_epoch(0));
        let mut events = a.bridge.events();
        let knows = |host: &Host| host.group.members().get(&id("b1")).is_some();
        until("a knows b1", || knows(&a)).await;
        a.agent("a1", 1);
        until("a knows no b1", || !knows(&a)).await;
        sleep(MS(3_000)).await;
        assert!(a.is_linked("b") && !knows(&a), "nor does it come again");
        assert!(a.follows("a1"));
        for host in [&a, &b] {
            assert_eq!(host.group.members().len(), 1);
        }
        let (theirs, mine) = mismatch(told(&mut events)).unwrap();
        assert!(theirs.starts_with("quorum rules, epoch 0, "), "{theirs}");
        assert_eq!(mine, "available rules, epoch 0");
    });
}

/// The first term of an epoch is far above all terms of the epoch before.
#[test]
fn voters_that_start_again_in_the_next_epoch_elect_over_their_links_and_a_host_without_agents_follows()
 {
    scene(async |pipes, folder| {
        let mut voters = ["a", "b"].map(|name| host(pipes, name, 1_000, folder));
        let bare = Host::with(|group| builder(pipes, "c", &others("c")).carry(group));
        let mut links = 0;
        for epoch in [0, 1] {
            until("one leads", || believer(&voters.each_ref()).is_some()).await;
            if epoch == 0 {
                links = bare.bridge.traffic().links;
            }
            // The host without agents hears the leader together with the next change.
            for host in &voters {
                host.agents[0].set_score(7).unwrap();
            }
            sleep(MS(1_000)).await;
            let leader = bare.group.members().leader().cloned();
            assert_eq!(leader.map(|leader| leader.term.0 >> 40), Some(epoch));
            for host in &mut voters {
                let agent = host.agents.pop().unwrap();
                agent.leave(MS(1_000)).await.ok();
            }
            for (host, name) in voters.iter_mut().zip(VOTERS) {
                host.voter(name, 1, folder, of_epoch(epoch + 1));
            }
        }
        for host in voters.iter().chain([&bare]) {
            assert_eq!(host.bridge.counters().get("term"), Some(0));
        }
        assert_eq!(bare.bridge.traffic().links, links, "the first links stay");
    });
}
