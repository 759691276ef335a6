//! The operations that wait for the thread of a store, and the path of each answer back to its caller.
//!
//! Decided here: the number of operations that may wait is limited; an operation whose caller has given up is not
//! begun; and if the thread ends during a write, the write has an unknown outcome. Not here: the operations of a store.

use std::io;

use tokio::sync::{mpsc, oneshot};

#[cfg(feature = "postgres")]
use super::StoreClock;
use super::{
    Entry, RegisterError, RegisterKey, RegisterListing, RegisterReading, Removal, Removing, Swap,
    Swapping, key::check_size,
};

/// One operation, and the receiver of its outcome.
#[derive(Debug)]
pub(super) enum Job {
    /// Several reads together, which become one question if the store can answer them at once.
    Reads(Vec<ReadJob>),
    Swap {
        key: RegisterKey,
        expected: Option<Entry>,
        value: Vec<u8>,
        answer: JobAnswer<Swap>,
    },
    List {
        prefix: RegisterKey,
        answer: JobAnswer<Vec<(RegisterKey, Entry)>>,
    },
    Remove {
        key: RegisterKey,
        expected: Entry,
        answer: JobAnswer<Removal>,
    },
    #[cfg(feature = "postgres")]
    Clock { answer: JobAnswer<u64> },
}

/// A key, and the receiver of its entry.
pub(super) type ReadJob = (RegisterKey, JobAnswer<Option<Entry>>);

pub(super) type JobAnswer<T> = oneshot::Sender<Result<T, RegisterError>>;

/// Sends operations to a thread. The thread ends when the last clone is dropped.
#[derive(Clone, Debug)]
pub(super) struct Jobs {
    sender: mpsc::Sender<Job>,
    /// The process in which the thread runs. A forked child has a copy of the queue, but no thread that reads it.
    process: u32,
}

impl Jobs {
    /// Makes a queue. Returns its sending end, and the receiving end for the thread.
    pub(super) fn new() -> (Self, mpsc::Receiver<Job>) {
        let (sender, asked) = mpsc::channel(QUEUE);
        let process = std::process::id();
        (Self { sender, process }, asked)
    }

    pub(super) fn read(&self, key: &RegisterKey) -> RegisterReading {
        let (jobs, key) = (self.clone(), key.clone());
        Box::pin(async move {
            let ask = jobs.ask(|answer| Job::Reads(vec![(key, answer)]), false);
            ask.await
        })
    }

    pub(super) fn swap(
        &self,
        key: &RegisterKey,
        expected: Option<&Entry>,
        value: Vec<u8>,
    ) -> Swapping {
        let (jobs, key, expected) = (self.clone(), key.clone(), expected.cloned());
        Box::pin(async move {
            check_size(&value)?;
            let swap = |answer| Job::Swap {
                key,
                expected,
                value,
                answer,
            };
            jobs.ask(swap, true).await
        })
    }

    pub(super) fn list(&self, prefix: &RegisterKey) -> RegisterListing {
        let (jobs, prefix) = (self.clone(), prefix.clone());
        Box::pin(async move {
            let ask = jobs.ask(|answer| Job::List { prefix, answer }, false);
            ask.await
        })
    }

    pub(super) fn remove(&self, key: &RegisterKey, expected: &Entry) -> Removing {
        let (jobs, key, expected) = (self.clone(), key.clone(), expected.clone());
        Box::pin(async move {
            let remove = |answer| Job::Remove {
                key,
                expected,
                answer,
            };
            jobs.ask(remove, true).await
        })
    }

    #[cfg(feature = "postgres")]
    pub(super) fn clock(&self) -> StoreClock {
        let jobs = self.clone();
        Box::pin(async move {
            let ask = jobs.ask(|answer| Job::Clock { answer }, false);
            ask.await
        })
    }

    async fn ask<T>(
        &self,
        job: impl FnOnce(JobAnswer<T>) -> Job,
        writes: bool,
    ) -> Result<T, RegisterError> {
        let (answer, answered) = oneshot::channel();
        self.put(job(answer))?;
        match answered.await {
            Ok(outcome) => outcome,
            Err(_) if writes => Err(RegisterError::unknown(ended())),
            Err(_) => Err(RegisterError::unreachable(ended())),
        }
    }

