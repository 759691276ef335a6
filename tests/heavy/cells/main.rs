//! Every interleaving of the threads that share one agent, under loom.
//!
//! What they share is the crate's own files, compiled once more with loom's locks and atomics: a
//! reading, a writing and a lock are each a place where another thread may run.
#![allow(
    dead_code,
    reason = "the files have more than what threads race for here"
)]

use bully_core::protocol;

mod agent;
mod group;
mod sync;

fn main() {}
