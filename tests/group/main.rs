//! The members of one election, the routes of their messages, and their records on a disk.
#![expect(
    clippy::unwrap_used,
    reason = "a scene that cannot be set fails the test"
)]

#[path = "../common/mod.rs"]
mod common;

mod basics;
mod hosts;
mod kit;
#[cfg(unix)]
mod store;
mod watch;
