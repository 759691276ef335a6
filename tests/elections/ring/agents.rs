//! `Agent<Ring>`: the ring under actix, in virtual time.

use std::{sync::Arc, time::Duration};

use actix::clock::sleep;
use actix_bully::{
    agent::{Agent, ElectionHandle, Lifecycle},
    elections::ring::{Ring, RingConfig},
    group::Group,
    protocol::{Incarnation, Term, Timings},
    testkit::{Inject, cluster::Cluster},
};
use bully_classics::ring::{Coordinator, RingMessage};

use crate::ring::{
    common::virtual_system,
    kit::{MS, id},
    strangers::are_dropped,
};

fn lan() -> Arc<RingConfig> {
    Arc::new(RingConfig::new(Timings::lan()))
}

fn start(group: &Group<RingMessage>, name: &str, score: i32) -> ElectionHandle<Ring> {
    let agent = Agent::<Ring>::with_config(name, lan());
    agent.score(score).join(group).start().unwrap()
}

fn leaders(agents: &[ElectionHandle<Ring>]) -> Vec<String> {
    let runs = |agent: &&ElectionHandle<Ring>| agent.current().lifecycle == Lifecycle::Running;
    let leader = |agent: &ElectionHandle<Ring>| agent.leader().map(|l| l.id.to_string());
    agents.iter().filter(runs).filter_map(leader).collect()
}

#[test]
fn three_agents_elect_lose_their_leader_and_get_it_back() {
    virtual_system().block_on(async {
        let group = Group::new("ring").unwrap();
        let agents = [("a", 1), ("b", 2), ("c", 3)].map(|(name, n)| start(&group, name, n));
        sleep(MS(100)).await;
        assert_eq!(leaders(&agents), ["c", "c", "c"]);
        assert!(agents[2].is_leader() && !agents[1].is_leader());
        assert_eq!(group.members().leader().unwrap().id, id("c"));

        // Its supervisor restarts it after a while; meanwhile the next one leads.
        agents[2].addr().do_send(Inject::Crash);
        sleep(MS(50)).await;
        assert_eq!(agents[2].current().lifecycle, Lifecycle::Down);
        assert_eq!(leaders(&agents), ["b", "b"]);
        assert!(agents[1].is_leader() && !agents[2].is_leader());

        sleep(Duration::from_secs(5)).await;
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
        sleep(MS(100)).await;
        assert!(agents[2].is_leader());
        agents[2].leave(Duration::from_secs(1)).await.unwrap();
        sleep(MS(50)).await;
        assert_eq!(leaders(&agents), ["b", "b"]);
        assert!(group.members().get(&id("c")).is_none());
    });
}

#[test]
fn s27_messages_from_strangers_and_former_incarnations_are_counted_and_dropped() {
    virtual_system().block_on(async {
        let builder = Cluster::<Ring>::with_config(Arc::new(RingConfig::default()));
        let mut cluster = builder.agents(5).start().unwrap();
        let message = || {
            let announcement = Coordinator {
                leader: id("agent-4"),
                incarnation: Incarnation(1),
                score: 99.into(),
                term: Term(99),
                beat: 0,
            };
            announcement.into()
        };
        are_dropped(&mut cluster, message).await;
    });
}
