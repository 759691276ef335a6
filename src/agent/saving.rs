//! The wait for a record to be durable. The agent does nothing else during the wait.
//!
//! Decided here: when the wait ends, and when a warning is due during the wait. If a save fails with an error that may
//! pass, or for lack of space, the same record is saved again, with growing pauses. The agent has sent nothing that
//! depends on the record, so nothing is half done. The agent's timers wait as well. So this module warns of a store
//! that hangs or fails, once the wait has lasted as long as an election. An agent without a leader gives the warning
//! that there is no leader; an agent that knows a leader gives another warning, since it would not notice the leader's
//! end. Not here: which errors may pass (`bully_register::Outlook`).

use std::{
    future::ready,
    pin::Pin,
    task::{Context as Task, Poll},
};

use actix::{
    ActorFuture, Context,
    clock::{Instant, Sleep, sleep, sleep_until},
};
use tracing::{info, warn};

use crate::{
    protocol::{Election, Time},
    register::keeper::pause,
    store::{Saving, StoreError},
};

use super::{Agent, vacancy::AGAIN, vitals::VitalSigns};

/// A future that ends when the record is durable, or when it cannot become durable. It ends with `None` if the
/// incarnation has ended before that.
pub(super) struct RecordWait<E: Election> {
    record: E::Durable,
    attempt: Attempt,
    failures: u32,
    since: Instant,
    /// The timer of the next warning; set at the first poll that finds the store slow.
    warning: Option<Pin<Box<Sleep>>>,
}

/// A failure of the agent's store. It lasts until a record is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct StoreFailure {
    /// The last error of the store.
    pub(super) reason: String,
    /// Time of the first failure since the store last worked.
    pub(super) since: Time,
    /// Whether the agent waits and saves the same record again.
    pub(super) is_tried_again: bool,
}

impl StoreFailure {
    /// Notes one more failure; `since` stays the time of the first failure.
    pub(super) fn note(
        known: &mut Option<Box<Self>>,
        reason: String,
        now: Time,
        is_tried_again: bool,
    ) {
        let since = known.as_ref().map_or(now, |before| before.since);
        *known = Some(Box::new(Self {
            reason,
            since,
            is_tried_again,
        }));
    }
}

impl VitalSigns {
    /// Returns whether the agent waits before it saves a record again.
    pub(super) fn waits_for_store(&self) -> bool {
        let failure = self.store_failure.as_ref();
        failure.is_some_and(|failure| failure.is_tried_again)
    }

    /// Notes the end of the incarnation that waited.
    pub(super) fn end_wait_for_store(&mut self) {
        if let Some(failure) = &mut self.store_failure {
            failure.is_tried_again = false;
        }
    }
}

enum Attempt {
    Saves(Saving),
    /// The next attempt begins after this pause.
    Pauses(Pin<Box<Sleep>>),
}

impl<E: Election> RecordWait<E> {
    pub(super) fn new(record: E::Durable, agent: &Agent<E>) -> Self {
        Self {
            attempt: Attempt::Saves(agent.begin_to_save(record.clone())),
            record,
            failures: 0,
            since: Instant::now(),
            warning: None,
        }
    }

    /// Saves the record until a save succeeds, or fails for good.
    fn poll_saved(
        &mut self,
        agent: &Agent<E>,
        task: &mut Task<'_>,
    ) -> Poll<Result<(), StoreError>> {
        loop {
            self.attempt = match &mut self.attempt {
                Attempt::Pauses(pause) => {
                    if pause.as_mut().poll(task).is_pending() {
                        return Poll::Pending;
                    }
                    Attempt::Saves(agent.begin_to_save(self.record.clone()))
                }
                Attempt::Saves(saving) => match saving.as_mut().poll(task) {
                    Poll::Pending => return Poll::Pending,
                    Poll::Ready(Err(reason)) if reason.outlook().is_worth_a_try() => {
                        agent.note_refused(&reason, self.failures);
                        let pause = pause(self.failures);
                        self.failures = self.failures.saturating_add(1);
                        Attempt::Pauses(Box::pin(sleep(pause)))
                    }
                    Poll::Ready(saved) => {
                        if saved.is_ok() && self.failures > 0 {
                            let failures = self.failures;
                            agent
                                .shared
                                .span()
                                .in_scope(|| info!(failures, "record durable"));
                        }
                        return Poll::Ready(saved);
                    }
                },
            };
        }
    }
}

impl<E: Election> Agent<E> {
    fn begin_to_save(&self, record: E::Durable) -> Saving {
        self.shared.vitals().note_saving(self.shared.now());
        match &self.store {
            Some(store) => store.save(self.generation, record),
            None => Box::pin(ready(Ok(()))),
        }
    }

    fn note_refused(&self, reason: &StoreError, failures: u32) {
        let vitals = self.shared.vitals();
        vitals.note_refused(reason.to_string(), self.shared.now());
        if failures == 0 {
            self.shared.span().in_scope(|| {
                warn!(%reason, "record not durable: the agent tries again, and holds back the messages that depend on it");
            });
        }
    }
}

impl<E: Election> ActorFuture<Agent<E>> for RecordWait<E> {
    type Output = Option<Result<(), StoreError>>;

    fn poll(
        self: Pin<&mut Self>,
        agent: &mut Agent<E>,
        _: &mut Context<Agent<E>>,
        task: &mut Task<'_>,
    ) -> Poll<Self::Output> {
        let wait = self.get_mut();
        // The incarnation is checked at each poll: if it ends during the wait, its record is not written.
        if !agent.shared.is_present(agent.incarnation) {
            return Poll::Ready(None);
        }
        if let Poll::Ready(saved) = wait.poll_saved(agent, task) {
            return Poll::Ready(Some(saved));
        }
        // No warning before the longest time of an election: until then the wait for the store is not too long.
        let Some(slow) = wait.since.checked_add(agent.shared.assumed().patience) else {
            return Poll::Pending;
        };
        let due = agent.vacancy_due().map_or(slow, |due| slow.max(due));
        let warning = wait
            .warning
            .get_or_insert_with(|| Box::pin(sleep_until(due)));
        while warning.as_mut().poll(task).is_ready() {
            let now = Instant::now();
            let next = if agent.vacancy_due().is_some() {
                agent.warn_of_vacancy(now);
                agent.vacancy_due()
            } else {
                agent.warn_of_store(now.duration_since(wait.since));
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
