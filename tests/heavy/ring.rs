//! The ring election under synchrony: no agent is passed over while a hop may take twice the longest
//! delay, so at most one leads at every instant, and all follow the highest-ranked one in time.

use std::{sync::Arc, time::Duration};

use bully_classics::ring::{Ring, RingConfig};
use bully_core::protocol::Timings;

use crate::{
    relative::ticks,
    rules::{Rules, name},
    timed::World,
};

/// A ring, and how it is judged.
#[derive(Clone, Debug)]
pub struct Rings {
    config: Arc<RingConfig>,
    /// From this tick on all agree; `None` if no user asks.
    pub settled: Option<u16>,
}

impl Rings {
    /// A ring with a Hop of so many ticks, in which all agree from some tick on. What the machines
    /// take for the delay bound is far below the Hop, so that the builder does not refuse what the
    /// model is to find.
    ///
    /// # Panics
    /// If `hop` is zero.
    pub fn new(hop: u8, settled: Option<u16>) -> Self {
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
            settled,
        }
    }
}

impl Rules for Rings {
    type Election = Ring;
    type Ledger = ();

    fn config(&self) -> &Arc<RingConfig> {
        &self.config
    }

    /// All ages count: the horizon is near.
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

/// Whether all that run follow the highest-ranked of them.
fn agree(world: &World<Rings>) -> bool {
    let views = (0..world.len()).map(|agent| world.view(agent));
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
