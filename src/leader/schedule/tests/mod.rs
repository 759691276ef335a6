//! The pure parts together: leaders and the agents that acknowledge, in a seeded world.
//!
//! `world.rs` is the world, `histories.rs` holds it to what is promised.

mod histories;
mod world;
