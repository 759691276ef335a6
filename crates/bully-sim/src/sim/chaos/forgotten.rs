//! The fault in which agents lose another agent from their lists of members.
//!
//! Decided here: which agent is forgotten, and which agents forget it. Not here: the change itself, which is a verb
//! of the world.

use super::nemesis::strikes;
use crate::{
    faults::SplitMix64,
    sim::{Situation, World},
};
use bully_core::protocol::{AgentId, Election};

/// Makes one, some or all of the others lose an agent from their lists. Agents that were forgotten earlier are in the
/// lists again. Returns the situation of the forgotten agent.
pub(super) fn strike<E: Election>(
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
