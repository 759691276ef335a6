//! The machines in a seeded world: virtual time, faults, invariants. The world uses no real clock, no thread and no
//! actor.
//!
//! ```text
//!           verbs: crash, restart, pause, partition, cut, heal, set_score, …
//!                                   │
//!   ┌───────────┐ due     ┌─────────▼─────────┐ effects   ┌────────────┐
//!   │   queue   ├────────▶│ driver of an agent├──────────▶│ wire       │ fate of each
//!   │ by (time, │ message, │   one machine,    │ messages  │ = network  │ message: faults
//!   │  sequence)│ timer,  │   one clock,      │           │ + traps    │
//!   └─────▲─────┘ update  │   one disk        ├─ timers ─┐└─────┬──────┘
//!         │               └─────────┬─────────┘          │      │
//!         └─────────────────────────┼────────────────────┴──────┘
//!                                   ▼
//!                   checks after every step: contract, invariant
//! ```
//!
//! Decided here: the order of events, and that the driver fulfils its duties in
//! [`Election`](bully_core::protocol::Election) exactly. Not here: any election. The same seed and the same calls
//! give the same run.
//!
//! # Testing your own scenario
//! Describe the events, and the invariant that must hold after every step; then run it with many seeds. In this
//! example, a leader that is cut off from all others still believes that it leads, so two agents lead until the cut
//! ends.
//!
//! ```
//! use bully_core::elections::bully::{Bully, BullyConfig};
//! use bully_sim::{faults::Conditions, sim::{Participant, World}};
//! use std::{error::Error, sync::Arc, time::Duration};
//! let config = Arc::new(BullyConfig::default());
//! let ms = Duration::from_millis;
//! let network = Conditions::builder().delay(ms(1)..=ms(20)).duplication(100).build()?;
//! for seed in 0..50 {
//!     let voter = |(name, score): (&str, i32)| -> Result<_, Box<dyn Error>> {
//!         let (id, score) = (name.parse()?, Some(score.into()));
//!         Ok(Participant::<Bully>::voter(id, score, Arc::clone(&config)))
//!     };
//!     let voters = [("a", 1), ("b", 2), ("c", 3)].map(voter).into_iter();
//!     let mut world = World::builder(seed)
//!         .agents(voters.collect::<Result<Vec<_>, _>>()?)
//!         .conditions(network)
//!         .build();
//!     world.set_invariant(|world| match world.believers().as_slice() {
//!         [_, _, _, ..] => Err(String::from("three lead")),
//!         _ => Ok(()),
//!     });
//!     assert_eq!(world.settle(ms(5_000))?.as_str(), "c");
//!     world.isolate("c");
//!     world.run_for(ms(5_000));
//!     assert!(world.is_contested(), "the others have elected b, and c knows nothing of it");
//!     world.heal();
//!     assert_eq!(world.settle(ms(5_000))?.as_str(), "c", "seed {seed}");
//!     assert_eq!(world.violation(), None);
//! }
//! # Ok::<(), Box<dyn Error>>(())
//! ```
//!
//! For another election, implement [`Election`](bully_core::protocol::Election) and describe its promises in a
//! [`Scenario`](chaos::Scenario); [`chaos`](chaos::chaos()) does the rest. The scenarios of this crate's elections
//! are in `tests/oracles`. To run thousands of seeds: `cargo run --release --example simulate -- --seeds 0..5000`.
//!
//! Read next: [`World`] and its verbs; `drive` contains the whole driver; [`chaos`] causes the faults.

pub mod chaos;

mod agree;
mod builder;
mod change;
mod clock;
mod contract;
mod disk;
mod drive;
mod node;
mod queue;
mod replays;
mod second;
mod situation;
mod transit;
mod trap;
mod updates;
mod verbs;
mod world;

pub use agree::Unsettled;
pub use builder::WorldBuilder;
pub use contract::TermOrder;
pub use node::Participant;
pub use second::StoreContents;
pub use situation::{Situation, Situations};
pub use transit::DroppedMessages;
pub use trap::{Reaction, Trap};
pub use updates::Detection;
pub use world::{Violation, World};

#[cfg(test)]
pub(crate) mod tests;
