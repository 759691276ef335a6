//! What an operator reads and commands of a running node: `src/operate/`.

mod commands;
mod report;
#[cfg(unix)]
mod socket;
