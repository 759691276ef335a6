//! Work that runs while an agent leads, and only then.
//!
//! Decided here: when such a future is made, when it is dropped, and what follows if it panics. It
//! runs in its caller's task, and the belief's clock is read before each poll: nothing of the work
//! runs after its leadership. Until it was dropped the agent's end counts as a guess.

use std::{future::poll_fn, pin::pin, sync::Arc, task::Poll, time::Duration};

use tracing::error;

use crate::{
    planted::{Defect, has},
    protocol::{Election, Incarnation},
    supervisor::{Decision, RestartBudget, RestartPolicy, contain},
};

use super::{
    LeaderGuard,
    error::LeadError,
    handle::ElectionHandle,
    leads::{Reign, Stage},
    message::Command,
    tenure::Remaining,
    wait::{NoTimers, timer, within},
};

impl<E: Election> ElectionHandle<E> {
    /// Runs `work` whenever this agent leads; ends when the agent has left or ended for good.
    ///
    /// The future runs in the caller's task. It is dropped when the leadership is lost, and made
    /// anew at the next one. When it ends by itself, what follows depends on whether the agent
    /// was [stepping down](LeaderGuard::stepping_down):
    ///
    /// | the future | then |
    /// |---|---|
    /// | ends while the agent steps down | the work is done: the hand-over goes on at once |
    /// | ends otherwise | the work is done: the agent steps down politely |
    /// | panics | the same, and it is logged and counted: [`OnPanic::StepDown`] |
    ///
    /// The agent's clock is read before each poll of the work, so that nothing of it runs after the
    /// leadership, a suspend of the host included. Work that waits for something is dropped up to
    /// 100 ms after a suspend in which its lease ran out.
    ///
    /// Several may run side by side; a hand-over waits for all of them, up to the limit set. Drop
    /// what `lead` returned, and the work is dropped with it; the agent goes on leading.
    ///
    /// # Errors
    /// [`LeadError::NoRuntime`] outside of a runtime with timers, before anything was done.
    ///
    /// # Examples
    /// ```no_run
    /// # async fn serve(handle: actix_bully::agent::BullyHandle) -> Result<(), actix_bully::agent::LeadError> {
    /// handle
    ///     .lead(|leader| async move {
    ///         println!("leading in term {}", leader.token().term);
    ///         leader.stepping_down().await; // work until then
    ///         // finish what must not be cut off; then the successor takes over
    ///     })
    ///     .await
    /// # }
    /// ```
    pub async fn lead<F, W>(&self, work: F) -> Result<(), LeadError>
    where
        F: FnMut(LeaderGuard) -> W,
        W: Future<Output = ()>,
    {
        self.lead_with(OnPanic::StepDown, work).await
    }

    /// As [`lead`](Self::lead), with another answer to work that panics.
    ///
    /// # Errors
    /// [`LeadError::NoRuntime`] as there; [`LeadError::GaveUp`] when a panic ended the agent's
    /// part in the election.
    pub async fn lead_with<F, W>(&self, on_panic: OnPanic, mut work: F) -> Result<(), LeadError>
    where
        F: FnMut(LeaderGuard) -> W,
        W: Future<Output = ()>,
    {
        if timer(Duration::ZERO).is_err() {
            return Err(LeadError::NoRuntime);
        }
        let mut panics = Panics::new(on_panic, self);
        let mut bell = self.belief.bell();
        let mut done = None;
        loop {
            bell.mark_unchanged();
            if self.belief.is_over() {
                return Ok(());
            }
            let Some(reign) = self.belief.enter(done) else {
                if bell.changed().await.is_err() {
                    return Ok(());
                }
                continue;
            };
            let running = Running {
                handle: self,
                life: reign.incarnation,
            };
            let outcome = running.attend(reign, &mut work).await;
            drop(running);
            let next = match outcome {
                Outcome::Dropped => continue,
                Outcome::Finished => Next::StepDown,
                Outcome::Panicked(reason) => panics.count(&reason),
            };
            match next {
                Next::StepDown => {
                    done = Some(reign.serial);
                    let draining = |now: Reign| now.stage == Stage::Draining;
                    if !self.belief.reign().is_some_and(draining) {
                        self.addr.do_send(Command::StepDown { to: None });
                    }
                }
                Next::Again { after } => {
                    let over = self.belief.over(reign.serial);
                    within(after, over).await.map_err(LeadError::from)?;
                }
                Next::GiveUp => {
                    self.belief.leave();
                    self.addr.do_send(Command::Leave);
                    while !self.belief.is_over() && bell.changed().await.is_ok() {}
                    return Err(LeadError::GaveUp);
                }
            }
        }
    }
}

