//! The ring under chaos: what it owes at every step, and once all is healed.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
    time::Duration,
};

use bully_classics::ring::{Ring, RingConfig, RingElectionId};
use bully_core::{
    protocol::{AgentId, Incarnation, Presence},
    random::SplitMix64,
};
use bully_sim::sim::{Participant, World, chaos::Scenario};

/// A ring with one configuration.
///
/// After healing the highest-ranked agent that may be elected leads, and all follow it. At every
/// step: no agent waits for an answer of a member that it knows to be dead, and an election that an
/// agent takes part in gives way to a stronger one only.
#[derive(Clone, Debug)]
pub struct RingScenario {
    config: Arc<RingConfig>,
    /// All that ever took part: what is waited for grows with the ring.
    names: BTreeSet<AgentId>,
    /// Which election each incarnation takes part in.
    elections: BTreeMap<AgentId, (Incarnation, Option<RingElectionId>)>,
    /// How many elections gave way to a stronger one.
    suppressed: u64,
}

impl Default for RingScenario {
    /// A history need not wait for long drains and cool-downs: they take half a second.
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
    /// How many elections gave way to a stronger one so far.
    pub fn suppressed(&self) -> u64 {
        self.suppressed
    }

    /// A member that is known to be dead is sent nothing, so no agent waits for it.
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

    /// `yield-to-stronger`: of two elections the weaker gives way.
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

    /// Mostly voters with scores from 0 to 9; now and then a witness or an observer.
    fn participant(&mut self, id: AgentId, random: &mut SplitMix64) -> Participant<Ring> {
        self.names.insert(id.clone());
        let config = Arc::clone(&self.config);
        let score = self.score(random);
        Participant::drawn(id, score, config, random)
    }

    fn delay_bound(&self) -> Duration {
        self.config.timings.delay_bound()
    }

    /// A cool-down, a silence that has to be noticed, an election without an outcome, and then slots
    /// and elections until the highest in rank leads.
    fn settles_within(&self, skew: u32) -> Duration {
        let (config, n) = (&self.config, self.names.len());
        let t = &config.timings;
        let slots = t.step().saturating_add(t.jitter()) * 8;
        let idle = config.drain + config.cooldown + config.challenge_after;
        let silences = config.silence(n) * 2 + config.probe() * 2;
        let elections = config.token(n) * 2 + config.worst_case_election(n, n) * 2;
        let all = idle + silences + elections + slots * 2 + t.delay_bound() * 8;
        all + all * skew / 1_000_000 * 2
    }

    fn decisive(&self) -> &[&'static str] {
        &["coordinator", "nominate", "collect", "hop_ack"]
    }

    fn check(&mut self, world: &World<Ring>) -> Result<(), String> {
        // All of them: a new snapshot moves several in one step.
        for agent in world.agents() {
            Self::leaves_the_dead_alone(world, agent)?;
            self.suppresses_the_weaker(world, agent)?;
        }
        Ok(())
    }
}
