//! Starts a guarded actor, on the current arbiter or on another one.
//!
//! Decided here: where the actor is made, and the consequence of a panic in the factory. Not here: all later events
//! (`guardian.rs`).

use std::fmt;
use std::fmt::Debug;
use std::marker::PhantomData;

use actix::dev::channel::channel;
use actix::{Actor, Addr, ArbiterHandle, Context, Recipient, Supervised};

use super::contain::contain;
use super::event::{Exit, Supervision};
use super::guardian::Guardian;
use super::policy::RestartPolicy;
use super::report::{Hook, Reporter, TellParent};

/// Settings of a guarded actor, made by [`Guardian::builder`].
#[must_use = "a builder does nothing until `start` is called"]
pub struct GuardianBuilder<A, K: Clone + Debug + Send + 'static> {
    key: K,
    policy: RestartPolicy,
    parent: Option<TellParent<K>>,
    hook: Option<Hook>,
    actor: PhantomData<fn() -> A>,
}

impl<A, K> Guardian<A, K>
where
    A: Actor<Context = Context<A>> + Supervised,
    K: Clone + Debug + Send + 'static,
{
    /// Makes the settings of the child with the key `key`. The builder ends with [`start`](GuardianBuilder::start) or
    /// [`start_in_arbiter`](GuardianBuilder::start_in_arbiter).
    pub fn builder(key: K) -> GuardianBuilder<A, K> {
        GuardianBuilder::new(key)
    }
}

impl<A, K> GuardianBuilder<A, K>
where
    A: Actor<Context = Context<A>> + Supervised,
    K: Clone + Debug + Send + 'static,
{
    pub(super) fn new(key: K) -> Self {
        let policy = RestartPolicy::default();
        Self {
            key,
            policy,
            parent: None,
            hook: None,
            actor: PhantomData,
        }
    }

    /// Sets how the actor is restarted. Default: [`RestartPolicy::transient`].
    pub fn policy(mut self, policy: RestartPolicy) -> Self {
        self.policy = policy;
        self
    }

    /// Sets the actor that receives `Down`, `Up` and the last event. Default: none.
    pub fn parent(self, parent: Recipient<Supervision<K>>) -> Self {
        // do_send: may exceed the mailbox's bound by one message for each crash and restart, which the policy limits.
        self.told(move |event| parent.do_send(event))
    }

    /// Like [`parent`](Self::parent), for a parent that receives events in another way.
    pub(crate) fn told(mut self, tell: impl FnMut(Supervision<K>) + Send + 'static) -> Self {
        self.parent = Some(Box::new(tell));
        self
    }

    /// Calls `hook` once for each incarnation that ends, on the actor's own thread. In the hook an application can at
    /// once take back a thing that the incarnation had published, such as a lock or a leadership.
    ///
    /// The hook runs after the last code of the incarnation (`stopped` included, if `stopped` runs at all). It runs
    /// before all later steps: before the parent gets the event, before callers whose messages were queued see the
    /// closed mailbox, and before `restarting`. [`Exit::Abandoned`] means that the guardian was dropped. A restart that
    /// fails counts as an incarnation that ended: so the hook is called once more after a panic in `restarting`, or in
    /// the `Drop` of a future that the former incarnation left behind. A child that waits for its restart has no
    /// incarnation, so the hook is not called if the child ends during that wait.
    ///
    /// A panic in the hook is logged and changes nothing. Default: no hook.
    pub fn on_exit(self, mut hook: impl FnMut(&Exit) + Send + 'static) -> Self {
        self.on_exit_or_end(move |exit| {
            hook(exit);
            true
        })
    }

    /// Like [`on_exit`](Self::on_exit), for a hook that returns whether another incarnation may follow.
    pub(crate) fn on_exit_or_end(
        mut self,
        hook: impl FnMut(&Exit) -> bool + Send + 'static,
    ) -> Self {
        self.hook = Some(Box::new(hook));
        self
    }

    /// Starts the actor on the current arbiter. `init` makes the first incarnation; [`Supervised::restarting`] turns it
    /// into each further incarnation.
    ///
    /// A panic of `init` reaches the caller of `start`. Then nothing was started, and the parent gets no event.
    pub fn start(self, init: impl FnOnce(&mut Context<A>) -> A) -> Addr<A> {
        let Self {
            key,
            policy,
            parent,
            hook,
            ..
        } = self;
        let mut ctx = Context::new();
        let actor = init(&mut ctx);
        let child = ctx.into_future(actor);
        let addr = child.address();
        actix_rt::spawn(Guardian::new(
            child,
            policy,
            Reporter::new(key, parent, hook),
        ));
        addr
    }

    /// Starts the actor on another arbiter. The address can be used at once.
    ///
    /// If `init` panics on that arbiter, the first incarnation has ended: the hook is called, and the parent receives
    /// `GaveUp` with the panic's text. If the arbiter has already stopped, no incarnation was ever made: the parent
    /// receives `GaveUp` with [`Exit::Abandoned`]. In both cases the address is closed.
    pub fn start_in_arbiter(
        self,
        arbiter: &ArbiterHandle,
        init: impl FnOnce(&mut Context<A>) -> A + Send + 'static,
    ) -> Addr<A> {
        let Self {
            key,
            policy,
            parent,
            hook,
            ..
        } = self;
        let (sender, receiver) = channel(MAILBOX_CAPACITY);
        let mut report = Reporter::new(key, parent, hook);
        let launch = move || {
            let make = move || {
                let mut ctx = Context::with_receiver(receiver);
                let actor = init(&mut ctx);
                ctx.into_future(actor)
            };
            match contain(make) {
                Ok(child) => {
                    actix_rt::spawn(Guardian::new(child, policy, report));
                }
                Err(text) => {
                    let exit = Exit::Panicked(text);
                    report.revoke(&exit);
                    report.gave_up(exit);
                }
            }
        };
        // If the arbiter is gone, this call drops `launch` and with it `report`, which then sends the last event.
        arbiter.spawn_fn(launch);
        Addr::new(sender)
    }
}

impl<A, K: Clone + Debug + Send + 'static> Debug for GuardianBuilder<A, K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GuardianBuilder")
            .field("key", &self.key)
            .field("policy", &self.policy)
            .finish_non_exhaustive()
    }
}

/// Mailbox capacity that actix gives each actor; `ctx.set_mailbox_capacity` changes it.
const MAILBOX_CAPACITY: usize = 16;
