//! An arbiter for agents only. On a shared arbiter another actor that is busy would delay the timers of an election. An
//! actor that panics would delay them as well: a real `panic!` holds up its thread for longer than an election takes,
//! and the first panic that prints a backtrace holds it up for longer than a short lease lasts (`benches/panic.rs`).

use std::{
    fmt,
    sync::{Arc, OnceLock},
    thread::{self, ThreadId},
};

use actix::{Arbiter, ArbiterHandle, System};

use super::StartError;

/// A thread that runs only agents. Use one thread for all agents of a process: messages between them stay on that
/// thread, which is the fastest way.
///
/// Start the bridge on this thread as well, by [`spawn_fn`](ArbiterHandle::spawn_fn), as `Config::start` and the
/// example `node` do. A heartbeat that changes threads on its way wakes both threads, and is late if one of them is
/// busy.
///
/// Dropping an `ElectionArbiter` stops its thread and waits until the thread ends. Its agents end as if they had
/// crashed, so let them [leave](super::ElectionHandle::leave) first.
///
/// ```no_run
/// # use actix_bully::{Group, agent::{BullyAgent, ElectionArbiter}};
/// # fn start(group: &Group) -> Result<(), Box<dyn std::error::Error>> {
/// let arbiter = ElectionArbiter::new()?;
/// let agent = BullyAgent::builder("a").join(group).start_in_arbiter(&arbiter.handle())?;
/// # Ok(())
/// # }
/// ```
pub struct ElectionArbiter {
    arbiter: Option<Arbiter>,
    thread: Arc<OnceLock<ThreadId>>,
}

impl ElectionArbiter {
    /// Starts the thread.
    ///
    /// # Errors
    /// [`StartError::NoSystem`] outside of a System; [`StartError::NoArbiter`] if the thread cannot be made.
    pub fn new() -> Result<Self, StartError> {
        if System::try_current().is_none() {
            return Err(StartError::NoSystem);
        }
        let arbiter = Arbiter::try_new().map_err(|_| StartError::NoArbiter)?;
        let thread = Arc::new(OnceLock::new());
        let known = Arc::clone(&thread);
        arbiter.spawn_fn(move || {
            known.get_or_init(|| thread::current().id());
        });
        let arbiter = Some(arbiter);
        Ok(Self { arbiter, thread })
    }

    /// Returns the handle with which agents start on this thread.
    pub fn handle(&self) -> ArbiterHandle {
        match &self.arbiter {
            Some(arbiter) => arbiter.handle(),
            None => Arbiter::current(), // only while `self` is dropped
        }
    }
}

impl Drop for ElectionArbiter {
    fn drop(&mut self) {
        let Some(arbiter) = self.arbiter.take() else {
            return;
        };
        arbiter.stop();
        // If one of its own agents drops the arbiter, the thread cannot wait for itself.
        if self.thread.get() != Some(&thread::current().id()) {
            drop(arbiter.join());
        }
    }
}

impl fmt::Debug for ElectionArbiter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ElectionArbiter").finish_non_exhaustive()
    }
}
