//! The fault in which several agents crash at once, and restart at once.
//!
//! Decided here: which agents crash. Not here: the crash and the restart, which are verbs of the world.

use crate::{
    faults::SplitMix64,
    sim::{Situation, World},
};
use bully_core::protocol::{AgentId, Election};

/// Crashes two or more running agents, or all, and restarts them at the same moment. Returns the situation of one of
/// them.
pub(super) fn strike<E: Election>(
    world: &mut World<E>,
    random: &mut SplitMix64,
) -> Option<Situation> {
    let running = world.agents().filter(|id| world.is_running(id));
    let mut some: Vec<AgentId> = running.cloned().collect();
    random.shuffle(&mut some);
    if random.chance(500) {
        some.truncate(2);
    }
    for agent in &some {
        world.crash(agent);
    }
    let begin = some.iter().filter(|agent| world.restart(agent)).count();
    let last = some.last().filter(|_| begin > 1)?;
    world.situation(last)
}
