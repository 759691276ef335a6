//! An actor that runs on the leader only, one of it in the whole group.
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
//! Decided here: how an actor is carried by the work of [`lead`](crate::agent::ElectionHandle::lead), so that
//! it is polled while its agent leads and never after; what it is told, and how its end is noted. Not here:
//! when work begins, restarts and is dropped, and that the agent's clock is read before each poll of it
//! (`agent/lead.rs`).
//!
//! # Where to go next
//! `builder.rs` starts it and says what can be relied on, `running.rs` is the actor under one leadership, `handle.rs` what is seen of it.

mod builder;
mod handle;
mod running;

pub use builder::{Singleton, SingletonBuilder, SingletonError, SteppingDown};
pub use handle::{SingletonHandle, SingletonState, SingletonStatus};
