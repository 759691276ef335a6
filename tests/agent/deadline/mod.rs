//! Does a deadline fire at its time, in every place where it can be set, and without needless wakes? All tests are in
//! virtual time.
//!
//! `watch.rs` has the actor. Each other file has the tests of one question.

mod firing;
mod wakes;
mod watch;
