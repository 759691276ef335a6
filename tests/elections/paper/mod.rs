//! Checks the assertions of Garcia-Molina (*Elections in a Distributed Computing System*, 1982) about an election, one
//! by one.
//!
//! The paper has two algorithms, each with assertions of its own. A test states each assertion as a predicate on the
//! states of all running agents, and checks it after every step of hundreds of runs in which agents crash and recover.
//! Other tests show that an assertion fails if one of its assumptions fails.
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

/// Crashes and restarts agents at random for `span`. Then each agent that is down may return or stay down.
fn crash_and_recover<E: Election>(world: &mut World<E>, random: &mut SplitMix64, span: Duration) {
    let end = world.now().after(span);
    let all: Vec<AgentId> = world.agents().cloned().collect();
    // Pauses: short ones within an election, and long ones between elections.
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
