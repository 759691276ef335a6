//! Starts a singleton: checks its settings first, then waits for leaderships in a task of its own.
//!
//! Decided here: the settings and their defaults; a refused start changes nothing.

use std::{fmt, marker::PhantomData, sync::Arc, time::Duration};

use actix::{Actor, Context, Handler, Message};
use tracing::warn;

use crate::{
    agent::{ElectionHandle, LeaderGuard, OnPanic, ProgressError, can_spawn_here, check_span},
    leader::stopping::stoppable,
    protocol::{Election, Term},
    supervisor::RestartPolicy,
};

use super::{
    handle::{SingletonHandle, SingletonRecord},
    running::{RunningActor, TellActor},
};

/// An actor that runs on the leader only; see [`builder`](Self::builder).
///
/// Each agent of a group starts a singleton with the same factory. Only the actor of the leader runs.
///
/// # What you can rely on
/// - **A new actor for each leadership**, and for each restart within a leadership. Each actor has another address:
///   call [`SingletonHandle::addr`] again when a message was refused.
/// - **Nothing of the actor runs after the leadership.** After a loss the actor is dropped at once: `stopping` and
///   `stopped` are not called, and its queue and futures are dropped with it. In the quorum mode no two
///   actors run at once.
/// - **A hand-over waits for the actor**, up to the drain limit, until it has stopped.
/// - **Several singletons of one agent** run side by side on the leader. A hand-over waits for all of them. If the
///   actor of one singleton stops by itself, the agent steps down, which ends the actors of the other singletons as
///   well.
/// - **A panic costs one actor**, whether in a handler, a timer, `started`, the factory or a `Drop`.
///
/// # Limits
/// - The agent's clock is read before each poll of the actor. A poll that began in time continues. A handler that
///   blocks its thread, or a long queue of slow messages within one poll, may therefore outlast the leadership. A write
///   that must not come late carries the [fence](LeaderGuard::fence).
/// - Work that the actor starts elsewhere (`actix::spawn`, a `ResponseFuture`, another actor) is not dropped with it:
///   such work needs its own clone of the guard.
///
/// # Examples
/// ```
/// use actix::prelude::*;
/// use actix_bully::{
///     Group,
///     agent::{BullyAgent, LeaderGuard},
///     leader::{Singleton, SteppingDown},
/// };
///
/// struct Scheduler { leader: LeaderGuard }
///
/// impl Actor for Scheduler { type Context = Context<Self>; }
///
/// impl Handler<SteppingDown> for Scheduler {
///     type Result = ();
///     fn handle(&mut self, _: SteppingDown, ctx: &mut Context<Self>) {
///         ctx.stop(); // now, or once the present job is done
///     }
/// }
///
/// # #[derive(Message)]
/// # #[rtype(result = "u64")]
/// # struct TermOf;
/// # impl Handler<TermOf> for Scheduler {
/// #     type Result = u64;
/// #     fn handle(&mut self, _: TermOf, _: &mut Context<Self>) -> u64 { self.leader.token().term.0 }
/// # }
/// System::new().block_on(async {
///     let group = Group::new("demo")?;
///     let agent = BullyAgent::builder("api-1").join(&group).start()?;
///     let scheduler = Singleton::builder(&agent, |leader| Scheduler { leader }).start()?;
///     # agent.wait_for_leader(std::time::Duration::from_secs(5)).await?;
///     # while scheduler.addr().is_none() { actix::clock::sleep(std::time::Duration::from_millis(1)).await; }
///
///     if let Some(here) = scheduler.addr() {
///         // this host leads: `here` is the scheduler of the group
///         # assert_eq!(here.send(TermOf).await?, 1);
///     }
///     # Ok::<(), Box<dyn std::error::Error>>(())
/// }).unwrap();
/// ```
#[derive(Debug)]
pub struct Singleton<A>(PhantomData<fn() -> A>);

impl<A: Actor<Context = Context<A>>> Singleton<A> {
    /// Makes the settings of a singleton. The leaderships of `agent` count. `factory` makes the actor: once for each
    /// leadership, and once for each restart within a leadership. The actor keeps the guard, which has the fencing
    /// token.
    ///
    /// The factory returns an actor and no error, and blocks its thread while it runs. If it opens a resource that may
    /// fail, let it keep the `Result` in the actor, and let the actor stop at an error, as `examples/web_replicas`
    /// does. Do not wait for a lock in the factory.
    pub fn builder<E, F>(agent: &ElectionHandle<E>, factory: F) -> SingletonBuilder<E, F>
    where
        E: Election,
        F: FnMut(LeaderGuard) -> A + 'static,
    {
        SingletonBuilder {
            agent: agent.clone(),
            factory,
            on_panic: OnPanic::RestartOrStepDown(RestartPolicy::default()), // if it panics here again and again, another host may run it
            progress_within: None,
        }
    }
}

/// Settings of a [`Singleton`].
#[must_use = "a builder does nothing until `start` is called"]
pub struct SingletonBuilder<E: Election, F> {
    agent: ElectionHandle<E>,
    factory: F,
    on_panic: OnPanic,
    progress_within: Option<Duration>,
}

