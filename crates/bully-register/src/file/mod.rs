//! A register in a folder of files, for the processes of one host. The register needs no server.
//!
//! ```text
//!   FileRegister ── jobs ──▶ one of four threads, by the key ── folder.rs ──▶ RecordFile: lock, compare, write, sync, say
//!                                     │ the file is locked: again after 1, 2, 4, 8, 8 .. ms
//!                ── reads ─▶ one of them, by the key above ──── folder.rs ──▶ RecordFile: see the noted record
//! ```
//!
//! Decided here: which thread serves a key, and for how long an operation tries to lock a file. Not here: the
//! operations (`folder.rs`), the name and the content of a file (`content.rs`), on which file systems a lock excludes
//! every process (`kind.rs`), and the meaning of a file's error (`failure.rs`).

mod content;
mod failure;
mod folder;
mod kind;
#[cfg(test)]
#[cfg(unix)]
mod tests;

use std::{future::Future, path::Path, pin::pin, rc::Rc, sync::Arc, thread, time::Duration};

use futures::future::{Either, select};
use tokio::{
    runtime,
    sync::mpsc::Receiver,
    task::{LocalSet, spawn_local},
    time::{Instant, sleep},
};

use super::{
    Entry, Register, RegisterError, RegisterKey, RegisterListing, RegisterReading, Removing,
    Swapping,
    jobs::{Job, JobAnswer, Jobs},
};
use content::hash;
use failure::FileFailure;
use folder::Folder;

/// Keeps leases in a folder, for any number of processes of one host.
///
/// Each key has a file, which survives a crash at any byte, because every write is synced. A write locks the file of
/// its key. While another process has the lock, the write tries again after pauses of 1 to 8 ms. After 100 ms it fails
/// and reports that process. A process that is stopped (`SIGSTOP`) in the middle of a write keeps its lock: then no
/// agent leads until that process goes on or is killed. A read takes no lock, unless the last writer was killed or has
/// failed: then the lock decides which record counts.
///
/// A process that does not lead reads both records of its election once per poll: every 88 ms with `lan`, every 310 ms
/// with `default`. In an optimized build one poll takes 0.28 ms of a processor, agent and threads included. So N
/// processes need N / 310 of a processor with `lan`, and N / 1,100 with `default`; half of the processor should be
/// free. 200 processes on two cores elect with `lan` (`.ci/soak registers`), and are killed in turn. An unoptimized
/// build takes 1 ms for a poll: with `lan`, 200 processes then need all of two cores, and no agent leads within 30 s.
///
/// The lock belongs to the file, whichever path leads to the file: a link, a mounted folder, a mounted file. A file
/// that was removed, replaced or copied counts as a change of its record. An agent then waits for as long as a lease
/// lasts before it takes the lease. All processes need the right to write to the folder and to its files. At first only
/// the user who made them has this right, so let all processes have one user.
///
/// A child that a process forks may not use the register that it inherits, and gets an error. A child that was forked
/// in the middle of a write has the file too: if its parent is killed before that write has ended, the file is locked
/// until the child ends.
///
/// Hosts that share a folder need another register. On Linux a folder that another host may share is refused: a folder
/// on NFS, SMB, 9p, FUSE, Ceph, GFS2 and similar file systems.
///
/// ```
/// # use bully_register::{FileRegister, Register, Swap};
/// # let parent = tempfile::tempdir()?;
/// # let folder = parent.path().join("leases");
/// # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
/// let register = FileRegister::open(&folder)?;
/// let other_process = FileRegister::open(&folder)?;
/// let key = "orders/holder".parse()?;
/// assert!(matches!(register.swap(&key, None, b"a".to_vec()).await?, Swap::Done(_)));
/// assert!(matches!(other_process.swap(&key, None, b"b".to_vec()).await?, Swap::Conflict(Some(_))));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?; Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct FileRegister {
    name: Arc<str>,
    threads: Arc<[Jobs]>,
}

impl FileRegister {
    /// Opens a folder, and makes it if it is missing. The folder above it must exist.
    ///
    /// # Errors
    /// [`RegisterError`]: the folder cannot be made or may not be written, or other hosts may share it.
    pub fn open(folder: impl AsRef<Path>) -> Result<Self, RegisterError> {
        let folder = Folder::make(folder.as_ref())?;
        let name = folder.name()?.into();
        let threads: Result<_, _> = (0..THREADS).map(|_| start(folder.clone())).collect();
        let threads = threads?;
        Ok(Self { name, threads })
    }

    /// Returns the thread that writes a key, always the same one, so that it knows which record of the key is synced.
    fn jobs(&self, key: &RegisterKey) -> &Jobs {
        self.thread(hash(key.as_str()))
    }

    /// Returns the thread that reads a key. Keys that differ only in their last name, such as both records of an
    /// election, have the same thread, which is woken once for both.
    fn reads(&self, key: &RegisterKey) -> &Jobs {
        let above = key.as_str().rsplit_once('/');
        self.thread(hash(above.map_or(key.as_str(), |(above, _)| above)))
    }

