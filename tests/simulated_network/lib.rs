//! Bridges and agents on the hosts of a simulated network, through histories drawn by seeds.
//!
//! Each host runs what a real one runs: a group, a [`RemoteBridge`](actix_bully::remote::RemoteBridge)
//! and an agent, on an event loop of its own. Only the sockets, the clock and the disk are
//! simulated, so that a seed is a history, the same each time.
//!
//! | file | what it decides |
//! |---|---|
//! | `plan.rs` | what a history is made of, and how long agreement may take |
//! | `host.rs` | what a process is, and what survives it |
//! | `wire.rs`, `clock.rs`, `disk.rs` | what is simulated |
//! | `faults.rs` | what can happen |
//! | `check.rs` | what must hold |
//! | `history.rs` | the order of all that |
//! | `many.rs`, `main.rs` | many seeds on all cores, and what they have to have met |

pub mod check;
pub mod clock;
pub mod disk;
mod faults;
pub mod history;
pub mod host;
pub mod many;
pub mod plan;
#[cfg(test)]
mod tests;
pub mod wire;
