//! A process of a test: all actors and tasks that were started inside of it are frozen together, and killed together.
//!
//! Decided here: a process is a set of tasks that one task polls, or does not poll. An actor of actix is a task, so the
//! application's actors, timers and futures stop with the agent, as they do when a host is suspended or a process
//! receives SIGSTOP. Not here: how other processes react to the silence, and the clock of a frozen agent when it runs
//! again (the clock has continued).

use std::{
    cell::{RefCell, RefMut},
    fmt, mem,
    pin::Pin,
    rc::Rc,
    task::{Context, Poll, Waker},
};

use tokio::task::LocalSet;

/// A process of a test; see the [example](#example). All clones are the same process. It is killed when the last clone
/// is dropped.
///
/// Start all actors and tasks of the process by [`run`](Self::run), on the System's own thread: an actor or task that
/// was started on another arbiter, on a thread or with `Arbiter::current().spawn(..)` does not belong to the process.
///
/// # Example
/// ```
/// use std::time::Duration;
/// use actix::prelude::*;
/// use actix_bully::testkit::{Process, virtual_system};
///
/// #[derive(Default)]
/// struct Clockwork(u32);
/// impl Actor for Clockwork {
///     type Context = Context<Self>;
///     fn started(&mut self, ctx: &mut Context<Self>) {
///         ctx.run_interval(Duration::from_secs(1), |clockwork, _| clockwork.0 += 1);
///     }
/// }
/// #[derive(Message)]
/// #[rtype(u32)]
/// struct Read;
/// impl Handler<Read> for Clockwork {
///     type Result = u32;
///     fn handle(&mut self, _: Read, _: &mut Context<Self>) -> u32 { self.0 }
/// }
///
/// virtual_system().block_on(async {
///     let process = Process::new();
///     let clockwork = process.run(|| Clockwork::default().start());
///     actix::clock::sleep(Duration::from_millis(3_500)).await;
///     process.freeze();
///     actix::clock::sleep(Duration::from_secs(60)).await;
///     process.resume();
///     assert!(clockwork.send(Read).await.unwrap() <= 4, "it did not tick while it was frozen");
///     process.kill();
///     assert!(clockwork.send(Read).await.is_err());
/// });
/// ```
#[derive(Clone)]
pub struct Process(Rc<ProcessOwner>);

struct ProcessOwner(Rc<RefCell<ProcessState>>);

struct ProcessState {
    tasks: Tasks,
    is_frozen: bool,
    driver: Option<Waker>,
}

enum Tasks {
    Idle(LocalSet),
    /// The tasks are polled at this moment, or a call of `run` starts others.
    Busy,
    Killed,
}

impl ProcessState {
    /// Takes the tasks if they are idle, and marks them as busy.
    fn take(&mut self) -> Option<LocalSet> {
        match mem::replace(&mut self.tasks, Tasks::Busy) {
            Tasks::Idle(tasks) => Some(tasks),
            other @ (Tasks::Busy | Tasks::Killed) => {
                self.tasks = other;
                None
            }
        }
    }

    /// Puts the tasks back. If the process was killed meanwhile, returns them to the caller, which drops them.
    fn put(&mut self, tasks: LocalSet) -> Option<LocalSet> {
        if matches!(self.tasks, Tasks::Killed) {
            return Some(tasks);
        }
        self.tasks = Tasks::Idle(tasks);
        None
    }
}

impl Process {
    /// Returns a process in which nothing runs yet.
    ///
    /// # Panics
    /// Outside of a System, as every start of an actor does.
    pub fn new() -> Self {
        let state = Rc::new(RefCell::new(ProcessState {
            tasks: Tasks::Idle(LocalSet::new()),
            is_frozen: false,
            driver: None,
        }));
        actix_rt::spawn(ProcessDriver(Rc::clone(&state)));
        Self(Rc::new(ProcessOwner(state)))
    }

    /// Calls `start` inside of the process: the actors and local tasks that it starts belong to the process. In a
    /// frozen process the new actors and tasks wait; in a killed process they never run.
    pub fn run<R>(&self, start: impl FnOnce() -> R) -> R {
        if matches!(self.state().tasks, Tasks::Busy) {
            return start(); // the caller runs inside of the process
        }
        // In a killed process the new tasks are dropped before they begin.
        let tasks = self.state().take().unwrap_or_default();
        let entered = tasks.enter();
        let made = start();
        drop(entered);
        let killed = self.state().put(tasks);
        drop(killed);
        self.0.wake();
        made
    }

    /// Freezes the process: nothing in it runs, and none of its timers is noticed, until [`resume`](Self::resume).
    pub fn freeze(&self) {
        self.state().is_frozen = true;
    }

