//! Tests of the ballot leader election in seeded worlds: `rounds.rs` has tests of rounds, and `written.rs` compares the
//! algorithm as written with this crate's algorithm.
//!
//! `kit.rs` builds a group. The unit tests of the machine test single rules, and `../scenarios/` tests every election.
#![expect(clippy::panic, clippy::unwrap_used, reason = "in the helpers of tests")]

use crate::support::ble;
mod kit;
mod rounds;
mod written;
