//! Plays the ring demo of the Go seed: five nodes, of which 3 and 4 are dead, and node 1 begins.
//!
//! The seed's program prints that node 2 is elected, and then the state of every node. The dead nodes also have node 2
//! as their leader, because the announcement assigns a field of every node.

use std::time::Duration;

use actix_bully::{elections::ring::Ring, protocol::AgentId};
use bully_sim::sim::World;

use crate::ring::kit::{MS, comes_to_lead, config, id};

/// The seed's ring, word for word. It has no messages, only fields.
mod as_written {
    pub(crate) struct Node {
        pub(crate) is_alive: bool,
        pub(crate) leader: i32,
    }

    pub(crate) fn ring(dead: &[usize]) -> Vec<Node> {
        let node = |id| Node {
            is_alive: !dead.contains(&id),
            leader: -1,
        };
        (0..5).map(node).collect()
    }

    /// Collects the living nodes from the initiator on, and assigns the highest node to every node as its leader.
    pub(crate) fn start_election(nodes: &mut [Node], initiator: usize) -> i32 {
        let mut participants = vec![initiator];
        let order = (initiator + 1..nodes.len()).chain(0..initiator);
        participants.extend(order.filter(|id| nodes[*id].is_alive));
        let highest = i32::try_from(participants.into_iter().max().unwrap()).unwrap();
        for node in nodes {
            node.leader = highest;
        }
        highest
    }
}

/// Returns a ring of nodes `0` to `4`. The nodes `dead` crash before any other node hears from them.
fn demo(dead: &[&str]) -> World<Ring> {
    let config = config();
    let names: Vec<AgentId> = ["0", "1", "2", "3", "4"].map(id).into();
    let agents = names
        .iter()
        .zip(0..)
        .map(|(name, score)| crate::ring::kit::voter(name, score, &config));
    let silent = bully_sim::sim::Detection::Silent(Duration::ZERO.into());
    let mut world = World::builder(1)
        .agents(agents)
        .conditions(actix_bully::testkit::faults::Conditions::delayed(MS(5)))
        .detection(silent)
        .trace(bully_sim::trace::Trace::new().with_repeated())
        .build();
    world.run_for(Duration::ZERO);
    for name in dead {
        world.crash(name);
    }
    world
}

#[test]
fn the_ring_demo_of_the_go_seed() {
    // As written, the dead nodes also learn the leader.
    let mut nodes = as_written::ring(&[3, 4]);
    assert_eq!(as_written::start_election(&mut nodes, 1), 2);
    let dead = nodes.iter().filter(|node| !node.is_alive);
    assert!(dead.clone().count() == 2 && dead.clone().all(|node| node.leader == 2));

    // Here, node 2 leads the living nodes, and the dead nodes follow no leader.
    let mut world = demo(&["3", "4"]);
    world.campaign("1");
    comes_to_lead(&mut world, "2", MS(10_000));
    for name in ["0", "1", "2"] {
        assert_eq!(world.view(name).unwrap().leader.unwrap().id, "2");
    }
    for name in ["3", "4"] {
        assert_eq!(world.view(name), None);
        assert_eq!(world.events(name), [], "never told of any other");
    }
    // The election is a bully in a ring: a node that returns takes the leadership, which never happens in the seed.
    world.restart("4");
    comes_to_lead(&mut world, "4", MS(20_000));
}

/// The seed assumes that the node that begins is alive, so it elects its dead initiator.
#[test]
fn a_dead_initiator_is_elected_by_the_seed_and_begins_nothing_here() {
    let mut nodes = as_written::ring(&[4]);
    assert_eq!(as_written::start_election(&mut nodes, 4), 4, "the dead one");
    let mut world = demo(&["4"]);
    assert!(!world.campaign("4"));
    comes_to_lead(&mut world, "3", MS(10_000));
}
