//! Who takes part in one election, where the messages of each go, and what is kept of it on a disk.

#[path = "../common/mod.rs"]
mod common;

mod basics;
mod messages;
#[cfg(all(unix, feature = "planted"))]
mod planted;
#[cfg(unix)]
mod store;
mod watch;
