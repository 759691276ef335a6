//! The thread on which a store writes.
//!
//! Decided here: that each store has its own. On the threads that a runtime shares for blocking work, an application
//! that fills them all would hold up every vote of its process.

use std::{
    io,
    sync::mpsc::{Sender, channel},
    thread,
};

use tokio::sync::oneshot;

type Job = Box<dyn FnOnce() + Send>;

/// Ends when the store is dropped and its last job is done.
#[derive(Clone, Debug)]
pub(super) struct Writer(Sender<Job>);

impl Writer {
    /// # Errors
    /// When the system has no thread left.
    pub(super) fn new() -> io::Result<Self> {
        let (jobs, queue) = channel::<Job>();
        let run = move || queue.into_iter().for_each(|job| job());
        thread::Builder::new()
            .name("bully-store".into())
            .stack_size(STACK)
            .spawn(run)?;
        Ok(Self(jobs))
    }

    /// Puts a job at the end of the queue. The receiver hears nothing if the job panicked, or one before it.
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
        // A thread that has ended drops the job, and `tell` with it.
        self.0.send(job).ok();
        told
    }
}

/// Until this is dropped, a runtime whose time is virtual does not go on to its next timer: the record would else take
/// seconds there. It does so only for work on its own threads. The job itself waits for none of them.
#[cfg(feature = "testkit")]
fn hold_virtual_time() -> Sender<()> {
    let (held, is_done) = channel();
    if let Ok(runtime) = tokio::runtime::Handle::try_current() {
        drop(runtime.spawn_blocking(move || is_done.recv().is_err()));
    }
    held
}

/// JSON nests 128 deep at most, so a record needs no more.
const STACK: usize = 512 << 10;
