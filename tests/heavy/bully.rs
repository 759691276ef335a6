//! The plain bullies: the ASTRA rules and the default rules. By the ASTRA rules only ranks decide, and an agent begins
//! an election only by a command.
//!
//! The model checks two properties of the ASTRA rules: at most one agent considers itself leader at every instant; and
//! when nothing more happens without a command, every agent follows the highest in rank. By the default rules the
//! second property is checked only if no agent watches its leader: otherwise timers go on for ever.

use std::{sync::Arc, time::Duration};

use bully_core::{
    elections::{
        astra::{Astra as Machine, AstraConfig},
        bully::{Bully, BullyConfig},
    },
    protocol::Timings,
};

use crate::{
    limits::number,
    relative::ticks,
    rules::{Rules, name},
    timed::{Bounds, World},
};

/// Rules of an ASTRA election for a model.
#[derive(Clone, Debug)]
pub struct Astra {
    config: Arc<AstraConfig>,
}

impl Astra {
    /// Returns the rules with a deadline of `deadline` ticks. The configured delay bound is far below a quarter of it,
    /// so that the builder of the timings does not refuse a deadline that the model is to find too short.
    ///
    /// # Panics
    /// If `deadline` is zero.
    pub fn new(deadline: u8) -> Self {
        let deadline = ticks(deadline.into());
        let timings = Timings::astra()
            .to_builder()
            .delay_bound(deadline / 4)
            .deadline(deadline)
            .build()
            .expect("the deadline is above twice its quarter");
        let config = AstraConfig {
            timings,
            ..AstraConfig::default()
        };
        Self {
            config: Arc::new(config),
        }
    }
}

impl Rules for Astra {
    type Election = Machine;
    type Ledger = ();

    fn set(&mut self, _: &mut Bounds, name: &str, value: &'static str) -> bool {
        if name == "deadline" {
            *self = Self::new(number(value));
        }
        name == "deadline"
    }

    fn config(&self) -> &Arc<AstraConfig> {
        &self.config
    }

    /// A reading in the past makes no difference: no rule reads how long ago a deadline passed.
    fn memory(&self) -> Duration {
        Duration::ZERO
    }

    fn broken(&self, world: &World<Self>) -> Option<&'static str> {
        broken(world)
    }
}

/// The default rules. Usually their timings are not in ticks: for models in which any timer may fire at any time.
#[derive(Clone, Debug, Default)]
pub struct Plain {
    config: Arc<BullyConfig>,
}

impl Plain {
    /// Returns the rules in which no agent watches its leader, so that the world comes to rest. A message takes one tick
    /// at most, the deadline is three ticks, a step is two, and a cool-down is seven.
    ///
    /// # Panics
    /// Never: the deadline is above twice the delay bound.
    pub fn unwatched() -> Self {
        let timings = Timings::astra()
            .to_builder()
            .delay_bound(ticks(1.0))
            .deadline(ticks(3.0))
            .step(ticks(2.0))
            .build()
            .expect("the deadline is above twice the delay bound");
        let config = BullyConfig {
            timings,
            cooldown: ticks(7.0),
            ..BullyConfig::default()
        };
        Self {
            config: Arc::new(config),
        }
    }

    fn is_watched(&self) -> bool {
        self.config.timings.detector().is_some()
    }
}

impl Rules for Plain {
    type Election = Bully;
    type Ledger = ();

    fn config(&self) -> &Arc<BullyConfig> {
        &self.config
    }

    /// The longest wait of the rules, or any wait where the timings are not in ticks.
    fn memory(&self) -> Duration {
        if self.is_watched() {
            return Duration::MAX;
        }
        self.config.timings.victory_wait()
    }

    fn broken(&self, world: &World<Self>) -> Option<&'static str> {
        if self.is_watched() {
            return broken(world);
        }
        (world.is_at_rest() && !agree(world)).then_some("at rest all agree")
    }
}

fn broken<R: Rules>(world: &World<R>) -> Option<&'static str> {
    if world.believers().nth(1).is_some() {
        return Some("at most one leads");
    }
    (world.is_at_rest() && !agree(world)).then_some("at rest all agree")
}

/// Returns whether all agents that run follow the highest-ranked of them. An agent may have no leader before an
/// election began, and after a crash: the agent that asked may have crashed, and the agents below it wait.
fn agree<R: Rules>(world: &World<R>) -> bool {
    let living = || (0..world.count()).filter(|agent| world.view(*agent).is_some());
    let best = living().max_by_key(|agent| (world.scores[*agent], *agent));
    let leader = |agent| world.view(agent).and_then(|view| view.leader);
    let crashed = living().count() < world.count()
        || (0..world.count()).any(|agent| world.incarnation(agent).0 > 1);
    if (!world.stirred || crashed) && living().all(|agent| leader(agent).is_none()) {
        return true;
    }
    let best = best.map(name);
    living().all(|agent| leader(agent).map(|leader| leader.id) == best)
}
