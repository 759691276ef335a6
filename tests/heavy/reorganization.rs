//! The reorganization under synchrony: GM1, at every instant.
//!
//! The model checks, for every time of crashes and recoveries: two agents in *Reorganization* or *Normal* have the same
//! coordinator, and two agents in *Normal* the same task. So at most one agent considers itself leader.

use std::{sync::Arc, time::Duration};

use bully_classics::reorganization::{PaperStatus, Reorganization, ReorganizationConfig};
use bully_core::protocol::Timings;

use crate::{
    limits::number,
    relative::ticks,
    rules::Rules,
    timed::{Bounds, World},
};

/// Rules of a reorganization for a model.
#[derive(Clone, Debug)]
pub struct Reorganizing {
    config: Arc<ReorganizationConfig>,
}

impl Reorganizing {
    /// Returns the rules with T of `deadline` ticks and a delay bound d of `delay` ticks. The model ends before the
    /// first check.
    ///
    /// # Panics
    /// If T is not above 2 d.
    pub fn new(delay: f64, deadline: u8) -> Self {
        let timings = Timings::lan()
            .to_builder()
            .delay_bound(ticks(delay))
            .deadline(ticks(deadline.into()))
            .detector(ticks(200.0), ticks(400.0))
            .step(ticks(delay.ceil()))
            .jitter(Duration::ZERO)
            .round(ticks(3.0 * delay.ceil()))
            .lease(ticks(900.0), ticks(1_800.0))
            .build()
            .expect("every relation holds");
        Self {
            config: Arc::new(ReorganizationConfig::new(timings)),
        }
    }
}

impl Rules for Reorganizing {
    type Election = Reorganization;
    type Ledger = ();

    fn set(&mut self, _: &mut Bounds, name: &str, value: &'static str) -> bool {
        if name == "times" {
            let (delay, deadline) = value.split_once(',').expect("the delay bound, and T");
            *self = Self::new(number(delay), number(deadline));
        }
        name == "times"
    }

    fn config(&self) -> &Arc<ReorganizationConfig> {
        &self.config
    }

    /// All ages count: the model ends before a reading is old.
    fn memory(&self) -> Duration {
        ticks(1_000.0)
    }

    fn broken(&self, world: &World<Self>) -> Option<&'static str> {
        let living = || (0..world.count()).filter_map(|agent| world.machine(agent));
        let mut coordinators = living().filter_map(Reorganization::coordinator);
        let first = coordinators.next();
        if coordinators.any(|other| Some(other) != first) {
            return Some("GM1 OneCoordinator");
        }
        let normal = |machine: &&Reorganization| machine.status() == PaperStatus::Normal;
        let mut tasks = living().filter(normal).filter_map(Reorganization::task);
        let first = tasks.next();
        if tasks.any(|other| Some(other) != first) {
            return Some("GM1 OneTask");
        }
        world
            .believers()
            .nth(1)
            .is_some()
            .then_some("at most one leads")
    }
}
