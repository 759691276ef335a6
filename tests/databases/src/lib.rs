//! The PostgreSQL server of the tests.
//!
//! The tests are in `tests/`, in a file for each database. `postgres.rs` starts a server of its own.
#![expect(
    clippy::disallowed_methods,
    reason = "a deadline of real time, for other processes and threads"
)]

#[path = "../../support/ports.rs"]
mod ports;
mod server;
pub mod stopped;

pub use server::Server;

use std::{
    fs,
    os::unix::fs::{MetadataExt, PermissionsExt, chown},
    path::Path,
    time::Duration,
};

/// Longest time for one step of a test.
pub const DEADLINE: Duration = Duration::from_secs(30);

/// Returns a free port of loopback, and no port twice in a process. All packages of tests use this function: two
/// copies of it could return the same port.
pub fn free_port() -> u16 {
    ports::free_port()
}

/// Writes a file of a server's data folder. Only the owner of the folder can read the file.
pub fn give(data: &Path, name: &str, text: &str) {
    let owner = fs::metadata(data).expect("it is there");
    let path = data.join(name);
    fs::write(&path, text).expect("it can be written");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).expect("it is ours");
    chown(&path, Some(owner.uid()), Some(owner.gid())).expect("it can be given away");
}
