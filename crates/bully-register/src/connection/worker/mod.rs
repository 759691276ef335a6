//! The thread that has the connection to the store.
//!
//! Decided here: after a lost connection a new connection is made, after a growing pause; a connection that ends as
//! soon as it was made counts as a failed attempt. Without a connection, operations fail at once. Reads that wait at
//! the same time are sent as one question, since most of them are for the two records of one election. A connection
//! with an overdue answer is given up, since all other operations on it wait as well.

#[cfg(test)]
mod tests;

use std::{
    future::Future,
    io::{self, ErrorKind},
    pin::pin,
    rc::Rc,
    thread,
    time::Duration,
};

use futures::future::{Either, select};
use tokio::{
    runtime,
    sync::mpsc,
    task::{LocalSet, spawn_local},
    time::{Instant, sleep, timeout},
};

use super::{Course, KeyChange, Server, StoreSession, Tellers, told::Listeners};
use crate::{
    RegisterError, RegisterRefusal,
    jobs::{Job, JobAnswer, Jobs},
};

/// Starts a thread with this name, which carries out the operations sent by the returned handles.
pub(crate) fn start(name: &str, server: impl Server) -> Result<(Jobs, Listeners), RegisterError> {
    let (jobs, asked) = Jobs::new();
    let (told, listeners) = Tellers::new();
    let runtime = runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(RegisterError::unreachable)?;
    let worker = Worker {
        server,
        jobs: asked,
        told,
    };
    thread::Builder::new()
        .name(name.to_owned())
        .spawn(move || LocalSet::new().block_on(&runtime, worker.run()))
        .map_err(RegisterError::unreachable)?;
    Ok((jobs, listeners))
}

struct Worker<S> {
    server: S,
    jobs: mpsc::Receiver<Job>,
    told: Tellers,
}

/// The signal that the register and all its clones were dropped: the thread ends.
struct Dropped;

/// The reason why the connection is missing; each operation fails with it meanwhile.
struct Reason {
    refusal: Option<RegisterRefusal>,
    words: String,
}

impl<S: Server> Worker<S> {
    /// Runs until the last clone of the register is dropped.
    async fn run(mut self) {
        let (mut failures, mut after) = (0_u32, Course::LogsIn);
        loop {
            let connected = timeout(CONNECT, self.server.connect(&self.told, after)).await;
            after = Course::MovesOn;
            // Every error leads to a new attempt, because an operator may add a missing right or table meanwhile.
            let served = match connected {
                Ok(Ok((session, ended))) => {
                    // Changes before this connection began to listen were not reported.
                    self.told.tell(KeyChange::Any);
                    let begun = Instant::now();
                    let served = self.serve(&Rc::new(session), ended).await;
                    let is_short = begun.elapsed() < LASTS;
                    failures = if is_short {
                        failures.saturating_add(1)
                    } else {
                        0
                    };
                    match served {
                        // There is a pause first: if every new connection fails at once, connections would be made one
                        // after the other without end.
                        Ok(course) if failures > 1 => {
                            after = course;
                            let words = "its connections end as soon as they are made".to_owned();
                            let reason = Reason {
                                refusal: None,
                                words,
                            };
                            self.refuse(&reason, pause(failures)).await
                        }
                        Ok(course) => {
                            after = course;
                            Ok(())
                        }
                        Err(dropped) => Err(dropped),
                    }
                }
                failed => {
                    failures = failures.saturating_add(1);
                    let reason = match failed {
                        Ok(Err(error)) => Reason::of(error),
                        Ok(Ok(_)) | Err(_) => Reason {
                            refusal: None,
                            words: format!("no connection within {CONNECT:?}"),
                        },
                    };
                    self.refuse(&reason, pause(failures)).await
                }
            };
            if let Err(Dropped) = served {
                return;
            }
        }
    }

    /// Carries out operations until the connection ends. Returns the course after its end.
    async fn serve(
        &mut self,
        session: &Rc<S::Session>,
        mut ended: mpsc::Receiver<Course>,
    ) -> Result<Course, Dropped> {
        let (overdue, mut is_overdue) = mpsc::channel(1);
        loop {
            let mut asked = Vec::new();
            let (mut ends, mut hangs) = (pin!(ended.recv()), pin!(is_overdue.recv()));
            let more = self.jobs.recv_many(&mut asked, MOST_TOGETHER);
            // The end of the connection is checked first, because later operations belong to the next connection.
            match select(select(&mut ends, &mut hangs), pin!(more)).await {
                Either::Left((Either::Left((course, _)), _)) => {
                    return Ok(course.unwrap_or(Course::MovesOn));
                }
                Either::Left((Either::Right(_), _)) => return Ok(Course::MovesOn),
                Either::Right((0, _)) => return Err(Dropped),
                Either::Right(_) => {}
            }
            for job in together(asked) {
                let (session, overdue) = (Rc::clone(session), overdue.clone());
                spawn_local(async move {
                    if job.run(&*session).await.is_err() {
                        overdue.try_send(()).ok();
                    }
                });
            }
        }
    }

    /// Refuses all operations for the time `pause`.
    async fn refuse(&mut self, reason: &Reason, pause: Duration) -> Result<(), Dropped> {
        let mut pause = pin!(sleep(pause));
        loop {
            match select(pin!(self.jobs.recv()), &mut pause).await {
                Either::Left((Some(job), _)) => job.refuse(reason),
                Either::Left((None, _)) => return Err(Dropped),
                Either::Right(_) => return Ok(()),
            }
        }
    }
}

