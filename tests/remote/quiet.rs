//! Links between followers. A follower seldom asks them while it hears a leader, and asks them at once when the
//! leader falls silent.

use std::path::Path;

use actix::clock::{Instant, sleep};
use actix_bully::{
    agent::StartError,
    elections::{bully::Preemption, quorum::QuorumConfig},
    group::{Holder, JoinError},
    protocol::Timings,
    remote::{BridgeEvent, transport::Pipes},
};

use super::{
    kit::{Host, MS, builder, id, node, scene, told, until},
    voters::{all_follow_alone, leads_alone},
};

const NODES: [&str; 5] = ["a", "b", "c", "d", "e"];

fn config() -> QuorumConfig {
    QuorumConfig {
        preemption: Preemption::Never,
        timings: Timings::default(),
        ..QuorumConfig::new(["a1", "b1", "c1", "d1", "e1"].map(id))
    }
}

/// Starts five hosts with a voter each, which all follow `e1`. Returns a minute after the election.
async fn settled(pipes: &Pipes, folder: &Path) -> [Host; 5] {
    let hosts = NODES.map(|name| {
        let others: Vec<&str> = NODES.into_iter().filter(|other| *other != name).collect();
        Host::of_voter(builder(pipes, name, &others), folder, config())
    });
    all_follow_alone(&hosts.each_ref(), "e1").await;
    sleep(MS(60_000)).await;
    hosts
}

#[test]
fn a_broken_link_between_followers_is_found_as_soon_as_the_leader_falls_silent() {
    scene(async |pipes, folder| {
        let hosts = settled(pipes, folder).await;
        let [first, second, ..] = &hosts;
        pipes.partition("a", "b");
        sleep(MS(2_000)).await;
        assert!(first.is_linked("b"), "nothing depends on that link");
        assert!(first.follows("e1") && second.follows("e1"));

        let began = Instant::now();
        for other in ["a", "b", "c", "d"] {
            pipes.partition("e", other);
        }
        until("a finds it", || !first.is_linked("b")).await;
        let took = began.elapsed();
        // The time covers the discovery that the leader is gone, but not the beginning of the votes.
        assert!(took < MS(1_100), "the link was not asked: {took:?}");
        leads_alone(&hosts.each_ref(), "d1").await;
        let bound = Timings::default().worst_case_quorum_failover(0);
        assert!(began.elapsed() <= bound, "{:?}", began.elapsed());
    });
}

#[test]
fn a_broken_link_between_followers_is_found_as_soon_as_the_link_of_the_leader_ends() {
    scene(async |pipes, folder| {
        let hosts = settled(pipes, folder).await;
        pipes.partition("a", "b");
        sleep(MS(2_000)).await;
        let began = Instant::now();
        pipes.partition("e", "a");
        pipes.cut("e", "a");
        until("a finds it", || !hosts[0].is_linked("b")).await;
        let took = began.elapsed();
        assert!(took < MS(950), "the link was not asked: {took:?}");
    });
}

#[test]
fn a_name_on_a_host_that_is_gone_is_free_soon_after_somebody_asks_for_it() {
    scene(async |pipes, folder| {
        let mut hosts = settled(pipes, folder).await;
        for other in ["a", "c", "d", "e"] {
            pipes.partition("b", other);
        }
        sleep(MS(2_000)).await;
        assert!(hosts[0].is_linked("b"), "nothing depends on that link");

        let [first, ..] = &mut hosts;
        let mut events = first.bridge.events();
        // The second agent has a store of its own, because the store of the first agent is on the host that is gone.
        let folder = folder.join("again");
        std::fs::create_dir(&folder).unwrap();
        let mut start = || first.try_voter("b1", 98, &folder, config());
        let began = Instant::now();
        let refused = start();
        let is_taken = |why: &StartError| matches!(why, StartError::Join(JoinError::Taken { .. }));
        assert!(refused.as_ref().is_err_and(is_taken), "{refused:?}");
        until("the name is free", || start().is_ok()).await;
        let took = began.elapsed();
        assert!(took < MS(1_100), "its holder was not asked: {took:?}");
        let takes = |event: &BridgeEvent| matches!(event, BridgeEvent::NameTakenOver { node: n, agent, by: Holder::Here, .. } if *n == node("b") && *agent == id("b1"));
        assert!(told(&mut events).iter().any(takes));
    });
}
