//! Tests of rounds of the ballot leader election in seeded worlds; `kit.rs` builds a group. `../programs/` compares it with
//! the algorithm as written. The unit tests of the machine test single rules, and `../scenarios/` tests every election.
#![expect(clippy::panic, clippy::unwrap_used, reason = "in the helpers of tests")]

mod kit;
mod rounds;
