//! Does a deadline fire when it should, wherever it was set, and without needless wakes? Virtual time.
//!
//! `watch.rs` is the actor; the others are tests, by question.

mod firing;
mod restarts;
mod wakes;
mod watch;
