//! The liveness probe of a leader's work: if the work reports no progress for too long, its agent steps down.
//!
//! Decided here: when work is late ([`Noted`], pure), and that the agent's arbiter watches for this: the arbiter of the
//! work could not watch work that blocks it. Not here: the consequence, an orderly step-down (`actor.rs`), and when the
//! work is dropped (`lead.rs`).

use std::{
    fmt,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use futures::future::{Either, select};
use tokio::sync::oneshot;

use crate::protocol::Time;

use super::{
    LeaderGuard,
    error::ProgressError,
    message::{AgentCommand, AgentTask},
    phase::Remaining,
    shared::SharedState,
    wait::timer,
};

impl LeaderGuard {
    /// Requires that this work reports progress at least every `span`, by [`Progress::note`]. Otherwise the agent steps
    /// down, as if it had been asked to: the guard [notifies](Self::stepping_down) the work, and the work is dropped
    /// when the limit of the hand-over has passed. The stall is logged at `warn` and counted in
    /// [`Status::work_stalls`](super::Status::work_stalls). Then the agent lets other agents lead first, as after work
    /// that [fails](super::ElectionHandle::lead).
    ///
    /// This call counts as the first note. The agent's clock measures the span. The watch ends when every clone of the
    /// returned value has been dropped, or when the agent hands over.
    ///
    /// The agent's arbiter does the watching. Work that blocks another arbiter is noticed as well, although the work
    /// itself learns of the step-down only when it no longer blocks. If the agent and the work share an arbiter and the
    /// work blocks it, nothing runs on that arbiter, not even the agent. In the quorum mode its lease then ends; in
    /// other modes the other agents receive no heartbeat and elect another leader.
    ///
    /// # Errors
    /// [`ProgressError::ZeroSpan`] if `span` is zero; nothing was changed.
    ///
    /// # Examples
    /// ```no_run
    /// # use std::time::Duration;
    /// # use actix_bully::agent::{BullyHandle, LeadError};
    /// # async fn next_job() {}
    /// # async fn serve(handle: BullyHandle) -> Result<(), LeadError> {
    /// handle
    ///     .lead(|leader| async move {
    ///         let Ok(progress) = leader.progress_within(Duration::from_secs(30)) else { return };
    ///         while leader.is_leader() {
    ///             next_job().await;
    ///             progress.note();
    ///         }
    ///     })
    ///     .await
    /// # }
    /// ```
    pub fn progress_within(&self, span: Duration) -> Result<Progress, ProgressError> {
        check_span(span)?;
        let (held, dropped) = oneshot::channel();
        let noted = Arc::new(Noted::new(self.shared.now()));
        let probe = ProgressProbe {
            shared: Arc::clone(&self.shared),
            noted: Arc::clone(&noted),
            _held: held,
        };
        let watch = Watch {
            shared: Arc::clone(&self.shared),
            serial: self.tenure.serial,
            span,
            noted,
        };
        let agent = self.agent.clone();
        let task = async move {
            if watch.is_stalled(dropped).await {
                let Watch { serial, span, .. } = watch;
                // do_send: may exceed the mailbox's bound by one message for each watch; it makes the agent step down.
                agent.do_send(AgentCommand::Stalled { serial, span });
            }
        };
        // do_send: may exceed the mailbox's bound by one message for each watch, which must not be lost.
        self.agent
            .do_send(AgentCommand::Run(AgentTask(Box::pin(task))));
        Ok(Progress(Some(Arc::new(probe))))
    }

    /// Returns the probe with which this work was started
    /// ([`SingletonBuilder::progress_within`](crate::leader::SingletonBuilder::progress_within)). If the work was
    /// started without a probe, notes have no effect.
    pub fn progress(&self) -> Progress {
        self.progress.clone()
    }

    /// Returns this guard with a probe. The probe lasts as long as the returned guard or a clone of it.
    pub(crate) fn probed(mut self, span: Duration) -> Result<Self, ProgressError> {
        self.progress = self.progress_within(span)?;
        Ok(self)
    }
}

/// Checks that `span` is a valid limit for the progress of work.
pub(crate) fn check_span(span: Duration) -> Result<(), ProgressError> {
    if span.is_zero() {
        return Err(ProgressError::ZeroSpan);
    }
    Ok(())
}

/// Reports that the work of a leader makes progress; see [`LeaderGuard::progress_within`].
///
/// Clones report for the same work, from any thread.
#[derive(Clone, Default)]
#[must_use = "progress is asked for as long as this is kept"]
pub struct Progress(Option<Arc<ProgressProbe>>);

impl Progress {
    /// Reports progress: the span starts again. It costs one reading of the clock.
    pub fn note(&self) {
        if let Some(probe) = &self.0 {
            probe.noted.note(probe.shared.now());
        }
    }
}

impl fmt::Debug for Progress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Progress").field(&self.0.is_some()).finish()
    }
}

struct ProgressProbe {
    shared: Arc<SharedState>,
    noted: Arc<Noted>,
    /// The last clone drops this sender, which ends the watch.
    _held: oneshot::Sender<()>,
}

/// Time of the last note.
struct Noted(AtomicU64);

impl Noted {
    fn new(now: Time) -> Self {
        Self(AtomicU64::new(now.as_nanos()))
    }

    fn note(&self, now: Time) {
        // `fetch_max`, because a thread that read the clock earlier may store its reading later.
        self.0.fetch_max(now.as_nanos(), Ordering::Relaxed);
    }

    /// Returns the rest of the span; if it is zero, the work is late.
    fn left(&self, now: Time, span: Duration) -> Duration {
        let noted = Time::from_nanos(self.0.load(Ordering::Relaxed));
        span.saturating_sub(now.since(noted))
    }
}

/// The watch over the work of one guard.
struct Watch {
    shared: Arc<SharedState>,
    serial: u64,
    span: Duration,
    noted: Arc<Noted>,
}

impl Watch {
    /// Waits until the work is late, or until there is nothing more to watch. Returns whether the work is late.
    async fn is_stalled(&self, mut dropped: oneshot::Receiver<()>) -> bool {
        loop {
            // The end of the leadership is checked before the span: after a suspend the lease may have ended, and that
            // is not a fault of the work.
            let is_over = self.shared.remaining_of(self.serial) == Remaining::Over;
            if is_over || self.shared.is_draining() {
                return false;
            }
            let left = self.noted.left(self.shared.now(), self.span);
            if left.is_zero() {
                return true;
            }
            let Ok(timer) = timer(self.shared.trusted(left)) else {
                return false; // an arbiter without timers carries no agent
            };
            match select(dropped, std::pin::pin!(timer)).await {
                Either::Left(_) => return false,
                Either::Right(((), rest)) => dropped = rest,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_older_note_of_another_thread_takes_nothing_back() {
        const SPAN: Duration = Duration::from_millis(10);
        let noted = Noted::new(Time::from_millis(100));
        noted.note(Time::from_millis(120));
        noted.note(Time::from_millis(110));
        assert_eq!(noted.left(Time::from_millis(120), SPAN), SPAN);
    }
}
