//! The ballot leader election in seeded worlds: the scenarios by number (`s07_..` is scenario 7), the
//! algorithm as written beside ours, what it costs, and thousands of faults.
//!
//! `kit.rs` sets a scene. On real agents, with real stores: `agents.rs`. Single rules are tested beside
//! the machine.
#![expect(clippy::panic, clippy::unwrap_used, reason = "in the helpers of tests")]

mod agents;
#[path = "../support/ble.rs"]
mod ble;
#[path = "../common/mod.rs"]
mod common;
mod cost;
mod crashes;
mod elections;
mod faults;
mod kit;
#[path = "../common/losses.rs"]
mod losses;
mod machines;
mod scores;
#[path = "../common/forged.rs"]
mod strangers;
mod written;
