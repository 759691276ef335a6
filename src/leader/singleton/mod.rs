//! An actor that runs on the leader only: one actor in the whole group.
//!
//! ```text
//!              the agent leads           it has to hand over, or the lease ends
//!   ┌─────────┐ factory(guard) ┌─────────┐ SteppingDown ┌──────────┐ stopped by itself
//!   │ waiting │ ─────────────▶ │ running │ ───────────▶ │ draining │ ─────────────────▶ waiting
//!   └─────────┘                └─────────┘              └──────────┘   the successor leads
//!        ▲        panic: policy │    │                       │ drain limit
//!        └── leadership lost: dropped, no message of it is handled ──┘
//! ```
//!
//! Decided here: how the work of [`lead`](crate::agent::ElectionHandle::lead) runs an actor, so that the actor is
//! polled only while its agent leads; the message for a hand-over, and how the actor's end is noted. Not here: when
//! work begins, restarts and is dropped, and the reading of the agent's clock before each poll (`agent/lead.rs`).
//!
//! # Where to go next
//! `builder.rs` starts a singleton and has its guarantees, `running.rs` is the actor under one leadership, `handle.rs`
//! is the application's view of the singleton.

mod builder;
mod handle;
mod running;

pub use builder::{Singleton, SingletonBuilder, SingletonError, SteppingDown};
pub use handle::{SingletonHandle, SingletonState, SingletonStatus};
