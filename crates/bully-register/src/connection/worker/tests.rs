//! When the worker makes a connection and gives it up, with servers that hang or end the connection.

use std::sync::{Arc, Mutex};

use futures::{
    FutureExt, StreamExt,
    future::{join, pending},
};

use super::*;
use crate::{Change, Entry, RegisterKey, Removal, Swap};

/// A server that accepts the third attempt to connect, and answers nothing.
struct Silent(Arc<Mutex<Vec<Course>>>);

/// A session that answers reads with its number, or not at all.
struct Scripted {
    number: Option<u64>,
    #[expect(dead_code, reason = "its end is the connection's")]
    alive: mpsc::Sender<Course>,
}

impl Scripted {
    const fn silent(alive: mpsc::Sender<Course>) -> Self {
        let number = None;
        Self { number, alive }
    }
}

impl Server for Silent {
    type Session = Scripted;

    async fn connect(
        &mut self,
        _: &Tellers,
        after: Course,
    ) -> Result<(Scripted, mpsc::Receiver<Course>), RegisterError> {
        let attempts = {
            let mut attempts = self.0.lock().unwrap();
            attempts.push(after);
            attempts.len()
        };
        match attempts {
            1 => Err(RegisterError::refused(
                RegisterRefusal::Credentials,
                io::Error::other("no"),
            )),
            2 => pending().await,
            _ => {
                let (alive, ended) = mpsc::channel(1);
                Ok((Scripted::silent(alive), ended))
            }
        }
    }
}

impl StoreSession for Scripted {
    async fn read(&self, keys: &[RegisterKey]) -> Vec<Result<Option<Entry>, RegisterError>> {
        let Some(number) = self.number else {
            return pending().await;
        };
        let entry = |_: &RegisterKey| {
            let version = number.into();
            Ok(Some(crate::key::entry_of_swap(version, Vec::new())))
        };
        keys.iter().map(entry).collect()
    }

    async fn swap(
        &self,
        _: &RegisterKey,
        _: Option<&Entry>,
        _: &[u8],
    ) -> Result<Swap, RegisterError> {
        match self.number {
            Some(_) => Ok(Swap::Conflict(None)),
            None => pending().await,
        }
    }

    async fn list(&self, _: &RegisterKey) -> Result<Vec<(RegisterKey, Entry)>, RegisterError> {
        pending().await
    }

    async fn remove(&self, _: &RegisterKey, _: &Entry) -> Result<Removal, RegisterError> {
        pending().await
    }
}

#[tokio::test(start_paused = true)]
async fn waiting_operations_get_the_reason_and_the_connection_is_closed() {
    let attempts = Arc::default();
    let (jobs, asked) = Jobs::new();
    let (told, _listeners) = Tellers::new();
    let worker = Worker {
        server: Silent(Arc::clone(&attempts)),
        jobs: asked,
        told,
    };
    let key: RegisterKey = "a/b".parse().unwrap();
    let asks = async move {
        let refused = jobs.read(&key).await;
        assert!(matches!(
            refused,
            Err(RegisterError::Refused {
                refusal: RegisterRefusal::Credentials,
                ..
            })
        ));
        sleep(pause(1)).await;
        // The second attempt hangs, and is given up.
        let hangs = jobs.read(&key).await;
        assert!(matches!(hangs, Err(RegisterError::Unreachable(_))));
        sleep(pause(2)).await;
        let (read, swap) = join(jobs.read(&key), jobs.swap(&key, None, b"x".to_vec())).await;
        assert!(matches!(read, Err(RegisterError::Unreachable(_))));
        assert!(swap.is_err_and(|error| error.is_unknown()));
        // The silent connection was given up. After each failure the client moves on to another server.
        let [first, later] = [Course::LogsIn, Course::MovesOn];
        assert_eq!(*attempts.lock().unwrap(), [first, later, later, later]);
    };
    LocalSet::new().run_until(join(worker.run(), asks)).await;
}

/// A server whose connections end at once, each with the next of these courses.
struct Short(
    std::vec::IntoIter<Course>,
    mpsc::UnboundedSender<(Course, Instant)>,
);

impl Server for Short {
    type Session = Scripted;

    async fn connect(
        &mut self,
        _: &Tellers,
        after: Course,
    ) -> Result<(Scripted, mpsc::Receiver<Course>), RegisterError> {
        self.1.send((after, Instant::now())).ok();
        let (alive, ended) = mpsc::channel(1);
        if let Some(course) = self.0.next() {
            alive.try_send(course).unwrap();
        }
        Ok((Scripted::silent(alive), ended))
    }
}

