//! The plain ASTRA rules under chaos.
//!
//! Decided here: what is owed, which is what a bully owes ([`BullyScenario`](crate::BullyScenario)) but for two limits of these
//! rules. They compare ranks and no terms, so terms may fall. And an agent that cannot be elected cannot
//! ask which agent leads: of two announcements that cross each other it may believe the wrong one for ever. So in
//! these histories every agent is a voter with a score.

use std::{sync::Arc, time::Duration};

use crate::bully::settles_within;
use bully_core::{
    elections::astra::{Astra, AstraConfig},
    protocol::{AgentId, Score},
    random::SplitMix64,
};
use bully_sim::sim::{Participant, TermOrder, World, chaos::Scenario};

/// A group with the plain ASTRA rules: after healing, and once all campaign, the highest-ranked agent
/// leads, and all follow it.
#[derive(Clone, Debug)]
pub struct AstraScenario {
    config: Arc<AstraConfig>,
}

impl Default for AstraScenario {
    /// A history need not wait for long drains and cool-downs: they take half a second.
    fn default() -> Self {
        let half = Duration::from_millis(500);
        let config = AstraConfig {
            drain: half,
            cooldown: half,
            ..AstraConfig::default()
        };
        Self {
            config: Arc::new(config),
        }
    }
}

impl Scenario for AstraScenario {
    type Election = Astra;

    fn participant(&mut self, id: AgentId, random: &mut SplitMix64) -> Participant<Astra> {
        let score = self.score(random);
        // A bully would be an observer now and then: the same seed draws the same history.
        let _ = random.chance(80);
        Participant::voter(id, score, Arc::clone(&self.config))
    }

    fn score(&mut self, random: &mut SplitMix64) -> Option<Score> {
        let score = i64::try_from(random.below(10)).unwrap_or(0);
        let _ = random.chance(70); // a bully would have none
        Some(Score::from(score))
    }

    fn delay_bound(&self) -> Duration {
        self.config.timings.delay_bound()
    }

    fn settles_within(&self, skew: u32) -> Duration {
        let t = &self.config.timings;
        let first = (t.step() + t.jitter()) * 9 + t.deadline() + t.delay_bound() * 4;
        settles_within(t, first + self.config.drain + self.config.cooldown, skew)
    }

    fn decisive(&self) -> &[&'static str] {
        &["elected", "yield", "ok", "resign", "elect"]
    }

    fn term_order(&self) -> TermOrder {
        TermOrder::Any
    }

    /// These rules have no failure detector: an agent has to start.
    fn healed(&mut self, world: &mut World<Astra>) {
        let all: Vec<AgentId> = world.agents().cloned().collect();
        for agent in all {
            world.campaign(agent);
        }
    }
}
