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
//! # What you can rely on
//! - **A new actor for each leadership**, and for each restart within one. Its address is another one each
//!   time: ask [`SingletonHandle::addr`] for each message, or for each time that one is refused.
//! - **Nothing of it runs after the leadership.** At a loss it is dropped where it stands: `stopping` and
//!   `stopped` are not called, its queue and its futures are dropped with it. The clock is read before
//!   each poll of the actor; one poll handles all messages that wait, so a long queue of slow
//!   messages may outlast a lease. A write that must not be done twice carries the
//!   [fence](crate::agent::LeaderGuard::fence).
//! - **A hand-over waits for it**, up to the limit set, until it has stopped by itself.
//! - **A panic costs one actor**: in a handler, a timer, `started`, the factory or a `Drop`.
//! - What the actor starts elsewhere (`actix::spawn`, a `ResponseFuture`, a child actor) is not stopped with
//!   it: such work asks its own clone of the [`LeaderGuard`](crate::agent::LeaderGuard).
//!
//! # Where to go next
//! `builder.rs` starts it, `running.rs` is the actor under one leadership, `handle.rs` what is seen of it.

mod builder;
mod handle;
mod running;

pub use builder::{Singleton, SingletonBuilder, SingletonError, SteppingDown};
pub use handle::{SingletonHandle, SingletonState, SingletonStatus};
