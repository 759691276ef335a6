//! A hostile peer on a real socket: what it gets for each thing it can do, and that an honest peer
//! beside it notices nothing.
//!
//! The port is one that the public API opens, in plain text, with the default limits unless a test
//! shortens a deadline. Every scene names the counters that moved, and all of them.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a scene that cannot be set fails the test"
)]

mod about;
mod breaches;
mod ends;
mod kit;
mod members;
mod receivers;
mod slow;
mod strangers;
