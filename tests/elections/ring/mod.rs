//! The ring election in a simulated world: the scenarios by number (`s07_..` is scenario 7), the
//! seed's own ring, message counts against their formulas; then as actors, and on the wire.
//!
//! Agents are `a`, `b`, … in the order of the ring; where nothing else is said the score of each
//! is its place, so that the last one is the highest in rank. Delays are anything that the timings
//! allow, and each scenario runs with several seeds.
#![expect(
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    clippy::wildcard_enum_match_arm,
    reason = "what does not hold fails the test"
)]

mod counts;
mod kit;
mod messages;
mod rings;
mod seed;
