//! `Agent<Ring>`: the ring under actix, in virtual time.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use actix::clock::sleep;
use actix_bully::{
    agent::{Agent, ElectionHandle, Lifecycle},
    elections::ring::{Ring, RingConfig},
    group::Group,
    protocol::{AgentId, Event, Incarnation, LostReason, Term, Time, Timings},
    testkit::{Inject, cluster::Cluster, faults::Conditions},
};
use bully_classics::ring::{Coordinator, RingMessage};
use bully_sim::{sim::World, trace::What};

use crate::ring::{
    common::virtual_system,
    kit::{self, MS, id},
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
fn a_cluster_of_rings_does_what_a_cluster_of_bullies_does() {
    virtual_system().block_on(async {
        let builder = Cluster::<Ring>::with_config(Arc::new(RingConfig::default()));
        let mut cluster = builder
            .agents(5)
            .observer("eye")
            .witness("judge")
            .start()
            .unwrap();
        let leader =
            |settled: actix_bully::testkit::cluster::Settled| settled.leader().cloned().unwrap();
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

/// What each agent told its application, and when.
type Told = BTreeMap<String, Vec<(Time, Event)>>;

fn through_actors() -> Told {
    virtual_system().block_on(async {
        let builder = Cluster::<Ring>::with_config(Arc::new(kit::config()));
        let network = Conditions::delayed(MS(3));
        let mut cluster = builder.agents(5).network(network).start().unwrap();
        let wait = |seconds| sleep(Duration::from_secs(seconds));
        wait(1).await;
        cluster.crash("5").await.unwrap();
        wait(2).await;
        cluster.restart("5").unwrap();
        wait(2).await;
        cluster.set_score("2", 9).unwrap();
        wait(2).await;
        cluster.crash_all(["1", "2"]).await.unwrap();
        wait(2).await;
        cluster.step_down("5", None).unwrap();
        wait(2).await;
        let mut told = Told::new();
        for entry in cluster.trace().entries() {
            // That a crashed leader has lost its place is told by its supervisor, not by a machine.
            let ended = LostReason::Ended;
            if let What::Event { agent, event } = &entry.what
                && !matches!(event, Event::Lost { reason, .. } if *reason == ended)
            {
                let told = told.entry(agent.to_string()).or_default();
                told.push((entry.at, event.clone()));
            }
        }
        told
    })
}

fn through_simulator() -> Told {
    let names: Vec<_> = (1..=5).map(|n| id(&format!("agent-{n}"))).collect();
    let config = kit::config();
    let agents = names.iter().zip(1..);
    let mut world = World::builder(1)
        .agents(agents.map(|(name, score)| kit::voter(name, score, &config)))
        .conditions(Conditions::delayed(MS(3)))
        .build();
    let wait = |world: &mut World<Ring>, seconds| world.run_for(Duration::from_secs(seconds));
    wait(&mut world, 1);
    world.crash("agent-5");
    wait(&mut world, 2);
    world.restart("agent-5");
    wait(&mut world, 2);
    world.set_score("agent-2", Some(9.into()));
    wait(&mut world, 2);
    world.crash("agent-1");
    world.crash("agent-2");
    wait(&mut world, 2);
    world.step_down("agent-5", None);
    wait(&mut world, 2);
    let events = |name: &AgentId| (name.to_string(), world.events(name).to_vec());
    names.iter().map(events).collect()
}

/// Scenario 84, for the ring: what is shown of the simulator holds for the actors.
#[test]
fn actors_and_simulator_tell_the_same() {
    let (actors, simulator) = (through_actors(), through_simulator());
    assert!(
        simulator.values().all(|told| told.len() > 2),
        "{simulator:?}"
    );
    assert_eq!(actors, simulator);
}
