//! The reports that an operator reads of a running node, and the commands to it: `src/operate/`.

mod commands;
mod leases;
mod report;
#[cfg(unix)]
mod socket;
