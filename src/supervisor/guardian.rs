//! The task that runs one child, catches its panics and restarts it.
//!
//! Decided here: when an incarnation has ended, and the order of the steps after that. Not here: whether a child is
//! restarted or given up (`budget.rs`), and the events for the parent (`report.rs`).

use std::fmt;
use std::fmt::Debug;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context as Task, Poll, Waker, ready};

use actix::clock::{Instant, Sleep, sleep};
use actix::dev::{AsyncContextParts, ContextFut};
use actix::{Actor, ActorContext, Context, Supervised};
use tracing::debug;

use super::budget::{Decision, RestartBudget};
use super::contain::contain;
use super::event::Exit;
use super::policy::RestartPolicy;
use super::report::Reporter;

/// Supervises one actor: a panic costs one message, not the address, the queue or the actor.
///
/// A guardian works for any actor with a [`Context`] that is [`Supervised`]. `K` is the type of the child's key in
/// events and logs. The [module](super) lists the guarantees.
///
/// # Examples
///
/// ```
/// use actix::prelude::*;
/// use actix_bully::supervisor::Guardian;
///
/// #[derive(Default)]
/// struct Divider { divisions: u32 }
///
/// impl Actor for Divider { type Context = Context<Self>; }
///
/// impl Supervised for Divider {
///     fn restarting(&mut self, _: &mut Context<Self>) {
///         *self = Self::default(); // nothing of a crashed incarnation can be trusted
///     }
/// }
///
/// #[derive(Message)]
/// #[rtype(result = "(u32, u32)")]
/// struct Divide(u32, u32);
///
/// impl Handler<Divide> for Divider {
///     type Result = MessageResult<Divide>;
///
///     fn handle(&mut self, Divide(a, b): Divide, _: &mut Context<Self>) -> Self::Result {
///         self.divisions += 1;
///         MessageResult((a / b, self.divisions)) // panics for b = 0
///     }
/// }
///
/// System::new().block_on(async {
///     let divider = Guardian::builder("divider").start(|_| Divider::default());
///
///     assert_eq!(divider.send(Divide(9, 3)).await, Ok((3, 1)));
///     assert_eq!(divider.send(Divide(1, 0)).await, Err(MailboxError::Closed));
///     // The same address, 100 ms later, and a new divider behind it.
///     assert_eq!(divider.send(Divide(8, 2)).await, Ok((4, 1)));
/// });
/// ```
pub struct Guardian<A, K>
where
    A: Actor<Context = Context<A>> + Supervised,
    K: Clone + Debug + Send + 'static,
{
    child: Option<ContextFut<A, Context<A>>>,
    phase: ChildPhase,
    budget: RestartBudget,
    started: Instant,
    restarts: u64,
    report: Reporter<K>,
}

enum ChildPhase {
    /// An incarnation exists, and its end has not been reported.
    Alive,
    /// No incarnation exists, and the next incarnation follows after this sleep.
    Backoff(Pin<Box<Sleep>>),
    /// No incarnation exists, and none follows.
    Over,
}

