//! The thread on which a store writes.
//!
//! Decided here: each store has a thread of its own. If stores used a runtime's shared threads for blocking work, an
//! application that fills all of them would delay every vote of its process.

use std::{
    io,
    sync::mpsc::{Sender, channel},
    thread,
};

use tokio::sync::oneshot;

type Job = Box<dyn FnOnce() + Send>;

/// The queue of a thread that writes. The thread ends when the store is dropped and the last job is done.
#[derive(Clone, Debug)]
pub(super) struct Writer(Sender<Job>);

impl Writer {
    /// # Errors
    /// The error of the system if it has no thread left.
    pub(super) fn new() -> io::Result<Self> {
        let (jobs, queue) = channel::<Job>();
        let run = move || queue.into_iter().for_each(|job| job());
        thread::Builder::new()
            .name("bully-store".into())
            .stack_size(STACK)
            .spawn(run)?;
        Ok(Self(jobs))
    }

    /// Puts a job at the end of the queue. The receiver gets no result if this job or an earlier one panicked.
    pub(super) fn run<T: Send + 'static>(
        &self,
        job: impl FnOnce() -> T + Send + 'static,
    ) -> oneshot::Receiver<T> {
        let (tell, told) = oneshot::channel();
        #[cfg(feature = "testkit")]
        let held = hold_virtual_time();
        let job = Box::new(move || {
            drop(tell.send(job()));
            #[cfg(feature = "testkit")]
            drop(held);
        });
        // If the thread has ended, the job and its `tell` are dropped, so the receiver gets an error.
        self.0.send(job).ok();
        told
    }
}

/// Stops virtual time until the returned value is dropped: the runtime then does not advance to its next timer.
/// Otherwise a save would take seconds of virtual time. Tokio stops virtual time only for work on its own threads, so a
/// thread of tokio waits until the job is done. The job itself runs on the store's thread.
#[cfg(feature = "testkit")]
fn hold_virtual_time() -> Sender<()> {
    let (held, is_done) = channel();
    if let Ok(runtime) = tokio::runtime::Handle::try_current() {
        drop(runtime.spawn_blocking(move || is_done.recv().is_err()));
    }
    held
}

/// Size of the thread's stack, in bytes. The JSON of a record has at most 128 levels, so it needs no larger stack.
const STACK: usize = 512 << 10;
