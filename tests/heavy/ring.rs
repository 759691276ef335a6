//! The ring election under synchrony. No agent is passed over while a hop may take twice the longest delay. So at most
//! one agent leads at every instant, and in time all follow the highest-ranked agent.

use std::{sync::Arc, time::Duration};

use bully_classics::ring::{Ring, RingConfig};
use bully_core::protocol::Timings;

use crate::{
    limits::number,
    relative::ticks,
    rules::{Rules, name},
    timed::{Bounds, World},
};

/// Rules of a ring election for a model.
#[derive(Clone, Debug)]
pub struct Rings {
    config: Arc<RingConfig>,
    /// The tick from which on all agents agree; `None` if the model does not check it. An agent that returns waits for
    /// a heartbeat, which comes after the last tick of a model.
    settled: Option<u16>,
}

impl Rings {
    /// Returns the rules with a Hop of `hop` ticks. The configured delay bound is far below the Hop, so that the
    /// builder of the timings does not refuse a Hop that the model is to find too short.
    ///
    /// # Panics
    /// If `hop` is zero.
    pub fn new(hop: u8) -> Self {
        let timings = Timings::lan()
            .to_builder()
            .delay_bound(ticks(0.1))
            .deadline(ticks(3.0))
            .detector(ticks(200.0), ticks(400.0))
            .step(ticks(f64::from(hop)))
            .jitter(Duration::ZERO)
            .round(ticks(3.0))
            .lease(ticks(900.0), ticks(1_800.0))
            .build()
            .expect("every relation holds");
        let config = RingConfig {
            hop: Some(ticks(hop.into())),
            sends: 1,
            ..RingConfig::new(timings)
        };
        config.check().expect("a hop is longer than two delays");
        Self {
            config: Arc::new(config),
            settled: None,
        }
    }
}

impl Rules for Rings {
    type Election = Ring;
    type Ledger = ();

    fn set(&mut self, _: &mut Bounds, name: &str, value: &'static str) -> bool {
        match name {
            "hop" => *self = Self::new(number(value)),
            "settled" => self.settled = Some(number(value)),
            _ => return false,
        }
        true
    }

    fn config(&self) -> &Arc<RingConfig> {
        &self.config
    }

    /// All ages count: the model ends before a reading is old.
    fn memory(&self) -> Duration {
        ticks(1_000.0)
    }

    fn broken(&self, world: &World<Self>) -> Option<&'static str> {
        if world.believers().nth(1).is_some() {
            return Some("at most one leads");
        }
        let is_late = self.settled.is_some_and(|settled| world.now >= settled);
        (is_late && !agree(world)).then_some("from then on all agree")
    }
}

/// Returns whether all agents that run follow the highest-ranked of them.
fn agree(world: &World<Rings>) -> bool {
    let views = (0..world.count()).map(|agent| world.view(agent));
    let views: Vec<_> = views
        .enumerate()
        .filter_map(|(agent, view)| Some((agent, view?)))
        .collect();
    let best = views.last().map(|(agent, _)| name(*agent));
    views.iter().all(|(_, view)| {
        let leader = view.leader.as_ref().map(|leader| &leader.id);
        leader == best.as_ref()
    })
}
