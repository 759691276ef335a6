//! Stops the work of a leader when the application asks for it.
//!
//! Decided here: the work is stopped at once, and its end is reported when it is dropped and its name is free. The work
//! may run on another thread.

use std::{
    fmt,
    pin::Pin,
    task::{Context, Poll},
};

use futures::{
    FutureExt,
    channel::oneshot::{Receiver, Sender, channel},
    future::{AbortHandle, Abortable, Shared, abortable},
};

/// The future that [`ScheduleHandle::stop`](super::schedule::ScheduleHandle::stop) and
/// [`SingletonHandle::stop`](super::SingletonHandle::stop) return. It ends when the work is dropped and its name is
/// free. The work stops even if this future is not awaited.
#[derive(Clone)]
pub struct Stopped(Shared<Receiver<()>>);

/// Stops the work from any thread.
#[derive(Clone)]
pub(super) struct Stopper {
    abort: AbortHandle,
    ended: Stopped,
}

/// A guard that the task of the work holds to its end. When it is dropped, [`Stopped`] ends.
pub(super) struct NotStopped(#[expect(dead_code, reason = "its end is what counts")] Sender<()>);

/// Makes work that can be stopped.
pub(super) fn stoppable<F: Future>(work: F) -> (Abortable<F>, NotStopped, Stopper) {
    let (work, abort) = abortable(work);
    let (ends, ended) = channel();
    let ended = Stopped(ended.shared());
    (work, NotStopped(ends), Stopper { abort, ended })
}

impl Stopper {
    pub(super) fn stop(&self) -> Stopped {
        self.abort.abort();
        self.ended.clone()
    }
}

impl Future for Stopped {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<()> {
        self.0.poll_unpin(task).map(drop)
    }
}

impl fmt::Debug for Stopped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let has_ended = self.0.peek().is_some();
        f.debug_struct("Stopped")
            .field("has_ended", &has_ended)
            .finish()
    }
}
