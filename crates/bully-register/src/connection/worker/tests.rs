//! The worker makes connections and gives them up, with servers that hang or end the connection.

use std::collections::VecDeque;

use futures::{
    FutureExt, StreamExt,
    future::{join, pending},
};

use super::*;
use crate::{Change, Entry, RegisterKey, Removal, Swap};

/// The outcome of an attempt to connect.
enum Attempt {
    Refused,
    Hangs,
    /// The session answers with this number, or never answers. The connection ends at once if it has a course.
    Connects(Option<u64>, Option<Course>),
}

/// A server with these outcomes. The session of each later attempt never answers. It reports the course and the moment
/// of each attempt.
struct ScriptedServer(VecDeque<Attempt>, mpsc::UnboundedSender<(Course, Instant)>);

/// A session that answers reads with its number, or not at all.
struct Scripted {
    number: Option<u64>,
    #[expect(dead_code, reason = "its end is the connection's")]
    alive: mpsc::Sender<Course>,
}

impl Server for ScriptedServer {
    type Session = Scripted;

    async fn connect(
        &mut self,
        _: &Tellers,
        after: Course,
    ) -> Result<(Scripted, mpsc::Receiver<Course>), RegisterError> {
        self.1.send((after, Instant::now())).ok();
        match self.0.pop_front().unwrap_or(Attempt::Connects(None, None)) {
            Attempt::Refused => Err(RegisterError::refused(
                RegisterRefusal::Credentials,
                io::Error::other("no"),
            )),
            Attempt::Hangs => pending().await,
            Attempt::Connects(number, end) => {
                let (alive, ended) = mpsc::channel(1);
                if let Some(course) = end {
                    alive.try_send(course).unwrap();
                }
                Ok((Scripted { number, alive }, ended))
            }
        }
    }
}

/// A worker of a scripted server, and the other ends of its channels.
struct Scene {
    worker: Worker<ScriptedServer>,
    jobs: Jobs,
    listeners: Listeners,
    seen: mpsc::UnboundedReceiver<(Course, Instant)>,
}

fn scene(attempts: impl IntoIterator<Item = Attempt>) -> Scene {
    let (seen, all) = mpsc::unbounded_channel();
    let (jobs, asked) = Jobs::new();
    let (told, listeners) = Tellers::new();
    Scene {
        worker: Worker {
            server: ScriptedServer(attempts.into_iter().collect(), seen),
            jobs: asked,
            told,
        },
        jobs,
        listeners,
        seen: all,
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
    let scene = scene([Attempt::Refused, Attempt::Hangs]);
    let (jobs, mut seen) = (scene.jobs, scene.seen);
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
        // Silent connections: one by a read, and one by a write.
        let read = jobs.read(&key).await;
        assert!(matches!(read, Err(RegisterError::Unreachable(_))));
        let swap = jobs.swap(&key, None, b"x".to_vec()).await;
        assert!(swap.is_err_and(|error| error.is_unknown()));
        sleep(LASTS).await;
        // Both connections were given up. After each failure the client moves on to another server.
        let seen: Vec<_> = std::iter::from_fn(|| seen.try_recv().ok()).collect();
        let courses: Vec<_> = seen.iter().map(|(after, _)| *after).collect();
        let [first, later] = [Course::LogsIn, Course::MovesOn];
        assert_eq!(courses, [first, later, later, later, later]);
        let [second, third] = [1, 2].map(|attempt| seen[attempt].1);
        let waited = third.duration_since(second);
        assert!(
            (CONNECT..CONNECT + pause(3)).contains(&waited),
            "{waited:?}"
        );
    };
    LocalSet::new()
        .run_until(join(scene.worker.run(), asks))
        .await;
}

#[tokio::test(start_paused = true)]
async fn connections_that_end_at_once_are_made_after_growing_pauses_by_the_course_of_their_end() {
    use Course::{LogsIn, MovesOn};
    let ends = [LogsIn, MovesOn, LogsIn, LogsIn];
    let scene = scene(ends.map(|end| Attempt::Connects(None, Some(end))));
    let (jobs, mut all) = (scene.jobs, scene.seen);
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
    let ((), found) = LocalSet::new()
        .run_until(join(scene.worker.run(), asks))
        .await;
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

#[tokio::test(start_paused = true)]
async fn a_question_after_the_end_of_a_connection_goes_to_the_next_connection() {
    let ended = Attempt::Connects(Some(1), Some(Course::LogsIn));
    let scene = scene([ended, Attempt::Connects(Some(2), None)]);
    let jobs = scene.jobs;
    let mut read = jobs.read(&"a/b".parse().unwrap());
    assert!((&mut read).now_or_never().is_none(), "it waits already");
    let asks = async move {
        let found = read.await.unwrap().unwrap();
        assert_eq!(found.version.as_str(), "2");
        let swap = jobs.swap(&"a/b".parse().unwrap(), None, Vec::new());
        assert_eq!(swap.await.unwrap(), Swap::Conflict(None));
        drop(jobs);
    };
    LocalSet::new()
        .run_until(join(scene.worker.run(), asks))
        .await;
}

/// Nothing reported the changes from before the connection.
#[tokio::test(start_paused = true)]
async fn a_connection_counts_as_a_change_of_every_key() {
    let Scene {
        worker,
        jobs,
        listeners,
        ..
    } = scene([]);
    let mut changes = listeners.changes(&"a/b".parse().unwrap()).unwrap();
    let hears = async move {
        let change = timeout(CONNECT, changes.next()).await;
        assert_eq!(change, Ok(Some(Change::Unknown)));
        drop(jobs);
    };
    LocalSet::new().run_until(join(worker.run(), hears)).await;
}
