//! The strict bully: ranks alone decide, and somebody must wish for an election.
//!
//! Held against it: at every instant at most one believes that it leads; and once nothing will
//! happen by itself any more, everybody follows the most important one.

use std::{sync::Arc, time::Duration};

use actix_bully::{
    elections::bully::{Bully, BullyConfig},
    protocol::Timings,
};

use crate::{
    relative::ticks,
    timed::{Rules, World, name},
};

/// The strict profile with a deadline of T ticks.
#[derive(Clone, Debug)]
pub struct Strict {
    config: Arc<BullyConfig>,
}

impl Strict {
    /// T. What the machines take for the delay bound is far below it, so that the builder of the
    /// timings does not refuse what the model is to find.
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
        let config = BullyConfig {
            timings,
            ..BullyConfig::strict()
        };
        Self {
            config: Arc::new(config),
        }
    }
}

impl Rules for Strict {
    type Election = Bully;
    type Books = ();

    fn config(&self) -> &Arc<BullyConfig> {
        &self.config
    }

    /// By these rules a deadline has passed or it has not; nobody asks how long ago.
    fn memory(&self) -> Duration {
        Duration::ZERO
    }

    fn broken(&self, world: &World<Self>) -> Option<&'static str> {
        if world.believers().nth(1).is_some() {
            return Some("two lead");
        }
        (world.is_at_rest() && !agree(world)).then_some("at rest apart")
    }
}

/// Whether all who live follow the most important of them. Nobody need have a leader before
/// somebody began, or after a crash: who had asked may be gone, and who ranks below it waits.
fn agree(world: &World<Strict>) -> bool {
    let living = || (0..world.len()).filter(|who| world.view(*who).is_some());
    let best = living().max_by_key(|who| (world.scores[*who], *who));
    let leader = |who| world.view(who).and_then(|view| view.leader);
    let crashed =
        living().count() < world.len() || (0..world.len()).any(|who| world.life(who).0 > 1);
    if (!world.stirred || crashed) && living().all(|who| leader(who).is_none()) {
        return true;
    }
    let best = best.map(name);
    living().all(|who| leader(who).map(|leader| leader.id) == best)
}
