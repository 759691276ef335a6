//! The properties of each election under chaos: its scenario for the simulator checks them after every step.
//!
//! ```
//! use bully_sim::sim::chaos::{ChaosOptions, chaos};
//! let report = chaos(7, 3, &ChaosOptions::default(), &mut actix_bully_oracles::BullyScenario::default());
//! assert!(report.violation.is_none(), "{report}");
//! ```
//!
//! Decided here: the properties. The faults are decided in [`chaos`](bully_sim::sim::chaos).

mod astra;
mod ballot;
mod bully;
mod invitation;
mod lease;
mod quorum;
mod reorganization;
mod ring;

use std::time::Duration;

use bully_core::{
    protocol::{AgentId, Election, Timings},
    random::SplitMix64,
};
use bully_sim::sim::World;

pub use astra::AstraScenario;
pub use ballot::BallotScenario;
pub use bully::BullyScenario;
pub use invitation::InvitationScenario;
pub use lease::LeaseScenario;
pub use quorum::{QuorumScenario, Watch, Watched};
pub use reorganization::ReorganizationScenario;
pub use ring::RingScenario;

/// Returns the voters that are up, including those that hang, with their machines. An observer is left out, because it
/// hears of changes last.
fn voters<E: Election>(world: &World<E>) -> impl Iterator<Item = (&AgentId, &E)> {
    world.agents().filter_map(|id| {
        let me = world.known(id)?.get(id)?;
        let machine = world.machine(id)?;
        Some((id, machine)).filter(|_| me.is_voter())
    })
}

/// Draws timings: mostly those within a process.
fn preset(random: &mut SplitMix64) -> Timings {
    match random.below(4) {
        0 => Timings::default(),
        1 => Timings::lan(),
        _ => Timings::in_process(),
    }
}

/// Returns the time by the true clock in which each clock, which errs by `skew` parts per million, has counted `all`.
fn skewed(all: Duration, skew: u32) -> Duration {
    all + all * skew / 1_000_000 * 2
}
