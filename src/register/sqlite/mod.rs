//! A register in a SQLite file: for the processes of one host, with nothing to install.
//!
//! Decided here: that SQLite's calls, which block, have a thread of their own, and what becomes of an operation
//! when that thread is busy or gone. Not here: the statements (`database.rs`).

mod database;

use std::{
    io,
    path::{Path, PathBuf},
    sync::{
        Arc,
        mpsc::{Receiver, SyncSender, sync_channel},
    },
    thread,
};

use tokio::sync::oneshot;

use super::{
    Entry, Register, RegisterError, RegisterKey, RegisterReading, Swap, Swapping, key::check_size,
};
use database::Database;

/// Keeps leases in a SQLite file, for any number of processes of one host.
///
/// The file has a table `bully_register` and may have others; it is kept in SQLite's write-ahead log, next to which it
/// has the files `-wal` and `-shm`. Every write is synced. Elections of any number of groups share one file and one
/// connection; clones share it too.
///
/// Not for a folder on the network: its locks do not hold there. And nothing may replace the file while agents run:
/// what is seen afterwards counts as a restored backup, after which a lease is waited out. A process that is stopped
/// (`SIGSTOP`) in the middle of a write keeps the others from writing, until it goes on or is killed: nobody leads
/// meanwhile.
///
/// ```
/// use actix_bully::register::{Register, SqliteRegister, Swap};
///
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("leases.db");
/// actix::System::new().block_on(async {
///     let register = SqliteRegister::open(&path)?;
///     let other_process = SqliteRegister::open(&path)?;
///     let key = "orders/holder".parse()?;
///     assert!(matches!(register.swap(&key, None, b"a".to_vec()).await?, Swap::Done(_)));
///     assert!(matches!(other_process.swap(&key, None, b"b".to_vec()).await?, Swap::Conflict(Some(_))));
///     # Ok::<(), Box<dyn std::error::Error>>(())
/// })
/// # .unwrap(); Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct SqliteRegister {
    name: Arc<str>,
    jobs: SyncSender<SqliteJob>,
}

impl SqliteRegister {
    /// Opens the file, and makes it and its table where they are missing. It blocks for half a second at most.
    ///
    /// # Errors
    /// [`RegisterError`]: the folder is missing, the file is not a database, may not be written, or is locked.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, RegisterError> {
        let path = path.as_ref();
        let made = Database::create(path)?;
        // After it was made: a path of a missing file has no absolute form.
        let path = path.canonicalize().map_err(RegisterError::unreachable)?;
        let name = format!("sqlite {}", path.display()).into();
        let (jobs, queue) = sync_channel(QUEUE);
        thread::Builder::new()
            .name("bully-sqlite".to_owned())
            .spawn(move || SqliteWorker::new(path, made).run(&queue))
            .map_err(RegisterError::unreachable)?;
        Ok(Self { name, jobs })
    }

    fn put(&self, job: SqliteJob) -> Result<(), RegisterError> {
        let full = || io::Error::other("too many operations wait for the file");
        self.jobs
            .try_send(job)
            .map_err(|_| RegisterError::unreachable(full()))
    }
}

impl Register for SqliteRegister {
    fn name(&self) -> &str {
        &self.name
    }

    fn read(&self, key: &RegisterKey) -> RegisterReading {
        let (register, key) = (self.clone(), key.clone());
        Box::pin(async move {
            let (answer, answered) = oneshot::channel();
            register.put(SqliteJob::Read { key, answer })?;
            let gone = |_| RegisterError::unreachable(io::Error::other("its thread has ended"));
            answered.await.map_err(gone)?
        })
    }

    fn swap(&self, key: &RegisterKey, expected: Option<&Entry>, value: Vec<u8>) -> Swapping {
        let (register, key, expected) = (self.clone(), key.clone(), expected.cloned());
        Box::pin(async move {
            check_size(&value)?;
            let (answer, answered) = oneshot::channel();
            register.put(SqliteJob::Swap {
                key,
                expected,
                value,
                answer,
            })?;
            let gone = |_| RegisterError::unknown(io::Error::other("its thread has ended"));
            answered.await.map_err(gone)?
        })
    }
}

/// What the thread is asked to do.
#[derive(Debug)]
enum SqliteJob {
    Read {
        key: RegisterKey,
        answer: oneshot::Sender<Result<Option<Entry>, RegisterError>>,
    },
    Swap {
        key: RegisterKey,
        expected: Option<Entry>,
        value: Vec<u8>,
        answer: oneshot::Sender<Result<Swap, RegisterError>>,
    },
}

/// So many operations may wait: several hundred elections, each with a read and a swap under way.
const QUEUE: usize = 2_048;

/// The thread that has the connection.
struct SqliteWorker {
    path: PathBuf,
    database: Option<Database>,
}

impl SqliteWorker {
    fn new(path: PathBuf, database: Database) -> Self {
        let database = Some(database);
        Self { path, database }
    }

    /// Ends with the last clone of the register.
    fn run(mut self, queue: &Receiver<SqliteJob>) {
        for job in queue {
            match job {
                SqliteJob::Read { key, answer } if !answer.is_closed() => {
                    let read = self.with(|database| database.read(&key));
                    drop(answer.send(read));
                }
                // Its asker has given up: a write that comes late only puzzles those that read it.
                SqliteJob::Swap {
                    key,
                    expected,
                    value,
                    answer,
                } if !answer.is_closed() => {
                    let swap = self.with(|it| it.swap(&key, expected.as_ref(), &value));
                    drop(answer.send(swap));
                }
                SqliteJob::Read { .. } | SqliteJob::Swap { .. } => {}
            }
        }
    }

    /// Runs an operation on the file that is at the path now.
    fn with<T>(
        &mut self,
        run: impl FnOnce(&Database) -> Result<T, RegisterError>,
    ) -> Result<T, RegisterError> {
        // A file that was replaced lives on as long as it is open, and its entries with it: two agents on two such
        // files would both lead.
        self.database = self.database.take().filter(Database::is_in_place);
        let database = match self.database.take() {
            Some(open) => open,
            None => Database::open(&self.path)?,
        };
        let database = self.database.insert(database);
        run(database)
    }
}
