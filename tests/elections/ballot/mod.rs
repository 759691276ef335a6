//! The ballot leader election in seeded worlds: the scenarios by number (`s07_..` is scenario 7), the
//! algorithm as written beside ours, what it costs, and thousands of faults.
//!
//! `kit.rs` sets a scene. On real agents, with real stores: `agents.rs`. Single rules are tested beside
//! the machine.
#![expect(clippy::panic, clippy::unwrap_used, reason = "in the helpers of tests")]

mod agents;
use crate::common;
use crate::support::ble;
mod crashes;
mod elections;
mod faults;
mod kit;
use crate::losses;
mod scores;
use crate::strangers;
mod written;
