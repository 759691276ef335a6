//! The wait for a record to be durable, in which the agent does nothing else.
//!
//! Decided here: what ends that wait, and that it is no silent one. The agent's timers wait as well, so a store
//! that hangs is warned of from here, when it has had the time of an election: with the warning that there is no
//! leader, or by itself where the agent knows one, since it would not notice its end.

use std::{
    pin::Pin,
    task::{Context as Task, Poll},
};

use actix::{
    ActorFuture, Context,
    clock::{Instant, Sleep, sleep_until},
};

use crate::{
    protocol::Election,
    store::{Saving, StoreError},
};

use super::{Agent, vacancy::AGAIN};

/// Ends when the record is durable, or cannot be; with `None` when the incarnation has ended before.
pub(super) struct RecordWait {
    saving: Saving,
    since: Instant,
    /// The next warning, once the store was found to take its time.
    warning: Option<Pin<Box<Sleep>>>,
}

impl RecordWait {
    pub(super) fn new(saving: Saving) -> Self {
        Self {
            saving,
            since: Instant::now(),
            warning: None,
        }
    }
}

impl<E: Election> ActorFuture<Agent<E>> for RecordWait {
    type Output = Option<Result<(), StoreError>>;

    fn poll(
        self: Pin<&mut Self>,
        agent: &mut Agent<E>,
        _: &mut Context<Agent<E>>,
        task: &mut Task<'_>,
    ) -> Poll<Self::Output> {
        let Self {
            saving,
            since,
            warning,
        } = self.get_mut();
        // Asked at each poll: a record that waited while its incarnation was ended is not written.
        if !agent.shared.is_present(agent.incarnation) {
            return Poll::Ready(None);
        }
        if let Poll::Ready(saved) = saving.as_mut().poll(task) {
            return Poll::Ready(Some(saved));
        }
        // Not earlier: until then the store is not what an election waits for too long.
        let Some(slow) = since.checked_add(agent.shared.assumed().patience) else {
            return Poll::Pending;
        };
        let due = agent.vacancy_due().map_or(slow, |due| slow.max(due));
        let warning = warning.get_or_insert_with(|| Box::pin(sleep_until(due)));
        while warning.as_mut().poll(task).is_ready() {
            let now = Instant::now();
            let next = if agent.vacancy_due().is_some() {
                agent.warn_of_vacancy(now);
                agent.vacancy_due()
            } else {
                agent.warn_of_store(now.duration_since(*since));
                now.checked_add(AGAIN)
            };
            let Some(next) = next.filter(|next| *next > now) else {
                break;
            };
            warning.as_mut().reset(next);
        }
        Poll::Pending
    }
}
