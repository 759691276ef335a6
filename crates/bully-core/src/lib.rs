//! Leader elections as pure state machines: without a runtime, a clock, a file or randomness.
//!
//! ```text
//!               ┌────────────────────────────────────────────┐
//!   Input ─────▶│ Election::handle(now, input, &mut effects) │─────▶ effects, in order
//!               └────────────────────┬───────────────────────┘
//!                                    ▼
//!                     Election::view(now): role, term, leader
//! ```
//!
//! For an actix application use the crate [actix-bully], which includes this crate. Use this crate to run the machines
//! under another runtime, or to write another election.
//!
//! | module | content |
//! |---|---|
//! | [`protocol`] | the contract: inputs, effects, view; ids, ranks, terms, timings |
//! | [`elections`] | the machines: bully, ASTRA, quorum, lease |
//! | [`parts`] | parts that the machines share, and that another election can use |
//! | [`driver`] | further calls of a driver, which has to keep the list of members |
//! | [`record`] | the recording of a run: its file, its drawings, a test that repeats it |
//!
//! # The contract
//! [`Election`](protocol::Election) lists the promises of a machine, and the eight duties of its driver. A machine is
//! *total*: it handles every input in every role without an error. The same inputs give the same effects.
//!
//! # A driver
//! This driver uses plain tokio. It is the example `driver` of this crate (`cargo run -p bully-core --example driver`):
//!
//! ```no_run
#![doc = include_str!("../examples/driver.rs")]
//! ```
//!
//! # Testing a machine
//! The crate [bully-sim] runs any [`Election`](protocol::Election) in a seeded world: virtual time, lost and doubled
//! messages, crashes, partitions, slow clocks, and an invariant that is checked after each step.
//!
//! # Events
//! The machines trace with `target: "actix_bully"`, so that the filter of an application shows an election with the
//! rest of the crate.
//!
//! [actix-bully]: https://docs.rs/actix-bully
//! [bully-sim]: https://docs.rs/bully-sim
#![forbid(unsafe_code)]

#[macro_use]
mod errors;

pub mod driver;
pub mod elections;
pub mod parts;
pub mod protocol;
#[doc(hidden)]
pub mod random;
pub mod record;
