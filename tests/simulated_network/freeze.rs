//! A process that stands still: nothing of it runs, while the world around it goes on.
//!
//! Decided here: that its timers do go on, as those of a stopped process do. A suspended host's
//! timers stand still as well; then its boot clock has counted more than they have, which is what a
//! history adds when it wakes the host.

use std::{
    cell::{Cell, RefCell},
    future::{Future, poll_fn},
    pin::pin,
    task::{Poll, Waker},
};

/// Stops and resumes one process.
#[derive(Debug, Default)]
pub struct Freezer {
    is_frozen: Cell<bool>,
    waker: RefCell<Option<Waker>>,
}

impl Freezer {
    /// Nothing runs from now on.
    pub fn freeze(&self) {
        self.is_frozen.set(true);
    }

    /// All goes on.
    pub fn thaw(&self) {
        self.is_frozen.set(false);
        if let Some(waker) = self.waker.take() {
            waker.wake();
        }
    }

    /// Runs a process, except while it is frozen.
    pub async fn run<T>(&self, process: impl Future<Output = T>) -> T {
        let mut process = pin!(process);
        poll_fn(|cx| {
            if self.is_frozen.get() {
                self.waker.replace(Some(cx.waker().clone()));
                return Poll::Pending;
            }
            process.as_mut().poll(cx)
        })
        .await
    }
}
