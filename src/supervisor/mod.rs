//! Supervision: an actor that panics comes back under the same address, with its queue.
//!
//! actix's own supervisor reacts to `ctx.stop()` only; a panic kills the actor, its address and its
//! queue. A [`Guardian`] runs any actor so that a panic costs one message:
//!
//! ```text
//!             panic, or stop with restart_on_stop()
//!   ┌───────┐ ───────────────────────────────────▶ ┌─────────┐
//!   │ alive │   on_exit hook, then Down            │ backoff │  the mailbox stays open and fills
//!   └───────┘ ◀─────────────────────────────────── └─────────┘
//!       │       Supervised::restarting, then Up         │
//!       │ another stop, last Addr gone                  │ no Addr left
//!       ├─────────────▶ Finished ◀──────────────────────┤
//!       │ budget spent, or the arbiter is gone          │ the arbiter is gone
//!       └─────────────▶ GaveUp ◀────────────────────────┘
//! ```
//!
//! The time between two restarts is an *incarnation*. Only data that the actor rebuilds in
//! [`Supervised::restarting`](actix::Supervised::restarting) survives. Start from an immutable specification in that
//! method (`*self = Self::new(self.spec.clone(), self.incarnation + 1)`), and begin the work in `started`, which is
//! called again after each restart.
//!
//! | cause | the default (*transient*) | [`restart_on_stop`](RestartPolicyBuilder::restart_on_stop) (*permanent*) |
//! |---|---|---|
//! | panic in a handler, timer, future, `started`, `restarting`, `stopping`, `stopped` | restart | restart |
//! | `ctx.stop()`, `ctx.terminate()` | `Finished` | restart |
//! | the last `Addr` is dropped | `Finished` | `Finished` |
//! | more than `max_restarts` within `window` (0: *temporary*) | `GaveUp` | `GaveUp` |
//! | the arbiter or the System ends | `GaveUp` (`Exit::Abandoned`) | `GaveUp` (`Exit::Abandoned`) |
//!
//! # What you can rely on
//!
//! - **Address and queue.** The `Addr` stays valid through every restart. A message that waits or arrives during the
//!   backoff is delivered in order to the next incarnation. The message that was being handled is lost: its caller gets
//!   `MailboxError::Closed`, and it is never delivered twice.
//! - **A crashed incarnation has ended.** None of its code runs again, also not `stopping` and `stopped`. Of its
//!   futures only `Drop` runs.
//! - **The hook comes first.** `on_exit` is called once for each incarnation that ends. The call comes after the last
//!   code of the incarnation, before the parent gets the event, before the queue is dropped and before the next
//!   incarnation is made.
//! - **One last event.** The parent receives exactly one `Finished` or `GaveUp` for each child. By then the mailbox
//!   is closed and the actor is dropped.
//! - **Other tasks run in between.** A restart never happens in the poll in which the incarnation ended. Even a child
//!   that stops in `started`, without any backoff, does not block its arbiter.
//!
//! # Limits
//!
//! - A handler that never returns is not detected. `panic = "abort"` is refused at compile time.
//! - A `Drop` that panics *during unwinding* aborts the process. This is Rust's rule. It needs two values that panic in
//!   `Drop` at the same time, or one such value during another panic.
//! - The caller of the message that panics may see `Closed` before the hook has run, if the caller runs on another
//!   thread: unwinding itself drops the reply.
//! - Futures and timers of a crashed incarnation are not polled again, but they are dropped only at the end of the
//!   backoff. Callers that await a `ResponseActFuture` of the incarnation get `Closed` when it is dropped.
//! - A `ResponseFuture` is a task of its own: its panic does not affect the actor, and a restart does not cancel it.
//! - Never call `ctx.cancel_future` in a supervised actor. actix does not clear pending cancellations at a restart. A
//!   cancellation from the handler that crashes or stops would cancel the *next* incarnation's future of the same
//!   number. A `Deadline` does not need `cancel_future`.
//!
//! # Where to go next
//!
//! `guardian.rs` is the task, `builder.rs` starts it, `policy.rs` and `budget.rs` decide (pure), `report.rs` sends the
//! events. `deadline.rs` is the only timer that a supervised actor should need. `intake.rs` limits the messages that an
//! actor receives.

#[cfg(not(panic = "unwind"))]
compile_error!("actix-bully restarts actors that panicked, which needs panic = \"unwind\"");

mod budget;
mod builder;
mod contain;
mod deadline;
mod event;
mod guardian;
mod intake;
mod policy;
mod report;

pub(crate) use budget::{Decision, RestartBudget};
pub(crate) use contain::contain;
pub(crate) use intake::{Answered, InTurn, Intake, Retries};

pub use builder::GuardianBuilder;
pub use event::{Exit, Supervision};
pub use guardian::Guardian;
pub use policy::{PolicyError, RestartPolicy, RestartPolicyBuilder};

for_tests! {
    use deadline::Deadline;
}
