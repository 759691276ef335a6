//! Holds the sender back: it may be a limited number of messages ahead, and learns of the progress in steps. It can
//! also send one question after the other.

use std::{
    ops::Range,
    sync::atomic::{AtomicUsize, Ordering::Relaxed},
    time::{Duration, Instant},
};

use tokio::sync::Semaphore;

/// Counts what arrives; shared by both ends.
#[derive(Debug)]
pub(crate) struct Tally {
    credits: Semaphore,
    /// Number of messages after which the sender learns of them; 0 while messages are answered instead.
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
    /// Notes a message; returns whether it needs an answer.
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

    /// Sends a number of messages, with a limited number of them under way; returns when all have arrived.
    pub(crate) async fn backlog(
        &self,
        window: usize,
        messages: usize,
        mut send: impl AsyncFnMut(Range<u64>),
    ) {
        let step = (window / 8).max(1);
        self.step.store(step, Relaxed);
        self.arrived.store(0, Relaxed);
        self.credits.add_permits(step * 8);
        let each = u64::try_from(step).expect("a count");
        let mut sent = 0;
        for _ in 0..messages / step {
            self.wait(step).await;
            send(sent..sent + each).await;
            sent += each;
        }
        self.wait(step * 8).await;
    }

    /// Sends one message after the other, each with its answer; returns the time of each.
    pub(crate) async fn round_trips(
        &self,
        rounds: usize,
        mut ask: impl AsyncFnMut(),
    ) -> Vec<Duration> {
        self.step.store(0, Relaxed);
        let mut times = Vec::with_capacity(rounds);
        for _ in 0..rounds {
            let began = Instant::now();
            ask().await;
            times.push(began.elapsed());
        }
        times
    }

    /// Waits until `messages` more messages may be sent.
    async fn wait(&self, messages: usize) {
        let messages = u32::try_from(messages).expect("a small window");
        let credits = self.credits.acquire_many(messages).await;
        credits.expect("it is never closed").forget();
    }
}
