//! The pure parts together: leaders and the agents that acknowledge, in seeded worlds.
//!
//! `world.rs` is a world of their own, in which disks fail and any agent may believe that it leads at any time;
//! `histories.rs` holds it to what is promised. `app.rs` puts them into the simulator's world, beside the election that
//! they follow, and `simulated.rs` holds them to the same under each of its faults. `available.rs` is the mode without
//! votes, and `stored/` has the marks in the store of a lease.

mod app;
mod available;
mod changes;
mod histories;
mod office;
mod simulated;
mod stored;
mod world;
