//! The plain ASTRA rules under chaos.
//!
//! Decided here: the properties, which are those of a bully ([`BullyScenario`](crate::BullyScenario)) except for two
//! limits of these rules. They compare ranks and no terms, so terms may fall. And an agent that cannot be elected
//! cannot ask which agent leads: of two announcements that cross each other it may believe the wrong one for ever. So
//! in these histories every agent is a voter with a score.

use std::{sync::Arc, time::Duration};

use crate::bully::settles_within;
use bully_core::{
    elections::astra::{Astra, AstraConfig},
    protocol::{AgentId, Score},
    random::SplitMix64,
};
use bully_sim::sim::{Participant, TermOrder, World, chaos::Scenario};

/// A group with the plain ASTRA rules. After healing, and after all agents campaign, the highest-ranked agent leads,
/// and all follow it.
#[derive(Clone, Debug)]
pub struct AstraScenario {
    config: Arc<AstraConfig>,
}

impl Default for AstraScenario {
    /// Drains and cool-downs take half a second, so that a history does not wait for them.
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
        // The draw for which a bully may become an observer: the same seed draws the same history.
        let _ = random.chance(80);
        Participant::voter(id, score, Arc::clone(&self.config))
    }

    fn score(&mut self, random: &mut SplitMix64) -> Option<Score> {
        let score = i64::try_from(random.below(10)).unwrap_or(0);
        let _ = random.chance(70); // the draw of a bully without a score
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

    /// Lets every agent campaign, since these rules have no failure detector.
    fn healed(&mut self, world: &mut World<Astra>) {
        let all: Vec<AgentId> = world.agents().cloned().collect();
        for agent in all {
            world.campaign(agent);
        }
    }
}