    fn put(&self, job: Job) -> Result<(), RegisterError> {
        if self.process != std::process::id() {
            return Err(RegisterError::unreachable(io::Error::other(
                "the store was opened before this process was forked: open it here",
            )));
        }
        self.sender.try_send(job).map_err(|refused| {
            RegisterError::unreachable(match refused {
                mpsc::error::TrySendError::Full(_) => {
                    io::Error::other("too many operations wait for the store")
                }
                mpsc::error::TrySendError::Closed(_) => ended(),
            })
        })
    }
}

impl Job {
    /// Returns whether a caller still waits for this operation. A write whose caller no longer waits is not begun,
    /// because its late effect could surprise other agents.
    pub(super) fn is_wanted(&self) -> bool {
        match self {
            Self::Reads(reads) => reads.iter().any(|(_, answer)| !answer.is_closed()),
            Self::Swap { answer, .. } => !answer.is_closed(),
            Self::List { answer, .. } => !answer.is_closed(),
            Self::Remove { answer, .. } => !answer.is_closed(),
            #[cfg(feature = "postgres")]
            Self::Clock { answer } => !answer.is_closed(),
        }
    }
}

fn ended() -> io::Error {
    io::Error::other("its thread has ended")
}

/// Largest number of operations that wait: several hundred elections, each with a read and a swap under way.
const QUEUE: usize = 2_048;

#[cfg(test)]
mod tests {
    use futures::{
        FutureExt,
        future::{BoxFuture, join_all},
    };

    use super::*;

    fn key() -> RegisterKey {
        "shop/cron/lease".parse().unwrap()
    }

    #[test]
    fn a_write_whose_thread_ends_is_unknown_and_a_read_is_not() {
        let (jobs, mut asked) = Jobs::new();
        let (mut read, mut swap) = (jobs.read(&key()), jobs.swap(&key(), None, vec![1]));
        assert!((&mut read).now_or_never().is_none());
        assert!((&mut swap).now_or_never().is_none());
        assert!(asked.try_recv().is_ok_and(|job| job.is_wanted()));
        drop(asked);
        let (read, swap) = (read.now_or_never().unwrap(), swap.now_or_never().unwrap());
        assert!(matches!(read, Err(RegisterError::Unreachable(_))));
        assert!(swap.is_err_and(|error| error.is_unknown()));
        // Nothing was sent, so the outcome is known.
        let late = jobs.swap(&key(), None, vec![1]).now_or_never().unwrap();
        assert!(matches!(late, Err(RegisterError::Unreachable(_))));
    }

    #[test]
    fn a_forked_child_is_refused_instead_of_waiting_for_a_thread_of_its_parent() {
        let (jobs, mut asked) = Jobs::new();
        let forked = Jobs {
            process: jobs.process.wrapping_add(1),
            ..jobs
        };
        let refused = forked.swap(&key(), None, vec![1]).now_or_never().unwrap();
        assert!(matches!(refused, Err(RegisterError::Unreachable(_))));
        assert!(asked.try_recv().is_err(), "nothing was sent");
    }

    #[test]
    fn a_job_is_wanted_as_long_as_its_asker_waits() {
        let (jobs, mut asked) = Jobs::new();
        let mut is_wanted = |mut asker: BoxFuture<'static, ()>| {
            assert!((&mut asker).now_or_never().is_none());
            let job = asked.try_recv().unwrap();
            let while_it_waits = job.is_wanted();
            drop(asker);
            (while_it_waits, job.is_wanted())
        };
        let found = Entry::new(&key(), crate::Version::from(1_u64), vec![1]).unwrap();
        for asker in [
            jobs.read(&key()).map(drop).boxed(),
            jobs.swap(&key(), None, vec![1]).map(drop).boxed(),
            jobs.list(&key()).map(drop).boxed(),
            jobs.remove(&key(), &found).map(drop).boxed(),
        ] {
            assert_eq!(is_wanted(asker), (true, false));
        }
        #[cfg(feature = "postgres")]
        assert_eq!(is_wanted(jobs.clock().map(drop).boxed()), (true, false));
    }

    #[test]
    fn more_than_may_wait_are_refused_at_once() {
        let (jobs, _asked) = Jobs::new();
        let all = (0..QUEUE).map(|_| jobs.read(&key()));
        let mut all = join_all(all);
        assert!((&mut all).now_or_never().is_none());
        let more = jobs.read(&key()).now_or_never().unwrap();
        assert!(matches!(more, Err(RegisterError::Unreachable(_))));
    }
}
