//! The bully under chaos, by its default rules.
//!
//! Decided here: the properties. In every history: after healing, the highest-ranked agent that may be elected leads,
//! and all follow it. Where messages keep within the delay bound and no agent hangs ([`BullyScenario::BOUNDED`]), one
//! agent leads, or two for at most two delays: a caller checks this with
//! [`contested_for`](bully_sim::sim::chaos::ChaosOptions::contested_for).

use std::{sync::Arc, time::Duration};

use crate::skewed;
use bully_core::{
    elections::bully::{Bully, BullyConfig, Preemption},
    protocol::{AgentId, Timings},
    random::SplitMix64,
};
use bully_sim::sim::{
    Participant, World,
    chaos::{Expected, Fault, Scenario},
};

/// A group of bullies with one configuration. After healing, the highest-ranked agent that may be elected leads, and
/// all follow it.
#[derive(Clone, Debug)]
pub struct BullyScenario {
    config: Arc<BullyConfig>,
}

impl Default for BullyScenario {
    fn default() -> Self {
        Self::new(BullyConfig::default())
    }
}

impl BullyScenario {
    /// The faults that keep messages within the delay bound and agents awake: crashes and returns at any time,
    /// duplicates, any order, hand-overs, members that leave, and scores that change.
    ///
    /// `Join` is not among them: until all agents know a newcomer, only some of them hear it.
    pub const BOUNDED: [Fault; 9] = [
        Fault::Duplication,
        Fault::Reordering,
        Fault::Crash,
        Fault::Restart,
        Fault::ScoreChange,
        Fault::Leave,
        Fault::CrashAfterSend,
        Fault::Campaign,
        Fault::StepDown,
    ];

    /// Returns the scenario with the rules of `config`. The times for draining and cooling down are cut to half a
    /// second, so that a history does not wait for them.
    pub fn new(config: BullyConfig) -> Self {
        let short = Duration::from_millis(500);
        let config = BullyConfig {
            drain: config.drain.min(short),
            cooldown: config.cooldown.min(short),
            ..config
        };
        Self {
            config: Arc::new(config),
        }
    }
}

impl Scenario for BullyScenario {
    type Election = Bully;

    /// Draws mostly voters with scores from 0 to 9; now and then a witness or an observer.
    fn participant(&mut self, id: AgentId, random: &mut SplitMix64) -> Participant<Bully> {
        let config = Arc::clone(&self.config);
        let score = self.score(random);
        Participant::drawn(id, score, config, random)
    }

    fn delay_bound(&self) -> Duration {
        self.config.timings.delay_bound()
    }

    /// A cool-down, a failover, and a second one by an agent of higher rank.
    fn settles_within(&self, skew: u32) -> Duration {
        let config = &self.config;
        let detection = config.timings.detector().map(|found| found.detection);
        let noticed = detection.unwrap_or_default() + config.drain + config.cooldown;
        let all = config.worst_case_failover() + noticed;
        settles_within(&config.timings, all, skew)
    }

    fn decisive(&self) -> &[&'static str] {
        &["elected", "yield", "ok", "resign", "elect"]
    }

    fn expected(&self, world: &World<Bully>) -> Expected {
        let bullies = self.config.preemption == Preemption::Immediately;
        match world.highest() {
            None => Expected::NoLeader,
            Some(highest) if bullies && self.config.margin.is_none() => Expected::Only(highest.id),
            Some(_) => Expected::AnyLeader,
        }
    }
}

/// Returns the time that agreement may take after healing: a first failover, the vain wait for an agent of a higher
/// rank, and an election by another agent.
pub(super) fn settles_within(t: &Timings, first: Duration, skew: u32) -> Duration {
    let second = t.step() + t.victory_wait() + t.deadline() + t.delay_bound() * 8;
    skewed(first + second, skew)
}
