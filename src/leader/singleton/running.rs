//! The actor under one leadership, as a future that is the work of a leader.
//!
//! Decided here: the actor's code runs only while this future is polled, and how the actor ends. The actor is never
//! spawned: only the task of the leader's work polls it. Dropping the work drops the actor with its mailbox.

use std::{
    panic::resume_unwind,
    pin::Pin,
    sync::Arc,
    task::{Context as Task, Poll},
    time::Duration,
};

use actix::{Actor, ActorContext, Context, dev::ContextFut};
use tracing::{debug, error};

use crate::{agent::LeaderGuard, protocol::Term, supervisor::contain};

use super::handle::SingletonRecord;

/// A function that tells an actor that its agent hands over.
pub(super) type TellActor<A> = fn(&mut ContextFut<A, Context<A>>, Term);

/// See the [module](self).
pub(super) struct RunningActor<A: Actor<Context = Context<A>>> {
    leader: LeaderGuard,
    /// `None` after the actor has ended.
    child: Option<ContextFut<A, Context<A>>>,
    /// Ends when the agent hands over; `None` after the actor got the message of the hand-over.
    stepping_down: Option<Pin<Box<dyn Future<Output = ()>>>>,
    tell: TellActor<A>,
    record: Arc<SingletonRecord<A>>,
}

impl<A: Actor<Context = Context<A>>> RunningActor<A> {
    /// Makes the actor, and runs none of its code yet.
    ///
    /// A panic of the factory is counted, and raised again.
    pub(super) fn make(
        leader: LeaderGuard,
        progress_within: Option<Duration>,
        factory: &mut impl FnMut(LeaderGuard) -> A,
        record: Arc<SingletonRecord<A>>,
        tell: TellActor<A>,
    ) -> Self {
        // Progress is watched from here, so that a factory that hangs is detected too. `start` has checked the span.
        let leader = match progress_within {
            Some(span) => leader.clone().probed(span).unwrap_or(leader),
            None => leader,
        };
        let made = contain(|| factory(leader.clone()));
        let actor = made.unwrap_or_else(|reason| {
            record.note_panic();
            resume_unwind(Box::new(reason))
        });
        let child = Context::new().into_future(actor);
        debug!(leader = %leader.token(), "singleton started");
        record.note_start(child.address(), leader.clone());
        let watch = leader.clone();
        Self {
            leader,
            child: Some(child),
            stepping_down: Some(Box::pin(async move { watch.stepping_down().await })),
            tell,
            record,
        }
    }

    /// Drops the actor without another poll.
    fn close(&mut self) -> Result<(), String> {
        let Some(mut child) = self.child.take() else {
            return Ok(());
        };
        self.record.note_end();
        // Marks the context as stopped: otherwise the drop would poll the actor once more.
        child.ctx().terminate();
        contain(|| drop(child))
    }

    fn panicked(&mut self, reason: String) -> ! {
        self.record.note_panic();
        // The panic is contained first, so that no value of the actor is dropped during the unwinding. Then it is
        // raised again: the code that runs the leader's work decides the consequence.
        resume_unwind(Box::new(reason))
    }
}

impl<A: Actor<Context = Context<A>>> Future for RunningActor<A> {
    type Output = ();

    fn poll(self: Pin<&mut Self>, task: &mut Task<'_>) -> Poll<()> {
        let this = self.get_mut();
        let Some(child) = &mut this.child else {
            return Poll::Ready(());
        };
        if let Some(stepping_down) = &mut this.stepping_down
            && stepping_down.as_mut().poll(task).is_ready()
        {
            this.stepping_down = None;
            (this.tell)(child, this.leader.token().term);
        }
        match contain(|| Pin::new(child).poll(task)) {
            Ok(Poll::Pending) => Poll::Pending,
            Ok(Poll::Ready(())) => match this.close() {
                Ok(()) => Poll::Ready(()),
                Err(reason) => this.panicked(reason),
            },
            Err(reason) => {
                if let Err(reason) = this.close() {
                    error!(reason, "singleton panicked when dropped");
                }
                this.panicked(reason)
            }
        }
    }
}

impl<A: Actor<Context = Context<A>>> Drop for RunningActor<A> {
    fn drop(&mut self) {
        if let Err(reason) = self.close() {
            error!(reason, "singleton panicked when dropped");
            self.record.note_panic();
        }
    }
}

/// No part of this future is pinned, because actix's own context future is `Unpin`.
impl<A: Actor<Context = Context<A>>> Unpin for RunningActor<A> {}
