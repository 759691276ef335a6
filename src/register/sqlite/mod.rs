//! A register in a SQLite file: for the processes of one host, with nothing to install.
//!
//! Decided here: that SQLite's calls, which block, have a thread of their own, and that a file which was replaced is
//! opened anew. Not here: how that thread is asked (`jobs.rs`), and the statements (`database.rs`).

mod database;

use std::{
    path::{Path, PathBuf},
    sync::Arc,
    thread,
};

use tokio::sync::mpsc::Receiver;

use super::{
    Entry, Register, RegisterError, RegisterKey, RegisterReading, Swapping,
    jobs::{Job, Jobs},
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
    jobs: Jobs,
}

impl SqliteRegister {
    /// Opens the file, and makes it and its table where they are missing. It blocks while another process
    /// writes, for five seconds at most.
    ///
    /// # Errors
    /// [`RegisterError`]: the folder is missing, the file is not a database, may not be written, or is locked.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, RegisterError> {
        let path = path.as_ref();
        let made = Database::create(path)?;
        // After it was made: a path of a missing file has no absolute form.
        let path = path.canonicalize().map_err(RegisterError::unreachable)?;
        let name = format!("sqlite {}", path.display()).into();
        let (jobs, asked) = Jobs::new();
        thread::Builder::new()
            .name("bully-sqlite".to_owned())
            .spawn(move || SqliteWorker::new(path, made).run(asked))
            .map_err(RegisterError::unreachable)?;
        Ok(Self { name, jobs })
    }
}

impl Register for SqliteRegister {
    fn name(&self) -> &str {
        &self.name
    }

    fn read(&self, key: &RegisterKey) -> RegisterReading {
        self.jobs.read(key)
    }

    fn swap(&self, key: &RegisterKey, expected: Option<&Entry>, value: Vec<u8>) -> Swapping {
        self.jobs.swap(key, expected, value)
    }
}

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
    fn run(mut self, mut asked: Receiver<Job>) {
        while let Some(job) = asked.blocking_recv() {
            if !job.is_wanted() {
                continue;
            }
            match job {
                Job::Read { key, answer } => {
                    drop(answer.send(self.with(|database| database.read(&key))));
                }
                Job::Swap {
                    key,
                    expected,
                    value,
                    answer,
                } => {
                    let swap = self.with(|it| it.swap(&key, expected.as_ref(), &value));
                    drop(answer.send(swap));
                }
                job @ (Job::List { .. } | Job::Remove { .. }) => {
                    job.refuse(RegisterError::unreachable(std::io::Error::other(
                        "not offered",
                    )));
                }
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
