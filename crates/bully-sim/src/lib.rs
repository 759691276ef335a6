//! A seeded simulator for leader elections: any [`Election`](bully_core::protocol::Election), in virtual time.
//!
//! | module | what it has |
//! |---|---|
//! | [`sim`] | the world: agents, clocks, disks, verbs such as crash and partition, an invariant, chaos |
//! | [`faults`] | what a network does to messages |
//! | [`trace`] | a recorded run, as text, as a diagram and as a file |
//!
//! No clock, no thread, no runtime: the same seed and the same calls give the same run. [`sim`] begins with a program.
//! [actix-bully](https://docs.rs/actix-bully) has these modules as `actix_bully::testkit`.
//!
//! Not here: any election. What each of ours owes under chaos is beside the tests of the repository.
#![forbid(unsafe_code)]

pub mod faults;
pub mod sim;
pub mod trace;