    /// Resumes the process: its timers fire late.
    pub fn resume(&self) {
        self.state().is_frozen = false;
        self.0.wake();
    }

    /// Returns whether the process is frozen.
    pub fn is_frozen(&self) -> bool {
        self.state().is_frozen
    }

    /// Ends everything in the process at once, as `kill -9` does: leaders do not hand over, connections break.
    pub fn kill(&self) {
        self.0.kill();
    }

    fn state(&self) -> RefMut<'_, ProcessState> {
        self.0.0.borrow_mut()
    }
}

impl ProcessOwner {
    fn kill(&self) {
        // The tasks are dropped after the borrow of the state has ended, because an ending task may use the process.
        let tasks = mem::replace(&mut self.0.borrow_mut().tasks, Tasks::Killed);
        drop(tasks);
        self.wake();
    }

    fn wake(&self) {
        let driver = self.0.borrow().driver.clone();
        if let Some(driver) = driver {
            driver.wake();
        }
    }
}

impl Drop for ProcessOwner {
    fn drop(&mut self) {
        self.kill();
    }
}

impl Default for Process {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for Process {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = self.state();
        f.debug_struct("Process")
            .field("is_frozen", &state.is_frozen)
            .field("is_killed", &matches!(state.tasks, Tasks::Killed))
            .finish_non_exhaustive()
    }
}

/// Polls the tasks of a process, unless it is frozen.
struct ProcessDriver(Rc<RefCell<ProcessState>>);

impl Future for ProcessDriver {
    type Output = ();

    fn poll(self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<()> {
        let mut state = self.0.borrow_mut();
        state.driver = Some(task.waker().clone());
        if state.is_frozen {
            return Poll::Pending;
        }
        if matches!(state.tasks, Tasks::Killed) {
            return Poll::Ready(());
        }
        let Some(mut tasks) = state.take() else {
            return Poll::Pending; // the call that uses the tasks wakes this future afterwards
        };
        // The borrow ends before the tasks run: a task may freeze or kill its own process, or start other tasks in it.
        drop(state);
        #[expect(
            clippy::let_underscore_must_use,
            reason = "that all have ended for now is no end: others may be started, which wakes this"
        )]
        let _ = Pin::new(&mut tasks).poll(task);
        let killed = self.0.borrow_mut().put(tasks);
        if killed.is_some() {
            return Poll::Ready(());
        }
        Poll::Pending
    }
}

#[cfg(test)]
mod tests {
    use std::{cell::Cell, time::Duration};

    use actix_rt::{spawn, time::sleep};

    use super::*;
    use crate::testkit::virtual_system;

    const MS: fn(u64) -> Duration = Duration::from_millis;

    fn counting(into: &Rc<Cell<u32>>) -> impl Future<Output = ()> + 'static {
        let into = Rc::clone(into);
        async move {
            loop {
                sleep(MS(1)).await;
                into.set(into.get() + 1);
            }
        }
    }

    #[test]
    fn a_task_may_freeze_and_kill_its_own_process_and_start_others_in_it() {
        virtual_system().block_on(async {
            let (process, count) = (Process::new(), Rc::new(Cell::new(0)));
            let (inside, counted) = (process.clone(), Rc::clone(&count));
            process.run(|| {
                spawn(async move {
                    inside.run(|| spawn(counting(&counted)));
                    sleep(MS(10)).await;
                    inside.freeze();
                    sleep(MS(10)).await;
                    inside.kill();
                    sleep(MS(10)).await;
                    counted.set(1_000);
                })
            });
            sleep(MS(20)).await;
            assert!((9..=10).contains(&count.get()), "{}", count.get());
            sleep(MS(1_000)).await;
            assert!((9..=10).contains(&count.get()), "it is frozen");
            assert!(process.is_frozen());
            process.resume();
            sleep(MS(100)).await;
            assert!(
                (10..=21).contains(&count.get()),
                "it is killed: {}",
                count.get()
            );
            process.run(|| spawn(counting(&count)));
            let before = count.get();
            sleep(MS(100)).await;
            assert_eq!(
                count.get(),
                before,
                "nothing runs in a process that was killed"
            );
        });
    }

    #[test]
    fn a_process_ends_with_its_last_clone_and_not_with_its_last_task() {
        virtual_system().block_on(async {
            let (process, count) = (Process::new(), Rc::new(Cell::new(0)));
            process.run(|| spawn(async {}));
            sleep(MS(5)).await;
            process.run(|| spawn(counting(&count)));
            let other = process.clone();
            drop(process);
            sleep(MS(5)).await;
            assert!(count.get() >= 4, "{}", count.get());
            drop(other);
            let before = count.get();
            sleep(MS(5)).await;
            assert_eq!(count.get(), before);
        });
    }
}