impl<A, K> Guardian<A, K>
where
    A: Actor<Context = Context<A>> + Supervised,
    K: Clone + Debug + Send + 'static,
{
    pub(super) fn new(
        child: ContextFut<A, Context<A>>,
        policy: RestartPolicy,
        report: Reporter<K>,
    ) -> Self {
        Self {
            child: Some(child),
            phase: ChildPhase::Alive,
            budget: RestartBudget::new(policy),
            started: Instant::now(),
            restarts: 0,
            report,
        }
    }

    /// Handles the end of an incarnation, or a failure to make one: first the hook, then the other steps.
    fn ended(&mut self, exit: Exit) {
        self.phase = ChildPhase::Over;
        let Some(child) = &mut self.child else { return };
        // Marks the context as stopped: dropping it would otherwise poll the crashed actor once more.
        child.ctx().terminate();
        let may_follow = self.report.revoke(&exit);
        // Without an address no message can arrive.
        let is_wanted = self.budget.policy().restarts_on_stop && child.ctx().connected();
        if !may_follow || exit == Exit::Stopped && !is_wanted {
            // Closes the mailbox first: when the parent gets the event of the end, this child must have no mailbox.
            self.close();
            return self.report.finished();
        }
        match self.budget.spend(self.started.elapsed()) {
            Decision::Restart { after, left } => {
                self.phase = ChildPhase::Backoff(Box::pin(sleep(after)));
                self.report.down(exit, after, left);
            }
            Decision::GiveUp => {
                self.close();
                self.report.gave_up(exit);
            }
        }
    }

    /// Handles the end of the backoff: drops the remains of the former incarnation and makes the next incarnation.
    fn restart(&mut self) {
        self.phase = ChildPhase::Over;
        let Some(child) = &mut self.child else { return };
        match contain(|| child.restart()) {
            Ok(true) => {
                self.phase = ChildPhase::Alive;
                self.restarts += 1;
                self.report.up(self.restarts);
            }
            Ok(false) => {
                // No address exists any more, so no message can arrive.
                self.close();
                self.report.finished();
            }
            Err(text) => self.ended(Exit::Panicked(text)),
        }
    }

    /// Drops the actor and its mailbox: a caller that waits for an answer gets an error for the closed mailbox.
    fn close(&mut self) {
        let child = self.child.take();
        if let Err(reason) = contain(|| drop(child)) {
            debug!(node = ?self.report.child(), reason, "child panicked when dropped");
        }
    }

    /// Handles the drop of a guardian before its incarnation has ended. The incarnation then ends as in plain actix:
    /// `stopping` and `stopped` are called if it was started.
    fn abandon(&mut self) {
        self.phase = ChildPhase::Over;
        let Some(child) = &mut self.child else { return };
        if child.ctx().parts().started() && child.alive() {
            let farewell = contain(|| {
                child.ctx().stop();
                Pin::new(&mut *child)
                    .poll(&mut Task::from_waker(Waker::noop()))
                    .is_ready()
            });
            if let Err(reason) = farewell {
                debug!(node = ?self.report.child(), reason, "child panicked when abandoned");
            }
        }
        child.ctx().terminate();
        self.report.revoke(&Exit::Abandoned);
    }
}

impl<A, K> Future for Guardian<A, K>
where
    A: Actor<Context = Context<A>> + Supervised,
    K: Clone + Debug + Send + 'static,
{
    type Output = ();

    fn poll(self: Pin<&mut Self>, task: &mut Task<'_>) -> Poll<()> {
        let this = self.get_mut();
        if let ChildPhase::Backoff(timer) = &mut this.phase {
            ready!(timer.as_mut().poll(task)); // the mailbox fills meanwhile
            this.restart();
        }
        // A new incarnation is polled at once, because it has no waker yet.
        if let (ChildPhase::Alive, Some(child)) = (&this.phase, &mut this.child) {
            match contain(|| Pin::new(child).poll(task)) {
                Ok(Poll::Pending) => return Poll::Pending,
                Ok(Poll::Ready(())) => this.ended(Exit::Stopped),
                Err(text) => this.ended(Exit::Panicked(text)),
            }
        }
        match this.phase {
            ChildPhase::Alive | ChildPhase::Over => Poll::Ready(()),
            ChildPhase::Backoff(_) => {
                // Other tasks run before the restart: a child that stops in `started` must not block its arbiter.
                task.waker().wake_by_ref();
                Poll::Pending
            }
        }
    }
}

impl<A, K> Drop for Guardian<A, K>
where
    A: Actor<Context = Context<A>> + Supervised,
    K: Clone + Debug + Send + 'static,
{
    fn drop(&mut self) {
        match self.phase {
            ChildPhase::Alive => self.abandon(),
            ChildPhase::Backoff(_) | ChildPhase::Over => {}
        }
        self.close();
        // `report` is dropped after this call, and then sends the last event if that event was not sent yet.
    }
}

/// No part of this future is pinned, because actix's own context future is `Unpin`.
impl<A, K> Unpin for Guardian<A, K>
where
    A: Actor<Context = Context<A>> + Supervised,
    K: Clone + Debug + Send + 'static,
{
}

impl<A, K> Debug for Guardian<A, K>
where
    A: Actor<Context = Context<A>> + Supervised,
    K: Clone + Debug + Send + 'static,
{
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Guardian")
            .field("child", self.report.child())
            .field("restarts", &self.restarts)
            .finish_non_exhaustive()
    }
}
