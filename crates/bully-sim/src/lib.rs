//! A seeded simulator for leader elections: any [`Election`](bully_core::protocol::Election), in virtual time.
//!
//! | module | content |
//! |---|---|
//! | [`sim`] | the world: agents, clocks, disks, verbs such as crash and partition, an invariant, chaos |
//! | [`faults`] | the faults of a network: lost, late and doubled messages, partitions |
//! | [`trace`] | a recorded run, as text, as a diagram and as a file |
//!
//! The simulator uses no clock, thread or runtime: the same seed and the same calls give the same run. The page [`sim`]
//! begins with a program. The feature `testkit` of [actix-bully](https://docs.rs/actix-bully) uses the same faults and
//! recordings for real agents.
//!
//! Not here: any election. The tests of the repository check the promises of each election of this project under chaos.
#![forbid(unsafe_code)]

#[macro_use(debug_is_text)]
extern crate bully_core;

pub mod faults;
pub mod sim;
pub mod trace;
