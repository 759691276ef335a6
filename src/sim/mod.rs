//! The machines in a seeded world: virtual time, faults, invariants. No clock, no thread, no actor.
//!
//! ```text
//!           verbs: crash, restart, pause, partition, cut, heal, set_score, …
//!                                   │
//!   ┌───────────┐ due     ┌─────────▼─────────┐ effects   ┌────────────┐
//!   │   queue   ├────────▶│ driver of an agent├──────────▶│ wire       │ fate of each
//!   │ by (time, │ letter, │   one machine,    │ messages  │ = network  │ message: faults
//!   │  sequence)│ timer,  │   one clock,      │           │ + traps    │
//!   └─────▲─────┘ news    │   one disk        ├─ timers ─┐└─────┬──────┘
//!         │               └─────────┬─────────┘          │      │
//!         └─────────────────────────┼────────────────────┴──────┘
//!                                   ▼
//!                   checks after every step: contract, invariant
//! ```
//!
//! Decided here: when what happens, and that the driver's side of
//! [`Election`](crate::protocol::Election) is kept to the letter. Not here: any election.
//! The same seed and the same calls give the same run.
//!
//! Read on: [`World`] and its verbs; `drive` is the driver on one page; [`chaos`] breaks things.

pub mod chaos;

mod agree;
mod builder;
mod bully;
mod clock;
mod contract;
mod drive;
mod news;
mod node;
mod queue;
mod quorum;
mod trap;
mod verbs;
mod wire;
mod world;

pub use agree::Unsettled;
pub use builder::WorldBuilder;
pub use bully::BullyScenario;
pub use contract::TermOrder;
pub use news::Detection;
pub use node::Participant;
pub use quorum::{QuorumScenario, Watch, Watched};
pub use trap::{Reaction, Trap};
pub use world::{Violation, World};

#[cfg(test)]
mod tests;
