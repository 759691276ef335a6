//! An actor that runs on the leader only: when it begins and ends, and what its end means for others.
//!
//! `worker.rs` is the actor; the others are tests, by question.

mod ends;
mod panics;
mod runs;
pub(super) mod worker;
