//! Protects a resource from the writes of a former leader: each write carries the leader's fence, and the receiver
//! checks it.
//!
//! An agent may pause in the middle of its work, and go on later as if it still led. No check by the agent itself
//! prevents that, because the pause may come right after the check. So the *receiver* checks. It remembers the highest
//! [`Fence`](crate::agent::Fence) that it has seen, and refuses messages with a lower fence.
//!
//! ```text
//!   former leader, fence 1 ──▶ Fenced { 1, write } ──▶ ┌───────────────┐
//!                                                      │ highest: 2    │ ──▶ Err(Stale { fence: 1, highest: 2 })
//!   leader, fence 2 ─────────▶ Fenced { 2, write } ──▶ │               │ ──▶ Ok(the receiver's own answer)
//!                                                      └───────────────┘
//! ```
//!
//! Decided here: how a fence is sent, which fences are admitted, and the statements for a database. Not here: which
//! [`elections`](crate::elections) have fences (the elections that promise one leader per term, such as the quorum
//! election), and how a leader gets its fence ([`LeaderGuard::fence`](crate::agent::LeaderGuard::fence)).
//!
//! # The receiver is an actor
//! The receiver can check in two ways. Both ways make the same check, at different places:
//!
//! - *In the actor*: the actor handles [`Fenced<M>`], and asks a [`FencingGate`] first. Keep the gate where it
//!   survives a restart of the actor: a new gate admits any first fence.
//! - *In front of the actor*: a [`FencingActor`] admits messages for any [`Addr`](actix::Addr), and the actor behind it
//!   is not changed. Keep the address of the actor behind the gate private.
//!
//! A fence orders the beginnings of writes. An actor that waits in the middle of a write (`ResponseActFuture`) may mix
//! the work of two leaders, unless it handles no other message meanwhile (`AtomicResponse`, `ctx.wait`).
//!
//! # The receiver is a database
//! The highest fence is kept in a row of a table, and each transaction of a leader begins with an update of that row.
//! [`sql`] has the statements for SQLite and PostgreSQL, and notes on their isolation. It has no driver.
//!
//! # Limits of a fence
//! - A fence protects only resources that check it: every writer of a resource must send a fence.
//! - Fences of one group can be compared. Fences of two groups cannot. A resource therefore has the leaders of one
//!   group as its writers.
//! - A fence that equals the highest admitted fence is admitted: it belongs to the same leadership.
//! - A later [epoch of voters](crate::elections::quorum::epoch) has higher fences than all epochs before it, so a gate
//!   needs no change when the voters change.
//! - A gate trusts the number. A sender of `i64::MAX` locks out every leader, so a receiver must accept messages only
//!   from senders with the right to write.
//! - A refusal is final for that fence: drop the work, do not repeat it. Its leadership has ended, unless it was
//!   renewed in the meantime. Then the guard has a newer fence, and the work may begin again with that fence.
//!
//! # Where to go next
//! `number.rs` is a fence as an integer, `gate.rs` decides, `message.rs` and `actor.rs` carry fences, `sql.rs` is for
//! databases.

mod actor;
mod gate;
mod message;
mod number;
pub mod sql;

pub use actor::{FencingActor, GatedAnswer, ReadGate};
pub use gate::{FencingGate, Stale};
pub use message::Fenced;
pub use number::{FenceNumber, NoFence};
