//! The pure parts together: leaders and the agents that acknowledge, in a seeded world.
//!
//! `world/` is a world of their own, in which disks fail and any agent may believe that it leads at any time;
//! `histories.rs` holds it to what is promised, and `changes.rs` where the voters change. `available.rs` is the mode
//! without votes. The same beside a real election: `tests/agent/leader/histories.rs`, and between hosts
//! `tests/simulated_network`.

mod available;
mod changes;
mod histories;
mod world;
