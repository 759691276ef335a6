//! The plain bullies: the ASTRA rules, by which ranks alone decide and an agent has to be told to hold an
//! election, and the default ones.
//!
//! Held against the ASTRA rules: at every instant at most one agent considers itself leader; and once
//! nothing will happen by itself any more, every agent follows the highest in rank. By the default rules
//! something always will, unless no agent watches its leader: then the second is held against them, too.

use std::{sync::Arc, time::Duration};

use bully_core::{
    elections::{
        astra::{Astra as Machine, AstraConfig},
        bully::{Bully, BullyConfig},
    },
    protocol::Timings,
};

use crate::{
    relative::ticks,
    rules::{Rules, name},
    timed::World,
};

/// An election by the ASTRA rules, and how it is judged.
#[derive(Clone, Debug)]
pub struct Astra {
    config: Arc<AstraConfig>,
}

impl Astra {
    /// With a deadline of T ticks. What the machines take for the delay bound is far below it, so that
    /// the builder of the timings does not refuse what the model is to find.
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

    fn config(&self) -> &Arc<AstraConfig> {
        &self.config
    }

    /// By these rules a deadline has passed or it has not; none asks how long ago.
    fn memory(&self) -> Duration {
        Duration::ZERO
    }

    fn broken(&self, world: &World<Self>) -> Option<&'static str> {
        broken(world)
    }
}

/// An election by the default rules. Their timings are not in ticks: for models in which any timer may fire.
#[derive(Clone, Debug, Default)]
pub struct Plain {
    config: Arc<BullyConfig>,
}

impl Rules for Plain {
    type Election = Bully;
    type Ledger = ();

    fn config(&self) -> &Arc<BullyConfig> {
        &self.config
    }

    fn memory(&self) -> Duration {
        Duration::MAX
    }

    fn broken(&self, world: &World<Self>) -> Option<&'static str> {
        broken(world)
    }
}

/// An election by the default rules in which no agent watches its leader, so that all comes to rest.
#[derive(Clone, Debug)]
pub struct Unwatched {
    config: Arc<BullyConfig>,
}

impl Unwatched {
    /// With a deadline of T ticks. A message takes one tick at most, a step is two, and a cool-down is seven.
    ///
    /// # Panics
    /// If `deadline` is below three.
    pub fn new(deadline: u8) -> Self {
        let timings = Timings::astra()
            .to_builder()
            .delay_bound(ticks(1.0))
            .deadline(ticks(deadline.into()))
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
}

impl Rules for Unwatched {
    type Election = Bully;
    type Ledger = ();

    fn config(&self) -> &Arc<BullyConfig> {
        &self.config
    }

    /// The longest wait.
    fn memory(&self) -> Duration {
        self.config.timings.victory_wait()
    }

    fn broken(&self, world: &World<Self>) -> Option<&'static str> {
        (world.is_at_rest() && !agree(world)).then_some("at rest all agree")
    }
}

fn broken<R: Rules>(world: &World<R>) -> Option<&'static str> {
    if world.believers().nth(1).is_some() {
        return Some("at most one leads");
    }
    (world.is_at_rest() && !agree(world)).then_some("at rest all agree")
}

/// Whether all that run follow the highest of them in rank. No agent need have a leader before an
/// election began, or after a crash: the agent that asked may be gone, and those below it wait.
fn agree<R: Rules>(world: &World<R>) -> bool {
    let living = || (0..world.len()).filter(|agent| world.view(*agent).is_some());
    let best = living().max_by_key(|agent| (world.scores[*agent], *agent));
    let leader = |agent| world.view(agent).and_then(|view| view.leader);
    let crashed = living().count() < world.len()
        || (0..world.len()).any(|agent| world.incarnation(agent).0 > 1);
    if (!world.stirred || crashed) && living().all(|agent| leader(agent).is_none()) {
        return true;
    }
    let best = best.map(name);
    living().all(|agent| leader(agent).map(|leader| leader.id) == best)
}
