//! Does the guardian keep its promises? Virtual time; what happened is one trace, asserted as a whole.
//!
//! `probe.rs` is the actor that fails on demand and `stage.rs` runs it; the others are tests, by question:
//! what follows a panic, a stop, a storm; when is a child given up on; which parties hear of it, in which order;
//! how does a guardian itself end.

mod budget;
mod ends;
mod hook;
mod panics;
mod policy;
mod probe;
mod stage;
mod stops;
mod storms;
