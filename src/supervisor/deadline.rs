//! One re-armable timer per actor: one `Sleep` and one future for a whole incarnation.
//!
//! Decided here: when the runtime's timer must be changed, and when the actor's task must be woken. Not here: which of
//! several named timers is the earliest. The actor keeps these timers and sets the earliest of them.
//!
//! # When a wake is needed
//!
//! The runtime's timer can be moved only by the future of [`Deadline::run`], while the actor's task is polled. In one
//! poll of the task actix runs `started` or the futures of `ctx.wait`, then the mailbox, then *all* items (the actor's
//! other futures and streams). It begins again if there is more to do. A wake costs one more poll of the task, with all
//! its items. A wake is needed if, and only if, that future would not be polled otherwise:
//!
//! | deadline set from | wake |
//! |---|---|
//! | anywhere, not earlier than the armed instant | no: seen when the armed instant is reached |
//! | the deadline's own callback | no: the future looks again when the callback returns |
//! | `started`, a handler of a queued message, `ctx.wait` futures, by [`Deadline::set_in`] | no: items come later |
//! | an item (`run_later`, `ctx.spawn`, `ctx.notify`, streams, `ResponseActFuture`) | yes: it may come after |
//! | outside of the actor | yes |
//!
//! If `ctx.wait` or `ctx.stop()` prevents the polling of items now, a wake would not change that. The items are polled
//! when the waiting has ended.

use std::cell::{Cell, RefCell};
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::ptr;
use std::rc::Rc;
use std::task::{Context as Task, Poll, Waker, ready};

use actix::clock::{Instant, Sleep, sleep_until};
use actix::{Actor, ActorFuture, AsyncContext, Context, SpawnHandle};
use tokio::runtime::Handle;

/// A deadline that can be moved for the cost of one memory write.
///
/// A move to a later time, as each heartbeat makes it, never changes the runtime's timer. Only a move to an earlier
/// time changes it. Clones are the same deadline. A deadline keeps its actor alive, like `run_interval`: such an actor
/// ends by a stop, not when its last `Addr` is dropped.
///
/// # Examples
///
/// ```
/// use std::time::Duration;
/// use actix::{clock::Instant, prelude::*};
/// use actix_bully::supervisor::Deadline;
///
/// struct Watch { deadline: Deadline }
///
/// impl Actor for Watch {
///     type Context = Context<Self>;
///
///     fn started(&mut self, ctx: &mut Self::Context) {
///         self.deadline.run(ctx, |_, _| System::current().stop());
///         self.deadline.set(Instant::now() + Duration::from_millis(5));
///     }
/// }
///
/// let system = System::new();
/// let watch = system.block_on(async { Watch { deadline: Deadline::default() }.start() });
/// system.run().unwrap();
/// # drop(watch);
/// ```
#[derive(Clone, Default)]
pub struct Deadline(Rc<DeadlineState>);

impl Deadline {
    /// Calls `callback` whenever the deadline is reached, until this incarnation ends. The deadline is unset before
    /// each call. Call `run` once, in [`Actor::started`].
    pub fn run<A, F>(&self, ctx: &mut Context<A>, callback: F)
    where
        A: Actor<Context = Context<A>>,
        F: FnMut(&mut A, &mut Context<A>) + Unpin + 'static,
    {
        ctx.spawn(DeadlineFuture {
            shared: Rc::clone(&self.0),
            sleep: None,
            callback,
        });
    }

    /// Moves the deadline, from anywhere. [`set_in`](Self::set_in) may cost less if the actor's context is available.
    #[cfg(feature = "testkit")]
    pub fn set(&self, at: Instant) {
        if self.0.store(at) {
            self.0.wake();
        }
    }

    /// Moves the deadline. The move costs no wake in `started`, in a handler of a queued message and in futures of
    /// `ctx.wait`, because the actor's items are polled later. It is correct with any context, also with the context of
    /// another actor.
    pub fn set_in<A: Actor<Context = Context<A>>>(&self, ctx: &Context<A>, at: Instant) {
        if self.0.store(at) && !self.0.is_polled_after(ctx) {
            self.0.wake();
        }
    }

    /// Unsets the deadline. The runtime's timer is not changed: when it fires, it costs one poll of the actor's task.
    pub fn clear(&self) {
        self.0.at.set(None);
    }

    /// Returns the time at which the callback will be called, unless the deadline is moved.
    pub fn get(&self) -> Option<Instant> {
        self.0.at.get()
    }
}

