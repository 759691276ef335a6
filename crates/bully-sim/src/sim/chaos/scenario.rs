//! The properties of an election that chaos needs: the agents that take part, and the promises to check.

use std::{fmt, time::Duration};

use super::Fault;
use crate::{
    faults::{Conditions, SplitMix64},
    sim::{Participant, Situation, TermOrder, World},
};
use bully_core::protocol::{AgentId, Election, Score, Timings};

/// An election under test, for one history.
pub trait Scenario {
    /// The machine under test.
    type Election: Election;

    /// Returns an agent with this name, for the beginning or for a later join.
    fn participant(&mut self, id: AgentId, random: &mut SplitMix64) -> Participant<Self::Election>;

    /// Returns a random score for an agent: from 0 to 9, and sometimes `None`.
    fn score(&mut self, random: &mut SplitMix64) -> Option<Score> {
        let score = i64::try_from(random.below(10)).unwrap_or(0);
        (!random.chance(70)).then(|| Score::from(score))
    }

    /// Returns the delay bound d: in the calm phase, delay and lateness together do not exceed it.
    fn delay_bound(&self) -> Duration;

    /// Returns the longest time until agreement, counted from when all faults have ended and the last old message has
    /// arrived. Clocks run at most `skew` parts in a million fast or slow.
    fn settles_within(&self, skew: u32) -> Duration;

    /// Returns the names of the messages after which a fault is most dangerous.
    fn decisive(&self) -> &[&'static str];

    /// Returns whether a later leader that an agent follows may have a lower term than the leader before it.
    fn term_order(&self) -> TermOrder {
        TermOrder::Rising
    }

    /// Returns the expected outcome. The chaos calls this again when an agent begins or stops to run, gets another
    /// leader or another score, or gains or loses the leadership. Default: the highest-ranked agent leads.
    fn expected(&self, world: &World<Self::Election>) -> Expected {
        let highest = world.highest();
        highest.map_or(Expected::NoLeader, |rank| Expected::Only(rank.id))
    }

    /// Returns the number of agents that may lose the record on which they depend while the other agents still keep the
    /// promises. Default: any number.
    fn may_lose_storage(&self) -> usize {
        usize::MAX
    }

    /// Returns whether this fault can happen to this election. Default: whether it can happen in [every
    /// one](Fault::is_general).
    fn takes(&self, fault: Fault) -> bool {
        fault.is_general()
    }

    /// Called before an agent gets a second process, or another store. Returns whether the scenario allows the fault.
    /// If it allows the fault, the scenario expects less from then on. Default: `false`.
    fn doubts_memory(&mut self, world: &World<Self::Election>, agent: &AgentId) -> bool {
        let _: (&World<Self::Election>, &AgentId) = (world, agent);
        false
    }

    /// Returns random timings for an agent that restarts, if members may have different timings.
    fn timings(&mut self, random: &mut SplitMix64) -> Option<Timings> {
        let _: &mut SplitMix64 = random;
        None
    }

    /// Returns the configuration of an agent in which these timings replace the agent's own timings.
    fn retimed(
        &mut self,
        config: &<Self::Election as Election>::Config,
        timings: &Timings,
    ) -> Option<<Self::Election as Election>::Config> {
        let _: (&<Self::Election as Election>::Config, &Timings) = (config, timings);
        None
    }

    /// Asks an agent for another list of voters, if the election can change the list. Returns the agent's situation.
    fn change_voters(
        &mut self,
        world: &mut World<Self::Election>,
        random: &mut SplitMix64,
    ) -> Option<Situation> {
        let _: (&World<Self::Election>, &SplitMix64) = (world, random);
        None
    }

    /// Returns the factor by which histories of this election take longer, because of its timings: faults last longer
    /// and follow each other more slowly by this factor. Default: 1.
    fn stretch(&self) -> u32 {
        1
    }

    /// Does the work of a user after all faults have ended and old messages are gone. Default: nothing.
    fn healed(&mut self, world: &mut World<Self::Election>) {
        let _: &World<Self::Election> = world;
    }

    /// Checks the world after every step of a machine. Between such steps only time passes.
    ///
    /// # Errors
    /// The text of the violation, which ends the history.
    fn check(&mut self, world: &World<Self::Election>) -> Result<(), String> {
        let _: &World<Self::Election> = world;
        Ok(())
    }
}

/// The state that a history must reach in the end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Expected {
    /// No agent leads, because no agent can be elected.
    NoLeader,
    /// All agents agree on some leader.
    AnyLeader,
    /// All agents agree on this leader.
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

/// Returns conditions within the delay bound. Half of the bound is left for processing.
pub(super) fn calm(bound: Duration) -> Conditions {
    let range = bound / 20..=bound / 2;
    let conditions = Conditions::builder().delay(range).build();
    conditions.unwrap_or_default()
}

/// Returns the name of an agent in a history: `a` to `z`, then `n26` and so on.
pub fn name(number: usize) -> Option<AgentId> {
    let sent = u32::try_from(number).ok().filter(|n| *n < 26);
    let sent = sent.and_then(|n| char::from_u32(u32::from('a') + n));
    let text = sent.map_or_else(|| format!("n{number}"), String::from);
    AgentId::new(&text).ok()
}
