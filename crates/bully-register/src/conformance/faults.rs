//! A register behind a network that delays messages, loses answers, and delivers writes late.
//!
//! Decided here: the faults, which a seeded generator chooses: an answer is lost after its write was applied; a write
//! is applied after its caller got the error `Unknown`; a message is delayed. A correct register passes the suite with
//! all of these faults.

use std::{
    fmt,
    io::{self, ErrorKind},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use tokio::time::sleep;

use crate::{Entry, Register, RegisterError, RegisterKey, RegisterReading, Swapping};

/// A connection over a faulty network; see the [module](self).
#[derive(Clone, Debug)]
pub(super) struct Faulty {
    inner: Arc<dyn Register>,
    network: Arc<Mutex<FaultyCalls>>,
}

struct FaultyCalls {
    dice: fastrand::Rng,
    /// Number of operations that were requested so far.
    asked: u32,
    /// Writes that have not reached the store, each with the number of the operation before which it will arrive.
    late: Vec<(u32, Swapping)>,
}

/// The fate of a write.
enum CallFate {
    Answered,
    AnswerLost,
    /// The write arrives some operations later.
    Late(u32),
}

impl Faulty {
    pub(super) fn new(inner: Arc<dyn Register>, seed: u64) -> Self {
        let network = FaultyCalls {
            dice: fastrand::Rng::with_seed(seed),
            asked: 0,
            late: Vec::new(),
        };
        Self {
            inner,
            network: Arc::new(Mutex::new(network)),
        }
    }

    /// Delivers all writes that have not arrived yet.
    pub(super) async fn settle(&self) {
        self.arrive(u32::MAX).await;
    }

    /// Delivers the late writes that are due before the operation of this number. The outcomes are dropped, because the
    /// callers no longer wait.
    async fn arrive(&self, operation: u32) {
        for swap in self.take_due(operation) {
            drop(swap.await);
        }
    }

    fn take_due(&self, operation: u32) -> Vec<Swapping> {
        let mut due = Vec::new();
        let mut network = self.network();
        while let Some(at) = network.late.iter().position(|(due, _)| *due <= operation) {
            due.push(network.late.swap_remove(at).1);
        }
        due
    }

    async fn begin(&self) {
        let operation = self.count();
        self.arrive(operation).await;
        self.delay().await;
    }

    fn count(&self) -> u32 {
        let mut network = self.network();
        network.asked = network.asked.saturating_add(1);
        network.asked
    }

    async fn delay(&self) {
        let millis = self.network().dice.u64(0..DELAYS);
        // Half of the messages take no time.
        if let Some(millis) = millis.checked_sub(DELAYS / 2) {
            sleep(Duration::from_millis(millis)).await;
        }
    }

    fn fate(&self) -> CallFate {
        let dice = &mut self.network().dice;
        match dice.u32(0..8) {
            0 => CallFate::AnswerLost,
            1 => CallFate::Late(dice.u32(1..6)),
            _ => CallFate::Answered,
        }
    }

    fn send_late(&self, after: u32, swap: Swapping) {
        let mut network = self.network();
        let due = network.asked.saturating_add(after);
        network.late.push((due, swap));
    }

    fn network(&self) -> MutexGuard<'_, FaultyCalls> {
        // A poisoned lock is used, because each change under the lock is one step and so never half done.
        self.network.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Register for Faulty {
    fn name(&self) -> &str {
        self.inner.name()
    }

    fn read(&self, key: &RegisterKey) -> RegisterReading {
        let (faulty, key) = (self.clone(), key.clone());
        Box::pin(async move {
            faulty.begin().await;
            let found = faulty.inner.read(&key).await;
            faulty.delay().await;
            match faulty.fate() {
                CallFate::AnswerLost => Err(RegisterError::unreachable(lost())),
                CallFate::Answered | CallFate::Late(_) => found,
            }
        })
    }

    fn swap(&self, key: &RegisterKey, expected: Option<&Entry>, value: Vec<u8>) -> Swapping {
        let (faulty, key, expected) = (self.clone(), key.clone(), expected.cloned());
        Box::pin(async move {
            faulty.begin().await;
            let swap = faulty.inner.swap(&key, expected.as_ref(), value);
            match faulty.fate() {
                CallFate::Answered => {
                    let swap = swap.await;
                    faulty.delay().await;
                    swap
                }
                CallFate::AnswerLost => {
                    drop(swap.await);
                    Err(RegisterError::unknown(lost()))
                }
                CallFate::Late(after) => {
                    faulty.send_late(after, swap);
                    Err(RegisterError::unknown(lost()))
                }
            }
        })
    }
}

impl fmt::Debug for FaultyCalls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FaultyCalls")
            .field("asked", &self.asked)
            .field("late", &self.late.len())
            .finish_non_exhaustive()
    }
}

fn lost() -> io::Error {
    io::Error::new(ErrorKind::TimedOut, "the suite lost the answer")
}

/// Upper limit of the random number that gives the delay of a message: the delay in milliseconds is this number minus
/// half of the limit, or zero.
const DELAYS: u64 = 6;
