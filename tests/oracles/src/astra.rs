//! The plain ASTRA rules under chaos.
//!
//! Decided here: what is owed, which is what a bully owes ([`BullyScenario`](crate::BullyScenario)) but for two limits of these
//! rules. They compare ranks and no terms, so terms may fall. And an agent that cannot be elected cannot
//! ask which agent leads: of two announcements that cross each other it may believe the wrong one for ever. So in
//! these histories every agent is a voter with a score.

use std::{sync::Arc, time::Duration};

use crate::bully::{Contest, settles_within};
use actix_bully::{
    elections::astra::{Astra, AstraConfig},
    protocol::{AgentId, Score},
    testkit::{
        faults::SplitMix64,
        sim::{
            Participant, TermOrder, World,
            chaos::{Expected, Scenario},
        },
    },
};

/// A group with the plain ASTRA rules: after healing, and once all campaign, the highest-ranked agent
/// leads, and all follow it.
#[derive(Clone, Debug)]
pub struct AstraScenario {
    config: Arc<AstraConfig>,
    contest: Contest,
}

impl Default for AstraScenario {
    fn default() -> Self {
        Self::new(AstraConfig::default())
    }
}

impl AstraScenario {
    /// With these rules; the times for draining and cooling down are cut to half a second, so that a
    /// history need not wait for them.
    pub fn new(config: AstraConfig) -> Self {
        let short = Duration::from_millis(500);
        let config = AstraConfig {
            drain: config.drain.min(short),
            cooldown: config.cooldown.min(short),
            ..config
        };
        Self {
            config: Arc::new(config),
            contest: Contest::default(),
        }
    }

    /// The history keeps messages within the delay bound d, and agents awake: two lead at one time
    /// for 2 d at most, which is checked after every step. Only with faults that are
    /// [`BullyScenario::BOUNDED`](crate::BullyScenario::BOUNDED).
    #[must_use]
    pub fn as_bounded(self) -> Self {
        let longest = self.delay_bound() * 2;
        self.contested_for(longest)
    }

    /// Two may lead at one time for so long and no longer. Only where no fault separates agents,
    /// and no agent hangs.
    #[must_use]
    pub fn contested_for(mut self, longest: Duration) -> Self {
        self.contest.longest = Some(longest);
        self
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
        let idle = self.config.drain + self.config.cooldown;
        settles_within(&self.config.timings, idle, skew)
    }

    fn decisive(&self) -> &[&'static str] {
        &["elected", "yield", "ok", "resign", "elect"]
    }

    fn term_order(&self) -> TermOrder {
        TermOrder::Any
    }

    fn expected(&self, world: &World<Astra>) -> Expected {
        world
            .highest()
            .map_or(Expected::NoLeader, |highest| Expected::Only(highest.id))
    }

    fn check(&mut self, world: &World<Astra>) -> Result<(), String> {
        self.contest.check(world)
    }

    /// These rules have no failure detector: an agent has to start.
    fn healed(&mut self, world: &mut World<Astra>) {
        let all: Vec<AgentId> = world.agents().cloned().collect();
        for agent in all {
            world.campaign(agent);
        }
    }
}
