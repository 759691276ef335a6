//! The ring under chaos: its properties after every step, and after healing.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
    time::Duration,
};

use crate::skewed;
use bully_classics::ring::{Ring, RingConfig, RingElectionId};
use bully_core::{
    protocol::{AgentId, Incarnation, Presence},
    random::SplitMix64,
};
use bully_sim::sim::{Participant, World, chaos::Scenario};

/// A ring with one configuration.
///
/// After healing the highest-ranked agent that may be elected leads, and all follow it. After every step: no agent
/// waits for an answer of a member that it knows to be gone, and an agent leaves an election only for a stronger one.
#[derive(Clone, Debug)]
pub struct RingScenario {
    config: Arc<RingConfig>,
    /// All agents that ever took part: the longest wait grows with the ring.
    names: BTreeSet<AgentId>,
    /// The election in which each incarnation takes part.
    elections: BTreeMap<AgentId, (Incarnation, Option<RingElectionId>)>,
    /// Number of elections that gave way to a stronger one.
    suppressed: u64,
}

impl Default for RingScenario {
    /// Drains and cool-downs take half a second, so that a history does not wait for them.
    fn default() -> Self {
        let half = Duration::from_millis(500);
        let config = RingConfig {
            drain: half,
            cooldown: half,
            ..RingConfig::default()
        };
        Self {
            config: Arc::new(config),
            names: BTreeSet::new(),
            elections: BTreeMap::new(),
            suppressed: 0,
        }
    }
}

impl RingScenario {
    /// Returns the number of elections that have given way to a stronger one.
    pub fn suppressed(&self) -> u64 {
        self.suppressed
    }

    /// Checks that no agent waits for a member that it knows to be gone: it sends such a member nothing.
    fn leaves_the_dead_alone(world: &World<Ring>, agent: &AgentId) -> Result<(), String> {
        let (Some(ring), Some(known)) = (world.machine(agent), world.known(agent)) else {
            return Ok(());
        };
        let is_dead = |id: &&AgentId| {
            let member = known.get(id);
            member.is_none_or(|m| m.presence == Presence::Down)
        };
        match ring.awaited().find(is_dead) {
            Some(dead) => Err(format!(
                "{agent} waits for {dead}, which it knows to be gone"
            )),
            None => Ok(()),
        }
    }

    /// Checks `yield-to-stronger`: of two elections the weaker gives way.
    fn suppresses_the_weaker(
        &mut self,
        world: &World<Ring>,
        agent: &AgentId,
    ) -> Result<(), String> {
        let (Some(ring), Some(incarnation)) = (world.machine(agent), world.incarnation(agent))
        else {
            return Ok(());
        };
        let now = ring.election();
        let known = self.elections.get(agent);
        let known = known.filter(|(then, _)| *then == incarnation);
        let before = known.and_then(|(_, before)| before.as_ref());
        if known.is_some() && before == now {
            return Ok(());
        }
        let verdict = match (before, now) {
            (Some(before), Some(now)) if now < before => Err(format!(
                "{agent} left the election {before} for the weaker {now}"
            )),
            (Some(_), Some(_)) => {
                self.suppressed = self.suppressed.saturating_add(1);
                Ok(())
            }
            (_, _) => Ok(()),
        };
        self.elections
            .insert(agent.clone(), (incarnation, now.cloned()));
        verdict
    }
}

impl Scenario for RingScenario {
    type Election = Ring;

    /// Draws mostly voters with scores from 0 to 9; now and then a witness or an observer.
    fn participant(&mut self, id: AgentId, random: &mut SplitMix64) -> Participant<Ring> {
        self.names.insert(id.clone());
        let config = Arc::clone(&self.config);
        let score = self.score(random);
        Participant::drawn(id, score, config, random)
    }

    fn delay_bound(&self) -> Duration {
        self.config.timings.delay_bound()
    }

    /// A cool-down, a silence that has to be noticed, an election without an outcome, and then slots and elections
    /// until the highest-ranked agent leads.
    fn settles_within(&self, skew: u32) -> Duration {
        let (config, n) = (&self.config, self.names.len());
        let t = &config.timings;
        let slots = t.step().saturating_add(t.jitter()) * 8;
        let idle = config.drain + config.cooldown + config.challenge_after;
        let silences = config.silence(n) * 2 + config.probe() * 2;
        let elections = config.token(n) * 2 + config.worst_case_election(n, n) * 2;
        skewed(
            idle + silences + elections + slots * 2 + t.delay_bound() * 8,
            skew,
        )
    }

    fn decisive(&self) -> &[&'static str] {
        &["coordinator", "nominate", "collect", "hop_ack"]
    }

    fn check(&mut self, world: &World<Ring>) -> Result<(), String> {
        // All agents are checked: a new snapshot changes several agents in one step.
        for agent in world.agents() {
            Self::leaves_the_dead_alone(world, agent)?;
            self.suppresses_the_weaker(world, agent)?;
        }
        Ok(())
    }
}
