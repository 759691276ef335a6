//! The ballot leader election in seeded worlds: what only it is asked (`rounds.rs`), and the algorithm as written beside ours.
//!
//! `kit.rs` sets a scene. Single rules are tested beside the machine, and `../scenarios/` asks every election.
#![expect(clippy::panic, clippy::unwrap_used, reason = "in the helpers of tests")]

use crate::support::ble;
mod kit;
mod rounds;
mod written;
