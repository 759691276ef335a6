//! How the sender is held back: it may be so many messages ahead, and is told in steps.

use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use tokio::sync::Semaphore;

/// Counts what arrives; shared by both ends.
#[derive(Debug)]
pub(crate) struct Tally {
    credits: Semaphore,
    /// After so many messages the sender hears of it; 0 while messages are answered instead.
    step: AtomicUsize,
    arrived: AtomicUsize,
}

impl Default for Tally {
    fn default() -> Self {
        Self {
            credits: Semaphore::new(0),
            step: AtomicUsize::new(0),
            arrived: AtomicUsize::new(0),
        }
    }
}

impl Tally {
    /// Notes a message; says whether it is to be answered.
    pub(crate) fn note(&self) -> bool {
        let step = self.step.load(Relaxed);
        if step == 0 {
            return true;
        }
        let arrived = self.arrived.fetch_add(1, Relaxed) + 1;
        if arrived.is_multiple_of(step) {
            self.credits.add_permits(step);
        }
        false
    }

    /// From now on messages are answered.
    pub(crate) fn answer(&self) {
        self.step.store(0, Relaxed);
    }

    /// From now on so many may be under way; how many to send at once.
    pub(crate) fn open(&self, window: usize) -> usize {
        let step = (window / 8).max(1);
        self.step.store(step, Relaxed);
        self.arrived.store(0, Relaxed);
        self.credits.add_permits(step * 8);
        step
    }

    /// Waits until that many more may be sent.
    pub(crate) async fn wait(&self, messages: usize) {
        let messages = u32::try_from(messages).expect("a small window");
        let credits = self.credits.acquire_many(messages).await;
        credits.expect("it is never closed").forget();
    }

    /// Waits until all have arrived.
    pub(crate) async fn close(&self, step: usize) {
        self.wait(step * 8).await;
    }
}
