//! The pure parts together: leaders and the agents that acknowledge, in a seeded world.
//!
//! `world.rs` is the world, `histories.rs` holds it to what is promised. `available.rs` is the mode without votes.

mod available;
mod histories;
mod world;