impl<E: Election, F> SingletonBuilder<E, F> {
    /// Sets the reaction to a panic of the actor or its factory. Default: [`OnPanic::RestartOrStepDown`] with
    /// [`RestartPolicy::transient`].
    ///
    /// Only the number of restarts, the window and the backoff of the policy count. An actor that stops is not started
    /// again in the same leadership, whatever the policy says about a stop: its work is done.
    pub fn on_panic(mut self, on_panic: OnPanic) -> Self {
        self.on_panic = on_panic;
        self
    }

    /// Sets the longest time without progress. The actor must report progress at least every `span`, by
    /// [`Progress::note`](crate::agent::Progress::note) of its guard's [`progress`](LeaderGuard::progress). Otherwise
    /// the agent steps down, as described at [`LeaderGuard::progress_within`]. A start counts as progress, and the span
    /// includes the time of the factory. Default: progress is not checked.
    pub fn progress_within(mut self, span: Duration) -> Self {
        self.progress_within = Some(span);
        self
    }

    /// Starts the actor at each leadership, in a task of this thread, until the agent has left or ended for good, or
    /// until [`SingletonHandle::stop`]. Dropping the handle does not end it.
    ///
    /// At a hand-over the actor receives [`SteppingDown`], and the hand-over waits until the actor has stopped itself.
    /// If the actor stops at another time, its work is done, and the agent steps down in order.
    ///
    /// # Errors
    /// [`SingletonError`], and nothing was changed.
    pub fn start<A>(self) -> Result<SingletonHandle<A>, SingletonError>
    where
        A: Actor<Context = Context<A>>,
        A: Handler<SteppingDown>, // without such a handler: `start_without_handler(..)`
        F: FnMut(LeaderGuard) -> A + 'static,
    {
        // do_send: may exceed the mailbox's bound by one message for each leadership, which must not be lost.
        self.launch(|child, term| child.address().do_send(SteppingDown { term }))
    }

    /// Like [`start`](Self::start), for an actor without a handler of [`SteppingDown`]: a hand-over stops it as
    /// `ctx.stop()` does, between two messages, with `stopping` and `stopped`. An actor whose `stopping` returns
    /// `Running::Continue` continues, up to the limit of the hand-over.
    ///
    /// # Errors
    /// [`SingletonError`], and nothing was changed.
    pub fn start_without_handler<A>(self) -> Result<SingletonHandle<A>, SingletonError>
    where
        A: Actor<Context = Context<A>>,
        F: FnMut(LeaderGuard) -> A + 'static,
    {
        self.launch(|child, _| actix::ActorContext::stop(child.ctx()))
    }

    fn launch<A>(self, tell: TellActor<A>) -> Result<SingletonHandle<A>, SingletonError>
    where
        A: Actor<Context = Context<A>>,
        F: FnMut(LeaderGuard) -> A + 'static,
    {
        let Self {
            agent,
            mut factory,
            on_panic,
            progress_within,
        } = self;
        progress_within.map_or(Ok(()), check_span)?;
        if !can_spawn_here() {
            return Err(SingletonError::NoSystem);
        }
        let record = Arc::new(SingletonRecord::default());
        let seen = Arc::clone(&record);
        let singleton = async move {
            let work = |guard| {
                let record = Arc::clone(&seen);
                RunningActor::make(guard, progress_within, &mut factory, record, tell)
            };
            // `RunningActor` notes the end of each actor. This log line is about the end of the whole singleton.
            if let Err(reason) = agent.lead_with(on_panic, work).await {
                warn!(node = %agent.id(), %reason, "singleton ended");
            }
        };
        let (singleton, not_stopped, stopper) = stoppable(singleton);
        let ended = Arc::clone(&record);
        let task = async move {
            // This await ends when the singleton has ended, or was stopped and dropped.
            singleton.await.ok();
            ended.end();
            drop(not_stopped);
        };
        drop(actix::spawn(task)); // it ends with the agent
        Ok(SingletonHandle::new(record, stopper))
    }
}

impl<E: Election, F> fmt::Debug for SingletonBuilder<E, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SingletonBuilder")
            .field("agent", self.agent.id())
            .field("on_panic", &self.on_panic)
            .field("progress_within", &self.progress_within)
            .finish_non_exhaustive()
    }
}

/// The message that the agent hands over, to the actor of a [`Singleton`], once in a leadership. The actor finishes
/// work that must not be interrupted, and stops itself. The successor leads after that, or after the limit of the
/// hand-over. An actor that needs no notice has no handler: [`SingletonBuilder::start_without_handler`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Message)]
#[rtype(result = "()")]
pub struct SteppingDown {
    /// The term of the leadership that ends.
    pub term: Term,
}

/// Reason why a singleton does not start. Nothing was changed.
#[derive(Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SingletonError {
    /// This thread has no System with timers.
    #[error("there is no actix System on this thread: start singletons inside of one")]
    NoSystem,
    /// The span for progress is invalid.
    #[error(transparent)]
    Progress(#[from] ProgressError),
}

debug_is_text!(SingletonError);
