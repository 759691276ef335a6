//! Tests of the world with a toy election: time, order, the driver's contract, the verbs.

mod contract;
mod disk;
mod driver;
mod replays;
mod runs;
mod second;
pub(crate) mod toy;
mod updates;
mod verbs;

use std::time::Duration;

use self::toy::Toy;
use super::{Participant, World, WorldBuilder};
use crate::trace::Trace;
use bully_core::protocol::{AgentId, Event, Term};

const MS: fn(u64) -> Duration = Duration::from_millis;

pub(crate) fn id(name: &str) -> AgentId {
    AgentId::new(name).unwrap()
}

fn voter(name: &str, score: i32) -> Participant<Toy> {
    Participant::voter(id(name), Some(score.into()), false)
}

/// Returns a recorded world with `a`, `b` and `c`. `c` ranks highest.
fn three(seed: u64) -> WorldBuilder<Toy> {
    World::builder(seed)
        .agents([voter("a", 1), voter("b", 2), voter("c", 3)])
        .trace(Trace::new())
}

fn settled() -> World<Toy> {
    let mut world = three(1).build();
    assert_eq!(world.settle(MS(100)), Ok(id("c")));
    world
}

/// Returns the inputs of an agent's present incarnation, oldest first.
fn inputs(world: &World<Toy>, name: &str) -> Vec<String> {
    let machine = world.machine(name).unwrap();
    machine
        .inputs
        .iter()
        .map(|(what, _)| what.clone())
        .collect()
}

fn terms(world: &World<Toy>, name: &str) -> Vec<u64> {
    let led = |(_, event): &(_, Event)| {
        if let Event::Acquired { term: Term(term) } = event {
            return Some(*term);
        }
        None
    };
    world.events(name).iter().filter_map(led).collect()
}
