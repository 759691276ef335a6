//! The pure parts together: leaders and the agents that acknowledge, in a seeded world.
//!
//! `world/` is their own world, in which disks fail and any agent may believe that it leads at any time. `histories.rs`
//! checks its promises, and `changes.rs` checks them while the voters change. `available.rs` tests the mode without
//! votes. `tests/agent/leader/histories.rs` tests schedules with a real election, and `tests/simulated_network` between
//! hosts.

mod available;
mod changes;
mod histories;
mod world;

/// Returns the number of seeded histories; `HISTORIES=1000` plays another number.
fn played(usual: usize) -> usize {
    let asked = std::env::var("HISTORIES").ok();
    asked.map_or(usual, |number| {
        number.parse().expect("a number of histories")
    })
}
