//! What an operator reads and commands of a running node: `src/operate/`.

mod commands;
mod leases;
mod report;
#[cfg(unix)]
mod socket;
