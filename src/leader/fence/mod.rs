//! Writes that a former leader cannot make: its fence goes with each of them, and is checked where they arrive.
//!
//! An agent that is paused in the middle of its work wakes up and goes on as if it still led. No check that it
//! makes itself prevents that: the pause may come right after the check. So the *receiver* checks. It
//! remembers the highest [`Fence`](crate::agent::Fence) that it has seen, and refuses what comes with a lower one.
//!
//! ```text
//!   former leader, fence 1 ──▶ Fenced { 1, write } ──▶ ┌───────────────┐
//!                                                      │ highest: 2    │ ──▶ Err(Stale { fence: 1, highest: 2 })
//!   leader, fence 2 ─────────▶ Fenced { 2, write } ──▶ │               │ ──▶ Ok(the receiver's own answer)
//!                                                      └───────────────┘
//! ```
//!
//! Decided here: how a fence travels, which fences are admitted, and the statements for a database. Not here: which
//! elections have fences ([`elections`](crate::elections): those that promise one leader per term, the quorum
//! election), and how a leader gets its own ([`LeaderGuard::fence`](crate::agent::LeaderGuard::fence)).
//!
//! # The receiver is an actor
//! Two ways, which check the same and differ in where the check stands:
//!
//! - *In the actor*: it handles [`Fenced<M>`], and asks a [`FencingGate`] first. Keep the gate where it survives
//!   a restart of the actor: one that begins anew admits whatever comes first.
//! - *In front of it*: a [`FencingActor`] admits for any [`Addr`](actix::Addr), and the actor behind it
//!   stays as it is. Give out no other address of that actor.
//!
//! A fence orders the beginnings of writes. An actor that waits in the middle of one (`ResponseActFuture`) may mix
//! the work of two leaders unless it handles nothing meanwhile (`AtomicResponse`, `ctx.wait`).
//!
//! # The receiver is a database
//! The highest fence is a row, and each transaction of a leader begins with its update. [`sql`] has the statements
//! for SQLite and PostgreSQL, what to know about their isolation, and no driver.
//!
//! # What a fence is worth
//! - It protects what checks it, and only that: every writer of a resource has to send one.
//! - Fences of one group compare with each other; those of two groups mean nothing to each other. A resource has
//!   the leaders of one group as its writers.
//! - An equal fence is admitted: it is of the same leadership.
//! - A later [epoch of voters](crate::elections::quorum::epoch) has higher fences than all before it, so a gate
//!   needs no change when the voters do.
//! - A gate believes the number. Any sender of `i64::MAX` locks every leader out, so that a receiver takes messages
//!   from those alone who may write.
//! - A refusal is final for that fence: drop the work, do not repeat it. Its leadership is over, whatever its holder
//!   believes, unless it was renewed meanwhile: then the guard has a newer fence, and the work may begin again with that.
//!
//! # Where to go next
//! `number.rs` is a fence as an integer, `gate.rs` decides, `message.rs` and `actor.rs` carry, `sql.rs` is the
//! database's side.

mod actor;
mod gate;
mod message;
mod number;
pub mod sql;

pub use actor::{FencingActor, GatedAnswer, ReadGate};
pub use gate::{FencingGate, Stale};
pub use message::Fenced;
pub use number::{FenceNumber, NoFence};
