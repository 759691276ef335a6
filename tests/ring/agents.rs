//! `Agent<Ring>`: the ring under actix, in virtual time.

use std::{sync::Arc, time::Duration};

use actix::clock;
use actix_bully::{
    Group,
    agent::{Agent, ElectionHandle, Inject, Life},
    cluster::Cluster,
    elections::ring::{Ring, RingConfig, RingMessage},
    protocol::{Incarnation, Timings},
};

use crate::{
    common::virtual_system,
    kit::{MS, id},
};

fn lan() -> Arc<RingConfig> {
    let config = RingConfig::builder().timings(Timings::lan());
    Arc::new(config.build().unwrap())
}

fn start(group: &Group<RingMessage>, name: &str, score: i32) -> ElectionHandle<Ring> {
    let agent = Agent::<Ring>::with_config(name, lan());
    agent.score(score).join(group).start().unwrap()
}

fn leaders(agents: &[ElectionHandle<Ring>]) -> Vec<String> {
    let runs = |agent: &&ElectionHandle<Ring>| agent.current().life == Life::Runs;
    let leader = |agent: &ElectionHandle<Ring>| agent.leader().map(|l| l.id.to_string());
    agents.iter().filter(runs).filter_map(leader).collect()
}

#[test]
fn three_agents_elect_lose_their_leader_and_get_it_back() {
    virtual_system().block_on(async {
        let group = Group::new("ring").unwrap();
        let agents = [("a", 1), ("b", 2), ("c", 3)].map(|(name, n)| start(&group, name, n));
        clock::sleep(MS(100)).await;
        assert_eq!(leaders(&agents), ["c", "c", "c"]);
        assert!(agents[2].is_leader() && !agents[1].is_leader());
        assert_eq!(group.members().leader().unwrap().id, id("c"));

        // Its supervisor restarts it after a while; meanwhile the next one leads.
        agents[2].addr().do_send(Inject::Crash);
        clock::sleep(MS(50)).await;
        assert_eq!(agents[2].current().life, Life::Down);
        assert_eq!(leaders(&agents), ["b", "b"]);
        assert!(agents[1].is_leader() && !agents[2].is_leader());

        clock::sleep(Duration::from_secs(5)).await;
        assert_eq!(agents[2].current().incarnation, Incarnation(2));
        assert_eq!(leaders(&agents), ["c", "c", "c"]);
        assert!(agents[2].is_leader() && !agents[1].is_leader());
    });
}

#[test]
fn a_leader_that_leaves_hands_over_first() {
    virtual_system().block_on(async {
        let group = Group::new("ring").unwrap();
        let agents = [("a", 1), ("b", 2), ("c", 3)].map(|(name, n)| start(&group, name, n));
        clock::sleep(MS(100)).await;
        assert!(agents[2].is_leader());
        agents[2].leave(Duration::from_secs(1)).await.unwrap();
        clock::sleep(MS(50)).await;
        assert_eq!(leaders(&agents), ["b", "b"]);
        assert!(group.members().get(&id("c")).is_none());
    });
}

#[test]
fn a_cluster_of_rings_does_what_a_cluster_of_bullies_does() {
    virtual_system().block_on(async {
        let builder = Cluster::<Ring>::with_config(Arc::new(RingConfig::default()));
        let mut cluster = builder
            .agents(5)
            .observer("eye")
            .witness("judge")
            .start()
            .unwrap();
        let leader = |settled: actix_bully::cluster::Settled| settled.leader().cloned().unwrap();
        assert_eq!(leader(cluster.settle().await.unwrap()), "agent-5");
        cluster.crash("5").await.unwrap();
        assert_eq!(leader(cluster.settle().await.unwrap()), "agent-4");
        cluster.restart("5").unwrap();
        assert_eq!(leader(cluster.settle().await.unwrap()), "agent-5");
        cluster.partition([["1", "2"]]).unwrap();
        let settled = cluster.settle().await.unwrap();
        let leaders: Vec<_> = settled.leaders().map(ToString::to_string).collect();
        assert_eq!(leaders, ["agent-2", "agent-5"], "one on each side");
        cluster.heal();
        assert_eq!(leader(cluster.settle().await.unwrap()), "agent-5");
        cluster.step_down("5", None).unwrap();
        assert_eq!(leader(cluster.settle().await.unwrap()), "agent-4");
    });
}