impl fmt::Debug for Deadline {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Deadline").field(&self.get()).finish()
    }
}

#[derive(Default)]
struct DeadlineState {
    at: Cell<Option<Instant>>,
    timer: Cell<DeadlineTimer>,
    /// The waker of the actor's task, and in `home` the address of its context, both from the last poll of the future.
    waker: RefCell<Option<Waker>>,
    home: Cell<Option<usize>>,
}

#[derive(Clone, Copy, Default)]
enum DeadlineTimer {
    /// No timer is registered with the runtime.
    #[default]
    Off,
    /// A timer is registered for this instant, which is not later than the deadline.
    Armed(Instant),
    /// The callback is running.
    Firing,
}

impl DeadlineState {
    /// Stores the deadline. Returns whether the runtime's timer must be changed.
    fn store(&self, at: Instant) -> bool {
        self.at.set(Some(at));
        match self.timer.get() {
            DeadlineTimer::Off => true,
            DeadlineTimer::Armed(armed) => at < armed,
            DeadlineTimer::Firing => false,
        }
    }

    /// Returns whether `ctx` is the actor's own context and no item of the actor is being polled. Then all items are
    /// polled later.
    ///
    /// actix stores the handle of the item that it polls, and the default handle when it has polled all items. If actix
    /// begins another round in between, the handle of the last item stays. Then this function wrongly returns `false`,
    /// which costs a wake. It never wrongly returns `true`.
    fn is_polled_after<A: Actor<Context = Context<A>>>(&self, ctx: &Context<A>) -> bool {
        ctx.handle() == SpawnHandle::default() && self.home.get() == Some(ptr::from_ref(ctx).addr())
    }

    fn wake(&self) {
        if let Some(waker) = &*self.waker.borrow() {
            waker.wake_by_ref();
        }
    }

    fn remember(&self, waker: &Waker, home: usize) {
        self.home.set(Some(home));
        let mut known = self.waker.borrow_mut();
        if !known.as_ref().is_some_and(|known| known.will_wake(waker)) {
            *known = Some(waker.clone());
        }
    }
}

struct DeadlineFuture<F> {
    shared: Rc<DeadlineState>,
    /// `None` until the first deadline is set.
    sleep: Option<Pin<Box<Sleep>>>,
    callback: F,
}

impl<A, F> ActorFuture<A> for DeadlineFuture<F>
where
    A: Actor<Context = Context<A>>,
    F: FnMut(&mut A, &mut Context<A>) + Unpin + 'static,
{
    type Output = ();

    fn poll(
        self: Pin<&mut Self>,
        actor: &mut A,
        ctx: &mut Context<A>,
        task: &mut Task<'_>,
    ) -> Poll<()> {
        let Self {
            shared,
            sleep,
            callback,
        } = self.get_mut();
        shared.remember(task.waker(), ptr::from_ref(ctx).addr());
        loop {
            let Some(at) = shared.at.get() else {
                shared.timer.set(DeadlineTimer::Off);
                return Poll::Pending;
            };
            // A System that ends polls the actors once more before it drops them. Its timers have ended by then.
            if sleep.is_none() && !has_timers() {
                return Poll::Pending;
            }
            let sleep = sleep.get_or_insert_with(|| Box::pin(sleep_until(at)));
            if shared.store(at) {
                sleep.as_mut().reset(at);
                shared.timer.set(DeadlineTimer::Armed(at));
            }
            ready!(sleep.as_mut().poll(task));
            shared.timer.set(DeadlineTimer::Off);
            // If the deadline was moved to a later time in the meantime, it is not reached yet, and the timer is set
            // again.
            if at <= Instant::now() {
                shared.at.set(None);
                shared.timer.set(DeadlineTimer::Firing);
                callback(actor, ctx);
                shared.timer.set(DeadlineTimer::Off);
                if ctx.waiting() {
                    return Poll::Pending; // polled again when the wait has ended, never after a stop
                }
            }
        }
    }
}

/// Returns whether a timer can be made on this thread.
fn has_timers() -> bool {
    Handle::try_current().is_ok()
}

/// A deadline does not outlive its incarnation: it is unset when the next incarnation begins.
impl<F> Drop for DeadlineFuture<F> {
    fn drop(&mut self) {
        self.shared.at.set(None);
        self.shared.timer.set(DeadlineTimer::Off);
        self.shared.home.set(None);
        self.shared.waker.replace(None);
    }
}
