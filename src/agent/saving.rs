//! The wait for a record to be durable, in which the agent does nothing else.
//!
//! Decided here: what ends that wait, and that it is no silent one. The agent's timers wait as well, so a store
//! that hangs is warned of from here, when it has had the time of an election.

use std::{
    pin::Pin,
    task::{Context as Task, Poll},
};

use actix::{
    ActorFuture, Context,
    clock::{Instant, Sleep, sleep_until},
};

use crate::{
    planted::{Defect, has},
    protocol::Election,
    store::{Saving, StoreError},
};

use super::Agent;

/// Ends when the record is durable, or cannot be; with `None` when the incarnation has ended before.
pub(super) struct RecordWait {
    saving: Saving,
    /// The next warning, once the store was found to take its time.
    warning: Option<Pin<Box<Sleep>>>,
}

impl RecordWait {
    pub(super) fn new(saving: Saving) -> Self {
        Self {
            saving,
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
        let Self { saving, warning } = self.get_mut();
        // Asked at each poll: a record that waited while its incarnation was ended is not written.
        if !agent.shared.is_present(agent.incarnation) && !has(Defect::EndedSaves) {
            return Poll::Ready(None);
        }
        if let Poll::Ready(saved) = saving.as_mut().poll(task) {
            return Poll::Ready(Some(saved));
        }
        let Some(due) = agent.vacancy_due() else {
            return Poll::Pending;
        };
        let warning = warning.get_or_insert_with(|| {
            // Not earlier: until then the store is not what an election waits for too long.
            let slow = Instant::now().checked_add(agent.shared.assumed().patience);
            Box::pin(sleep_until(slow.map_or(due, |slow| slow.max(due))))
        });
        while warning.as_mut().poll(task).is_ready() {
            let now = Instant::now();
            agent.warn_of_vacancy(now);
            let Some(next) = agent.vacancy_due().filter(|next| *next > now) else {
                break;
            };
            warning.as_mut().reset(next);
        }
        Poll::Pending
    }
}