/// An answer has not come in time.
struct Overdue;

/// Returns the operations whose callers still wait: each write by itself, and all reads as one operation.
fn together(asked: Vec<Job>) -> Vec<Job> {
    let (mut jobs, mut reads) = (Vec::new(), Vec::new());
    for job in asked.into_iter().filter(Job::is_wanted) {
        match job {
            Job::Reads(more) => reads.extend(more),
            job @ (Job::Swap { .. } | Job::List { .. } | Job::Remove { .. }) => jobs.push(job),
            #[cfg(feature = "postgres")]
            job @ Job::Clock { .. } => jobs.push(job),
        }
    }
    if !reads.is_empty() {
        jobs.push(Job::Reads(reads));
    }
    jobs
}

impl Job {
    fn refuse(self, reason: &Reason) {
        match self {
            Self::Reads(reads) => {
                for (_, answer) in reads {
                    drop(answer.send(Err(reason.error())));
                }
            }
            Self::Swap { answer, .. } => drop(answer.send(Err(reason.error()))),
            Self::List { answer, .. } => drop(answer.send(Err(reason.error()))),
            Self::Remove { answer, .. } => drop(answer.send(Err(reason.error()))),
            #[cfg(feature = "postgres")]
            Self::Clock { answer } => drop(answer.send(Err(reason.error()))),
        }
    }

    async fn run(self, session: &impl StoreSession) -> Result<(), Overdue> {
        match self {
            Self::Reads(reads) => {
                let (keys, answers): (Vec<_>, Vec<_>) = reads.into_iter().unzip();
                let found = timeout(ANSWER, session.read(&keys)).await;
                let is_late = found.is_err();
                let mut found = found.unwrap_or_default().into_iter();
                for answer in answers {
                    let late = || Err(RegisterError::unreachable(late()));
                    drop(answer.send(found.next().unwrap_or_else(late)));
                }
                if is_late { Err(Overdue) } else { Ok(()) }
            }
            Self::Swap {
                key,
                expected,
                value,
                answer,
            } => {
                let swap = session.swap(&key, expected.as_ref(), &value);
                within(swap, answer, RegisterError::unknown).await
            }
            Self::List { prefix, answer } => {
                within(session.list(&prefix), answer, RegisterError::unreachable).await
            }
            Self::Remove {
                key,
                expected,
                answer,
            } => {
                let remove = session.remove(&key, &expected);
                within(remove, answer, RegisterError::unknown).await
            }
            #[cfg(feature = "postgres")]
            Self::Clock { answer } => {
                within(session.clock(), answer, RegisterError::unreachable).await
            }
        }
    }
}

/// Answers with the outcome of `work`, or with the error `overdue` if it takes too long.
async fn within<T>(
    work: impl Future<Output = Result<T, RegisterError>>,
    answer: JobAnswer<T>,
    overdue: fn(io::Error) -> RegisterError,
) -> Result<(), Overdue> {
    let done = timeout(ANSWER, work).await;
    let is_late = done.is_err();
    drop(answer.send(done.unwrap_or_else(|_| Err(overdue(late())))));
    if is_late { Err(Overdue) } else { Ok(()) }
}

fn late() -> io::Error {
    io::Error::new(ErrorKind::TimedOut, format!("no answer within {ANSWER:?}"))
}

impl Reason {
    fn of(error: RegisterError) -> Self {
        match error {
            RegisterError::Refused { refusal, source } => Self {
                refusal: Some(refusal),
                words: source.to_string(),
            },
            RegisterError::Unreachable(source) | RegisterError::Unknown(source) => Self {
                refusal: None,
                words: source.to_string(),
            },
            other @ (RegisterError::Foreign { .. }
            | RegisterError::TooLarge { .. }
            | RegisterError::TooMany { .. }) => Self {
                refusal: None,
                words: other.to_string(),
            },
        }
    }

    fn error(&self) -> RegisterError {
        let source = io::Error::other(self.words.clone());
        match self.refusal {
            Some(refusal) => RegisterError::refused(refusal, source),
            None => RegisterError::unreachable(source),
        }
    }
}

/// Returns the pause after this number of failures in a row.
fn pause(failures: u32) -> Duration {
    PAUSE.saturating_mul(1 << failures.min(MOST_DOUBLINGS))
}

/// Time within which a connection must be made; operations wait meanwhile. It is longer than two waits of [`ANSWER`]
/// (with Kubernetes, for credentials and a first answer), because the errors of these waits have more details.
const CONNECT: Duration = Duration::from_secs(5);
/// Time without an answer, not even a refusal, after which a server counts as gone or frozen. Chosen: half of the lease
/// of `wan`. With far less, a short stall ends the connection; with far more, a holder leaves a frozen server too late.
pub(crate) const ANSWER: Duration = Duration::from_secs(2);
/// Half of the first pause between two attempts to connect.
const PAUSE: Duration = Duration::from_millis(25);
/// Shortest time that a connection must last; a shorter one counts as a failure. Chosen: with minutes, a proxy that
/// ends each connection after a minute would cause pauses, in which operations are refused.
const LASTS: Duration = Duration::from_secs(1);
/// Largest number of waiting operations that are taken together. By default, etcd allows 128 reads in a transaction.
const MOST_TOGETHER: usize = 64;
/// Largest number of doublings of the pause. The longest pause is 1.6 s.
const MOST_DOUBLINGS: u32 = 6;
