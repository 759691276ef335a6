//! The machines of a proxy, without a runtime.
//!
//! `history.rs` plays them in `world.rs`, a world of their own; `app.rs` puts them into the simulator's world, beside the
//! election that they follow, and `simulated.rs` holds them to what is promised under each of its faults.

mod app;
mod history;
mod receiver;
mod said;
mod sender;
mod simulated;
mod world;