/// What follows when the work of [`lead`](ElectionHandle::lead) panics.
///
/// Whatever it is, the panic is kept in, logged at `error`, and counted in
/// [`Status::work_panics`](super::Status::work_panics), of which
/// [`changes`](ElectionHandle::changes) tells. `lead_with` takes it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum OnPanic {
    /// The agent steps down politely, as if the work were done: another one shall try. The work is
    /// made anew at the agent's next leadership. The default.
    #[default]
    StepDown,
    /// The work is made anew after the policy's backoff, as long as the agent leads. When the
    /// budget is spent: as [`GiveUp`](Self::GiveUp).
    Restart(RestartPolicy),
    /// The agent leaves: it hands over, stops, and `lead_with` returns [`LeadError::GaveUp`].
    GiveUp,
}

/// The panics of one lead future's work, and what they lead to.
struct Panics<'a, E: Election> {
    handle: &'a ElectionHandle<E>,
    answer: Answer,
}

enum Answer {
    StepDown,
    Restart(RestartBudget),
    GiveUp,
}

/// What the work's end leads to.
enum Next {
    StepDown,
    Again { after: Duration },
    GiveUp,
}

impl<'a, E: Election> Panics<'a, E> {
    fn new(on_panic: OnPanic, handle: &'a ElectionHandle<E>) -> Self {
        let answer = match on_panic {
            OnPanic::StepDown => Answer::StepDown,
            OnPanic::Restart(policy) => Answer::Restart(RestartBudget::new(policy)),
            OnPanic::GiveUp => Answer::GiveUp,
        };
        Self { handle, answer }
    }

    fn count(&mut self, reason: &str) -> Next {
        let belief = &self.handle.belief;
        let next = match &mut self.answer {
            Answer::StepDown => Next::StepDown,
            Answer::GiveUp => Next::GiveUp,
            Answer::Restart(budget) => {
                match budget.spend(Duration::from_nanos(belief.now().as_nanos())) {
                    Decision::Restart { after, .. } => Next::Again { after },
                    Decision::GiveUp => Next::GiveUp,
                }
            }
        };
        let then = match next {
            Next::StepDown => "the agent steps down",
            Next::Again { .. } => "the work is begun again",
            Next::GiveUp => "the agent leaves",
        };
        error!(node = %belief.id(), reason, then, "work of the leader panicked");
        belief.note_work_panic();
        next
    }
}

/// A lead future that runs; its end is noted however it comes about.
struct Running<'a, E: Election> {
    handle: &'a ElectionHandle<E>,
    life: Incarnation,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Outcome {
    /// The leadership is over.
    Dropped,
    /// The future ended by itself.
    Finished,
    /// It panicked, with this text.
    Panicked(String),
}

impl<E: Election> Running<'_, E> {
    /// Runs the work until it ends or the leadership does. The future is dropped on return.
    async fn attend<F, W>(&self, reign: Reign, work: &mut F) -> Outcome
    where
        F: FnMut(LeaderGuard) -> W,
        W: Future<Output = ()>,
    {
        let belief = &self.handle.belief;
        let guard = LeaderGuard {
            belief: Arc::clone(belief),
            reign,
        };
        let mut over = pin!(belief.over(reign.serial));
        let mut work = match contain(|| Box::pin(work(guard))) {
            Ok(work) => work,
            Err(reason) => return Outcome::Panicked(reason),
        };
        let outcome = poll_fn(|task| {
            // `over` waits for a timer, which may be late, and stands still in a suspend: the clock
            // has the last word before anything of the work runs.
            let is_over = over.as_mut().poll(task).is_ready()
                || belief.remaining(reign.serial) == Remaining::Over
                    && !has(Defect::WorksAfterLease);
            if is_over {
                return Poll::Ready(Outcome::Dropped);
            }
            match contain(|| work.as_mut().poll(task)) {
                Ok(poll) => poll.map(|()| Outcome::Finished),
                Err(reason) => Poll::Ready(Outcome::Panicked(reason)),
            }
        });
        let outcome = outcome.await;
        // What the work held may panic when it is dropped: that is a panic of the work as well.
        match contain(|| drop(work)) {
            Err(reason) if outcome == Outcome::Finished => Outcome::Panicked(reason),
            Err(reason) => {
                error!(node = %belief.id(), reason, "work of the leader panicked when dropped");
                outcome
            }
            Ok(()) => outcome,
        }
    }
}

impl<E: Election> Drop for Running<'_, E> {
    fn drop(&mut self) {
        self.handle.belief.exit(self.life);
        self.handle.addr.do_send(Command::Recheck);
    }
}

impl From<NoTimers> for LeadError {
    fn from(NoTimers: NoTimers) -> Self {
        Self::NoRuntime
    }
}
