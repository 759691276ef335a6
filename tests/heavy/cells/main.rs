//! Every interleaving of the threads that share one agent, under loom.
//!
//! The tests compile the crate's own files once more with loom's locks and atomics: another thread may run at each
//! read, write and lock.
#![allow(
    dead_code,
    reason = "the files have more than what threads race for here"
)]

use bully_core::protocol;

mod agent;
mod group;
mod sync;

fn main() {}
