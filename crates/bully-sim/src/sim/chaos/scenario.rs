//! The properties of an election that chaos needs: the agents that take part, and the promises to check afterwards.

use std::{fmt, time::Duration};

use super::Fault;
use crate::{
    faults::SplitMix64,
    sim::{Participant, Situation, TermOrder, World},
};
use bully_core::protocol::{AgentId, Election, Score, Timings};

/// An election under test, for one history.
pub trait Scenario {
    /// The machine.
    type Election: Election;

    /// An agent of this name, at the beginning or when it joins later.
    fn participant(&mut self, id: AgentId, random: &mut SplitMix64) -> Participant<Self::Election>;

    /// A score for an agent: from 0 to 9, and now and then none.
    fn score(&mut self, random: &mut SplitMix64) -> Option<Score> {
        let score = i64::try_from(random.below(10)).unwrap_or(0);
        (!random.chance(70)).then(|| Score::from(score))
    }

    /// The delay bound d: in the calm phase, delay and lateness together stay within it.
    fn delay_bound(&self) -> Duration;

    /// Returns the longest time until agreement once everything is healed, the last old message has arrived, and clocks
    /// run at most `skew` parts in a million fast or slow.
    fn settles_within(&self, skew: u32) -> Duration;

    /// The names of the messages after which a fault hurts most.
    fn decisive(&self) -> &[&'static str];

    /// Returns whether an agent that follows first one leader and then another may rely on a higher term.
    fn term_order(&self) -> TermOrder {
        TermOrder::Rising
    }

    /// Returns the expected outcome. It is called again whenever an agent begins or ceases to run, believes something
    /// else, or gets another score. Default: the highest in rank leads.
    fn expected(&self, world: &World<Self::Election>) -> Expected {
        let highest = world.highest();
        highest.map_or(Expected::NoLeader, |rank| Expected::Only(rank.id))
    }

    /// Number of agents that may lose the record that they depend on while the others still keep the promises. Default:
    /// any number.
    fn may_lose_storage(&self) -> usize {
        usize::MAX
    }

    /// Returns whether such a fault can happen to this election. Default: if it can in [every
    /// one](Fault::is_general).
    fn takes(&self, fault: Fault) -> bool {
        fault.is_general()
    }

    /// Called before an agent gets a second process, or another store. Returns whether the scenario allows that; if so,
    /// it expects less from then on. Default: it does not.
    fn doubts_memory(&mut self, world: &World<Self::Election>, agent: &AgentId) -> bool {
        let _: (&World<Self::Election>, &AgentId) = (world, agent);
        false
    }

    /// Draws other timings for an agent that restarts, where members may have different timings.
    fn timings(&mut self, random: &mut SplitMix64) -> Option<Timings> {
        let _: &mut SplitMix64 = random;
        None
    }

    /// The parameters of an agent with these timings instead of its own.
    fn retimed(
        &mut self,
        config: &<Self::Election as Election>::Config,
        timings: &Timings,
    ) -> Option<<Self::Election as Election>::Config> {
        let _: (&<Self::Election as Election>::Config, &Timings) = (config, timings);
        None
    }

    /// Asks some agent for another list of voters, if the election can change it. Returns the agent's situation.
    fn change_voters(
        &mut self,
        world: &mut World<Self::Election>,
        random: &mut SplitMix64,
    ) -> Option<Situation> {
        let _: (&World<Self::Election>, &SplitMix64) = (world, random);
        None
    }

    /// Factor by which histories of this election take longer, because of its timings: faults last longer and follow
    /// more slowly by this factor. Default: 1.
    fn stretch(&self) -> u32 {
        1
    }

    /// Does the work of a user after everything is healed and old messages are gone. Default: nothing.
    fn healed(&mut self, world: &mut World<Self::Election>) {
        let _: &World<Self::Election> = world;
    }

    /// Checks the world after every step in which a machine moved: in between only time passes.
    ///
    /// # Errors
    /// States the violation; this ends the history.
    fn check(&mut self, world: &World<Self::Election>) -> Result<(), String> {
        let _: &World<Self::Election> = world;
        Ok(())
    }
}

/// What must come of a history in the end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Expected {
    /// No agent may lead: none can be elected.
    NoLeader,
    /// All agree on some leader.
    AnyLeader,
    /// All agree on this one.
    Only(AgentId),
}

impl fmt::Display for Expected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoLeader => f.write_str("no leader"),
            Self::AnyLeader => f.write_str("any leader"),
            Self::Only(id) => write!(f, "{id}"),
        }
    }
}
