//! The faults in which members get different timings: one of them, or one after the other.
//!
//! Decided here: which agent restarts with which timings, and when. Not here: the choice of the timings, and of a
//! configuration with them; both belong to the [`Scenario`].

use super::{Scenario, strikes::target};
use crate::{
    faults::SplitMix64,
    sim::{Situation, World},
};
use bully_core::protocol::{AgentId, Timings};

/// A change of all members' timings, one member after the other, as an operator makes it.
#[derive(Debug, Default)]
pub(super) struct RollingChange {
    to: Option<Timings>,
    done: Vec<AgentId>,
}

impl RollingChange {
    /// Restarts the next member with the new timings. After the last member, chooses other timings. Returns the
    /// situation of the restarted member.
    pub(super) fn go_on<S: Scenario>(
        &mut self,
        world: &mut World<S::Election>,
        scenario: &mut S,
        random: &mut SplitMix64,
    ) -> Option<Situation> {
        let waits = |id: &&AgentId| world.is_running(id) && !self.done.contains(id);
        let next = world.agents().find(waits).cloned();
        let (Some(next), Some(to)) = (next, self.to.clone()) else {
            self.done.clear();
            self.to = scenario.timings(random);
            return None;
        };
        self.done.push(next.clone());
        restart(world, scenario, &next, &to, random)
    }
}

/// Restarts an agent with timings of its own. Returns the situation of the agent.
pub(super) fn differ<S: Scenario>(
    world: &mut World<S::Election>,
    scenario: &mut S,
    random: &mut SplitMix64,
) -> Option<Situation> {
    let timings = scenario.timings(random)?;
    let agent = target(world, random)?;
    restart(world, scenario, &agent, &timings, random)
}

/// Ends an agent. Its next incarnation has these timings. Usually the next incarnation begins at once, otherwise at the
/// agent's next restart.
fn restart<S: Scenario>(
    world: &mut World<S::Election>,
    scenario: &mut S,
    agent: &AgentId,
    timings: &Timings,
    random: &mut SplitMix64,
) -> Option<Situation> {
    let at_once = random.chance(700);
    let situation = world.situation(agent)?;
    let config = scenario.retimed(world.config(agent)?, timings)?;
    if !world.crash(agent) || !world.reconfigure(agent, config) {
        return None;
    }
    if at_once {
        world.restart(agent);
    }
    Some(situation)
}
