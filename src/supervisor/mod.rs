//! Supervision: an actor that panics comes back under the same address, with its queue.
//!
//! actix's own supervisor reacts to `ctx.stop()` only; a panic kills the actor, its address and its
//! queue. A [`Guardian`] runs any actor so that a panic costs one message:
//!
//! ```text
//!             panic, or stop under OnStop::Restart
//!   ┌───────┐ ───────────────────────────────────▶ ┌─────────┐
//!   │ alive │   on_exit hook, then Down            │ backoff │  the mailbox stays open and fills
//!   └───────┘ ◀─────────────────────────────────── └─────────┘
//!       │       Supervised::restarting, then Up         │
//!       │ stop under OnStop::Finish, last Addr gone     │ no Addr left
//!       ├─────────────▶ Finished ◀──────────────────────┤
//!       │ budget spent, or the arbiter is gone          │ the arbiter is gone
//!       └─────────────▶ GaveUp ◀────────────────────────┘
//! ```
//!
//! The time between two restarts is an *incarnation*. Only what the actor rebuilds in
//! [`Supervised::restarting`](actix::Supervised::restarting) survives: start from an immutable
//! specification there (`*self = Self::new(self.spec.clone(), self.incarnation + 1)`), and begin the
//! work in `started`, which is called again after each restart.
//!
//! | cause | [`OnStop::Finish`] (*transient*, the default) | [`OnStop::Restart`] (*permanent*) |
//! |---|---|---|
//! | panic in a handler, timer, future, `started`, `restarting`, `stopping`, `stopped` | restart | restart |
//! | `ctx.stop()`, `ctx.terminate()` | `Finished` | restart |
//! | the last `Addr` is dropped | `Finished` | `Finished` |
//! | more than `max_restarts` within `window` (0: *temporary*) | `GaveUp` | `GaveUp` |
//! | the arbiter or the System ends | `GaveUp` (`Exit::Abandoned`) | `GaveUp` (`Exit::Abandoned`) |
//!
//! # What you can rely on
//!
//! - **Address and queue.** The `Addr` stays valid through every restart. A message that waits, or arrives
//!   during the backoff, is delivered in order to the next incarnation. The message that was being
//!   handled is gone: its caller gets `MailboxError::Closed`, and it is never delivered twice.
//! - **A crashed incarnation is over.** None of its code runs again, `stopping` and `stopped`
//!   included; of its futures only `Drop` is run.
//! - **The hook comes first.** `on_exit` is called once for each
//!   incarnation that ends, after the last of its code and before the parent is told, before the queue is
//!   dropped and before the next incarnation is made.
//! - **One last word.** The parent hears exactly one `Finished` or `GaveUp` for each child, and
//!   when it does the mailbox is closed and the actor dropped.
//! - **Others get a turn.** A restart never happens in the poll in which the incarnation ended, so that
//!   not even a child that stops in `started`, without any backoff, can hold up its arbiter.
//!
//! # Limits
//!
//! - A handler that never returns is not noticed, and `panic = "abort"` is refused at compile time.
//! - A `Drop` that panics *while unwinding* aborts the process; that is Rust's rule. It takes two
//!   values that panic in `Drop` at the same time, or one beside another panic.
//! - The caller of the message that panics may see `Closed` before the hook has run, if it runs on another
//!   thread: unwinding itself drops the reply.
//! - Futures and timers of a crashed incarnation are not polled any more, but dropped only when the
//!   backoff is over: callers that await a `ResponseActFuture` of it hear `Closed` then.
//! - A `ResponseFuture` is a task of its own: its panic does not touch the actor, and a restart does not
//!   cancel it.
//! - Never call `ctx.cancel_future` in a supervised actor. actix forgets to clear pending
//!   cancellations at a restart, so one made in the handler that crashes or stops kills the *next*
//!   incarnation's future of the same number. A `Deadline` does not need it.
//!
//! # Where to go next
//!
//! `guardian.rs` is the task, `builder.rs` starts it, `policy.rs` and `budget.rs` decide (pure),
//! `report.rs` tells, `deadline.rs` is the one timer a supervised actor should need. `intake.rs` bounds what any actor is
//! handed.

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
pub use deadline::Deadline;
pub use event::{Exit, Supervision};
pub use guardian::Guardian;
pub use policy::{OnStop, PolicyError, RestartPolicy, RestartPolicyBuilder};
