//! The members of one election, the routes of their messages, and their records on a disk.

#[path = "../common/mod.rs"]
mod common;

mod basics;
mod crossing;
#[cfg(unix)]
mod store;
mod watch;
