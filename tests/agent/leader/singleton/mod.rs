//! An actor that runs on the leader only: its begin, its end, and the effect of its end on the agent.
//!
//! `worker.rs` has the actor. Each other file has the tests of one question.

mod ends;
mod panics;
mod runs;
pub(super) mod worker;
