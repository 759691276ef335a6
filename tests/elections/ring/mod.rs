//! Tests of the ring election in a simulated world: the scenarios by number (`s33_..` is scenario 33), counts of messages
//! against their formulas, and messages as JSON.
//!
//! Agents are `a`, `b`, … in the order of the ring. Unless a test sets other scores, the score of an agent is its
//! position, so the last agent ranks highest. Delays take any value that the timings allow, and each scenario runs with
//! several seeds.
#![expect(
    clippy::panic,
    clippy::unwrap_used,
    clippy::wildcard_enum_match_arm,
    reason = "what does not hold fails the test"
)]

mod counts;
mod kit;
mod messages;
mod rings;
