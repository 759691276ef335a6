//! Tests of the quorum election in a simulated world: the scenarios by number (`s57_..` is scenario 57), and chaos.
#![expect(
    clippy::expect_used,
    clippy::panic,
    clippy::unwrap_used,
    reason = "what does not hold fails the test"
)]

mod chaos;
mod clocks;
mod diskless;
mod epochs;
mod faults;
mod incarnations;
mod kit;
mod restarts;
mod slow_voters;
mod stores;