#[tokio::test(start_paused = true)]
async fn connections_that_end_at_once_are_made_after_growing_pauses_by_the_course_of_their_end() {
    use Course::{LogsIn, MovesOn};
    let ends = vec![LogsIn, MovesOn, LogsIn, LogsIn];
    let (seen, mut all) = mpsc::unbounded_channel();
    let (jobs, asked) = Jobs::new();
    let (told, _listeners) = Tellers::new();
    let server = Short(ends.into_iter(), seen);
    let worker = Worker {
        server,
        jobs: asked,
        told,
    };
    let begun = Instant::now();
    let asks = async move {
        let mut found = Vec::new();
        while found.len() < 5 {
            let (after, at) = all.recv().await.unwrap();
            found.push((after, at.duration_since(begun).as_millis()));
        }
        drop(jobs);
        found
    };
    let ((), found) = LocalSet::new().run_until(join(worker.run(), asks)).await;
    let expected = [
        (LogsIn, 0),
        (LogsIn, 0),
        (MovesOn, 100),
        (LogsIn, 300),
        (LogsIn, 700),
    ];
    let rounded: Vec<_> = found
        .iter()
        .map(|(after, at)| (*after, at / 10 * 10))
        .collect();
    assert_eq!(rounded, expected);
}

#[test]
fn reads_that_wait_together_are_one_question_without_abandoned_reads() {
    let (jobs, mut asked) = Jobs::new();
    let key = |name: &str| -> RegisterKey { name.parse().unwrap() };
    let mut one = jobs.read(&key("a/lease"));
    let mut swap = jobs.swap(&key("b/lease"), None, vec![1]);
    let mut gone = jobs.read(&key("c/lease"));
    let mut other = jobs.read(&key("a/claim"));
    for read in [&mut one, &mut gone, &mut other] {
        assert!(read.now_or_never().is_none());
    }
    assert!((&mut swap).now_or_never().is_none());
    drop(gone);
    let jobs = together(std::iter::from_fn(|| asked.try_recv().ok()).collect());
    let keys = jobs.iter().map(|job| match job {
        Job::Reads(reads) => reads.iter().map(|(key, _)| key.as_str()).collect(),
        Job::Swap { key, .. } => vec![key.as_str()],
        Job::List { .. } | Job::Remove { .. } => panic!("{job:?}"),
        #[cfg(feature = "postgres")]
        Job::Clock { .. } => panic!("{job:?}"),
    });
    let keys: Vec<Vec<_>> = keys.collect();
    assert_eq!(keys, [vec!["b/lease"], vec!["a/lease", "a/claim"]]);
}

#[test]
fn the_pauses_grow_to_a_limit() {
    let pauses = [1, 2, 3, 6, 7, u32::MAX].map(pause);
    assert_eq!(
        pauses.map(|it| it.as_millis()),
        [50, 100, 200, 1_600, 1_600, 1_600]
    );
}

/// A server whose first connection ends as soon as it is made. Each connection answers with its own number.
struct Numbered(u64);

impl Server for Numbered {
    type Session = Scripted;

    async fn connect(
        &mut self,
        _: &Tellers,
        _: Course,
    ) -> Result<(Scripted, mpsc::Receiver<Course>), RegisterError> {
        let (alive, ended) = mpsc::channel(1);
        if self.0 == 0 {
            alive.try_send(Course::LogsIn).unwrap();
        }
        self.0 += 1;
        let session = Scripted {
            number: Some(self.0),
            alive,
        };
        Ok((session, ended))
    }
}

#[tokio::test(start_paused = true)]
async fn a_question_after_the_end_of_a_connection_goes_to_the_next_connection() {
    let (jobs, asked) = Jobs::new();
    let (told, _listeners) = Tellers::new();
    let worker = Worker {
        server: Numbered(0),
        jobs: asked,
        told,
    };
    let mut read = jobs.read(&"a/b".parse().unwrap());
    assert!((&mut read).now_or_never().is_none(), "it waits already");
    let asks = async move {
        let found = read.await.unwrap().unwrap();
        assert_eq!(found.version.as_str(), "2");
        let swap = jobs.swap(&"a/b".parse().unwrap(), None, Vec::new());
        assert_eq!(swap.await.unwrap(), Swap::Conflict(None));
        drop(jobs);
    };
    LocalSet::new().run_until(join(worker.run(), asks)).await;
}

/// Nothing reported the changes from before the connection.
#[tokio::test(start_paused = true)]
async fn a_connection_counts_as_a_change_of_every_key() {
    let (jobs, asked) = Jobs::new();
    let (told, listeners) = Tellers::new();
    let key = "a/b".parse().unwrap();
    let mut changes = listeners.changes(&key).unwrap();
    let worker = Worker {
        server: Numbered(1),
        jobs: asked,
        told,
    };
    let hears = async move {
        let change = timeout(CONNECT, changes.next()).await;
        assert_eq!(change, Ok(Some(Change::Unknown)));
        drop(jobs);
    };
    LocalSet::new().run_until(join(worker.run(), hears)).await;
}
