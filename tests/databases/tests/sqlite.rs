//! The fence in SQLite, in a file, with its write-ahead log and with its rollback journal.
#![expect(
    clippy::disallowed_methods,
    reason = "a deadline of real time, for other processes and threads"
)]

mod ledger;

use std::{
    path::PathBuf,
    sync::Mutex,
    thread::{self, ThreadId},
    time::{Duration, Instant},
};

use actix_bully::leader::fence::{FenceNumber, sql};
use actix_bully_database_tests::DEADLINE;
use ledger::{End, Ledger, Written, fence};
use rusqlite::{Connection, Error, ErrorCode, Transaction, TransactionBehavior};
use tempfile::TempDir;

const SETTINGS: [(&str, TransactionBehavior); 4] = [
    ("WAL", TransactionBehavior::Immediate),
    ("WAL", TransactionBehavior::Deferred),
    ("DELETE", TransactionBehavior::Immediate),
    ("DELETE", TransactionBehavior::Deferred),
];

/// A database in a file, with the resource "ledger".
struct Sqlite {
    file: PathBuf,
    journal: &'static str,
    behavior: TransactionBehavior,
    _folder: TempDir,
}

impl Sqlite {
    fn new((journal, behavior): (&'static str, TransactionBehavior)) -> Self {
        let is_immediate = matches!(behavior, TransactionBehavior::Immediate);
        println!("{journal}, immediate: {is_immediate}"); // shown if the test fails
        let folder = TempDir::new().unwrap();
        let database = Self {
            file: folder.path().join("ledger.sqlite"),
            journal,
            behavior,
            _folder: folder,
        };
        assert_eq!(database.first_use(), 1);
        let rows = "CREATE TABLE ledger (id INTEGER PRIMARY KEY AUTOINCREMENT, fence BIGINT)";
        database.connect().execute(rows, ()).unwrap();
        database
    }

    /// Begins a leader's transaction, and lets the fence admit it.
    fn admitted<'a>(
        &self,
        connection: &'a mut Connection,
        fence: FenceNumber,
    ) -> Result<(Transaction<'a>, usize), Error> {
        let write = connection.transaction_with_behavior(self.behavior)?;
        let rows = write.execute(sql::ADMIT, (fence.get(), "ledger"))?;
        Ok((write, rows))
    }
}

/// The threads that wait for a lock, or have waited for one.
static WAITING: Mutex<Vec<ThreadId>> = Mutex::new(Vec::new());

impl Ledger for Sqlite {
    type Connection = Connection;

    fn connect(&self) -> Connection {
        let connection = Connection::open(&self.file).unwrap();
        let begun = Instant::now();
        while let Err(busy) =
            connection.pragma_update_and_check(None, "journal_mode", self.journal, |row| {
                assert_eq!(row.get::<_, String>(0)?.to_uppercase(), self.journal);
                Ok(())
            })
        {
            assert!(begun.elapsed() < DEADLINE, "{busy}");
        }
        let waits: fn(i32) -> bool = |times| {
            thread::sleep(Duration::from_millis(1));
            WAITING.lock().unwrap().push(thread::current().id());
            times < 30_000
        };
        connection.busy_handler(Some(waits)).unwrap();
        connection
    }

    fn write(
        &self,
        connection: &mut Connection,
        fence: FenceNumber,
        admitted: &mut dyn FnMut(),
        end: End,
    ) -> Written {
        let (write, rows) = self.admitted(connection, fence).unwrap();
        if let Err(refused) = sql::check(fence, rows) {
            return (Err(refused), 1);
        }
        admitted();
        let row = "INSERT INTO ledger (fence) VALUES ($1)";
        write.execute(row, (fence.get(),)).unwrap();
        match end {
            End::Commits => write.commit().unwrap(),
            End::RollsBack => write.rollback().unwrap(),
        }
        (Ok(()), 1)
    }

    fn first_use(&self) -> u64 {
        let connection = self.connect();
        connection.execute(sql::CREATE_TABLE, ()).unwrap();
        let rows = connection.execute(sql::FIRST_USE, ("ledger",)).unwrap();
        u64::try_from(rows).unwrap()
    }

    fn forget(&self) {
        let forget = "DELETE FROM leader_fence";
        self.connect().execute(forget, ()).unwrap();
    }

    fn highest(&self) -> i64 {
        let connection = self.connect();
        let highest = connection.query_row(HIGHEST, ("ledger",), |row| row.get(0));
        highest.unwrap()
    }

    fn rows(&self) -> Vec<i64> {
        let connection = self.connect();
        let rows = connection.prepare("SELECT fence FROM ledger ORDER BY id");
        let mut rows = rows.unwrap();
        let rows = rows.query_map((), |row| row.get(0)).unwrap();
        rows.map(Result::unwrap).collect()
    }

    fn id(&self, _: &mut Connection) -> i32 {
        0
    }

    fn watch(&self, _: i32, thread: ThreadId) -> impl FnMut() -> bool {
        move || WAITING.lock().unwrap().contains(&thread)
    }
}

const HIGHEST: &str = "SELECT fence FROM leader_fence WHERE resource = $1";

#[test]
fn a_former_leader_is_refused_and_an_equal_fence_is_admitted() {
    for setting in SETTINGS {
        ledger::a_former_leader_is_refused(&Sqlite::new(setting));
    }
}

#[test]
fn of_two_transactions_at_once_the_former_leaders_never_follows_its_successors() {
    for setting in SETTINGS {
        ledger::of_two_at_once_the_second_waits(|| Sqlite::new(setting));
    }
}

#[test]
fn the_fences_of_all_writes_never_decrease_in_any_order() {
    for setting in SETTINGS {
        ledger::fences_never_decrease(&Sqlite::new(setting));
    }
}

#[test]
fn without_a_time_to_wait_the_second_one_fails_and_nothing_is_changed() {
    for setting in SETTINGS {
        let database = Sqlite::new(setting);
        let (mut one, mut two) = (database.connect(), database.connect());
        two.busy_timeout(Duration::ZERO).unwrap();
        let mut fails = || {
            let failure = database.admitted(&mut two, fence(1)).unwrap_err();
            assert_eq!(failure.sqlite_error_code(), Some(ErrorCode::DatabaseBusy));
        };
        let written = database.write(&mut one, fence(2), &mut fails, End::Commits);
        assert_eq!(written.0, Ok(()));
        assert_eq!(database.rows(), [2]);
    }
}

/// The documentation warns that a read before the admission is out of date. SQLite reports this case as an error.
#[test]
fn a_transaction_that_reads_before_its_admission_fails_instead_of_writing() {
    let database = Sqlite::new(SETTINGS[0]);
    let (mut one, mut two) = (database.connect(), database.connect());
    let reads = one.transaction().unwrap();
    let before = reads.query_row(HIGHEST, ("ledger",), |row| row.get::<_, i64>(0));
    assert_eq!(before.unwrap(), 0);
    let written = database.write(&mut two, fence(1), &mut || {}, End::Commits);
    assert_eq!(written.0, Ok(()));
    let failure = reads.execute(sql::ADMIT, (2, "ledger")).unwrap_err();
    assert_eq!(
        failure.sqlite_error_code(),
        Some(ErrorCode::DatabaseBusy),
        "{failure}"
    );
    drop(reads);
    assert_eq!(database.highest(), 1);
}
