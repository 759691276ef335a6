//! A hostile peer on a real socket: the reaction to each thing that it can do. An honest peer beside it notices
//! nothing.
//!
//! The port is opened by the public API, in plain text, with the default limits unless a test shortens a deadline.
//! Every scene names all counters that moved.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a scene that cannot be set fails the test"
)]

mod breaches;
mod ends;
mod kit;
mod members;
mod receivers;
mod slow;
mod strangers;
