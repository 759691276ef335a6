//! What Garcia-Molina demands of an election (*Elections in a Distributed Computing System*, 1982),
//! assertion by assertion, and whether the machines keep it.
//!
//! The paper has two algorithms, with assertions of their own. Each is stated here as a predicate on
//! the states of all that are up, checked after every step of hundreds of runs in which agents crash
//! and recover; and each is shown to fall when one of its assumptions does.
#![expect(clippy::unwrap_used, reason = "a test fails by a panic")]

mod invitation;
mod reorganization;

use std::time::Duration;

use actix_bully::protocol::AgentId;
use bully_core::protocol::Election;
use bully_sim::{faults::SplitMix64, sim::World};

const MS: fn(u64) -> Duration = Duration::from_millis;

fn name(number: usize) -> AgentId {
    AgentId::new(&format!("{number}")).unwrap()
}

/// Agents crash and recover at random, for so long; then those that are down return, or not.
fn crash_and_recover<E: Election>(world: &mut World<E>, random: &mut SplitMix64, span: Duration) {
    let end = world.now().after(span);
    let all: Vec<AgentId> = world.agents().cloned().collect();
    // Quick successions within an election, and quiet times between them.
    let pauses = [MS(1), MS(3), MS(20), MS(400)];
    while world.now() < end && world.violation().is_none() {
        let agent = random.pick(&all).unwrap().clone();
        if world.is_running(&agent) {
            world.crash(&agent);
        } else {
            world.restart(&agent);
        }
        let pause = *random.pick(&pauses).unwrap();
        world.run_for(MS(random.below(3)) + pause);
    }
    for agent in &all {
        if random.chance(700) || world.views().next().is_none() {
            world.restart(agent);
        }
    }
}

/// Whether all that have a value have the same.
fn all_same<T: PartialEq>(values: impl IntoIterator<Item = T>) -> bool {
    let mut values = values.into_iter();
    let first = values.next();
    values.all(|value| first.as_ref() == Some(&value))
}