    fn thread(&self, hash: u64) -> &Jobs {
        let number = hash % u64::try_from(self.threads.len()).unwrap_or(1);
        let number = usize::try_from(number).unwrap_or(0);
        #[expect(clippy::expect_used, reason = "a remainder is smaller")]
        self.threads.get(number).expect("a thread of that number")
    }
}

impl Register for FileRegister {
    fn name(&self) -> &str {
        &self.name
    }

    fn read(&self, key: &RegisterKey) -> RegisterReading {
        self.reads(key).read(key)
    }

    fn swap(&self, key: &RegisterKey, expected: Option<&Entry>, value: Vec<u8>) -> Swapping {
        self.jobs(key).swap(key, expected, value)
    }

    fn list(&self, prefix: &RegisterKey) -> Option<RegisterListing> {
        Some(self.jobs(prefix).list(prefix))
    }

    fn remove(&self, key: &RegisterKey, expected: &Entry) -> Option<Removing> {
        Some(self.jobs(key).remove(key, expected))
    }
}

/// Starts a thread for operations. The thread ends when the last clone of the register is dropped.
fn start(folder: Folder) -> Result<Jobs, RegisterError> {
    let (jobs, asked) = Jobs::new();
    let runtime = runtime::Builder::new_current_thread()
        .enable_time()
        .build()
        .map_err(RegisterError::unreachable)?;
    thread::Builder::new()
        .name("bully-files".to_owned())
        .spawn(move || LocalSet::new().block_on(&runtime, serve(Rc::new(folder), asked)))
        .map_err(RegisterError::unreachable)?;
    Ok(jobs)
}

async fn serve(folder: Rc<Folder>, mut asked: Receiver<Job>) {
    while let Some(job) = asked.recv().await {
        if job.is_wanted() {
            spawn_local(work(Rc::clone(&folder), job));
        }
    }
}

async fn work(folder: Rc<Folder>, job: Job) {
    match job {
        Job::Reads(reads) => {
            for (key, answer) in reads {
                tell(answer, patiently(|| folder.read(&key))).await;
            }
        }
        Job::Swap {
            key,
            expected,
            value,
            answer,
        } => {
            let swap = || folder.swap(&key, expected.as_ref(), &value);
            tell(answer, patiently(swap)).await;
        }
        Job::List { prefix, answer } => tell(answer, list(&folder, &prefix)).await,
        #[cfg(feature = "postgres")]
        Job::Clock { answer } => drop(answer.send(Err(RegisterError::unreachable(
            std::io::Error::other("files have no clock"),
        )))),
        Job::Remove {
            key,
            expected,
            answer,
        } => tell(answer, patiently(|| folder.remove(&key, &expected))).await,
    }
}

/// Sends the outcome of `work` to the caller. Drops `work` if the caller no longer waits.
async fn tell<T>(mut answer: JobAnswer<T>, work: impl Future<Output = Result<T, RegisterError>>) {
    let outcome = match select(pin!(answer.closed()), pin!(work)).await {
        Either::Left(_) => return,
        Either::Right((outcome, _)) => outcome,
    };
    drop(answer.send(outcome));
}

async fn list(
    folder: &Folder,
    prefix: &RegisterKey,
) -> Result<Vec<(RegisterKey, Entry)>, RegisterError> {
    let mut all = Vec::new();
    for name in folder.names(prefix)? {
        let found = patiently(|| folder.read_file(&name)).await?;
        all.extend(found.filter(|(key, _)| key.is_below(prefix)));
    }
    all.sort_by(|(one, _), (other, _)| one.cmp(other));
    Ok(all)
}

/// Repeats `attempt` for a limited time while another process has the lock.
async fn patiently<T>(
    mut attempt: impl FnMut() -> Result<T, FileFailure>,
) -> Result<T, RegisterError> {
    let begun = Instant::now();
    let mut pause = PAUSE;
    loop {
        match attempt() {
            Ok(done) => return Ok(done),
            Err(FileFailure::InUse(in_use)) if begun.elapsed() >= PATIENCE => {
                return Err(in_use.error(PATIENCE));
            }
            // The thread handles other keys during this sleep.
            Err(FileFailure::InUse(_)) => {
                sleep(pause.min(PATIENCE.saturating_sub(begun.elapsed()))).await;
                pause = pause.saturating_mul(2).min(LONGEST_PAUSE);
            }
            Err(FileFailure::Error(error)) => return Err(error),
        }
    }
}

/// Number of threads of a register, each of which syncs one file at a time. The number is chosen: with one thread,
/// every key would wait for the syncs of all other keys; far more threads would only wait for the same disk.
const THREADS: usize = 4;
/// Time for which an operation tries to lock a file. It is shorter than a lease, so that a holder can try a renewal
/// again.
const PATIENCE: Duration = Duration::from_millis(100);
/// Time from the first try to the second. The time doubles with each try, up to [`LONGEST_PAUSE`].
const PAUSE: Duration = Duration::from_millis(1);
/// Longest pause between two tries. If hundreds of processes wait, shorter pauses take the processors from the writer.
const LONGEST_PAUSE: Duration = Duration::from_millis(8);
