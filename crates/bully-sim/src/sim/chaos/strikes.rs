//! The agents that a fault strikes.
//!
//! Decided here: which agent a fault of one agent strikes; which agents crash together, and which agents forget which
//! agent. Not here: the crash, the restart and the change of a list, which are verbs of the world.

use crate::{
    faults::SplitMix64,
    sim::{Situation, World},
};
use bully_core::protocol::{AgentId, Election};

/// Returns an agent that runs. Every other time the result is an agent that leads, if an agent leads.
pub(super) fn target<E: Election>(world: &World<E>, random: &mut SplitMix64) -> Option<AgentId> {
    if random.chance(500) {
        let leaders: Vec<AgentId> = world.believers();
        if let Some(leader) = random.pick(&leaders) {
            return Some(leader.clone());
        }
    }
    let all: Vec<&AgentId> = world.agents().filter(|id| world.is_running(id)).collect();
    random.pick(&all).map(|id| (*id).clone())
}

/// Applies the fault to a running agent. If the fault happened, returns the situation of the agent before the fault.
pub(super) fn strikes<E: Election>(
    world: &mut World<E>,
    random: &mut SplitMix64,
    does: impl FnOnce(&mut World<E>, &AgentId) -> bool,
) -> Option<Situation> {
    let agent = target(world, random)?;
    let situation = world.situation(&agent);
    situation.filter(|_| does(world, &agent))
}

/// Makes one, some or all of the other agents lose an agent from their lists. Agents that were forgotten earlier are in
/// the lists again. Returns the situation of the forgotten agent.
pub(super) fn forget<E: Election>(
    world: &mut World<E>,
    random: &mut SplitMix64,
) -> Option<Situation> {
    world.meet_again();
    let mut others: Vec<AgentId> = world.agents().cloned().collect();
    random.shuffle(&mut others);
    let most = random.below(u64::try_from(others.len()).unwrap_or(0));
    let most = usize::try_from(most).unwrap_or(0).saturating_add(1);
    strikes(world, random, |world, member| {
        let some = others.iter().filter(|agent| *agent != member);
        let forgets = |agent: &AgentId| world.forget(agent, member);
        some.take(most).map(forgets).filter(|does| *does).count() > 0
    })
}

/// Crashes two or more running agents, or all, and restarts them at the same moment. Returns the situation of one of
/// them.
pub(super) fn outage<E: Election>(
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
