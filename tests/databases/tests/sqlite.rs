//! The fence in SQLite, in a file, with its write-ahead log and with its rollback journal: refused writers, waiting
//! writers, and the effects of a rollback.
#![expect(
    clippy::disallowed_methods,
    reason = "a deadline of real time, for other processes and threads"
)]

use std::{
    path::{Path, PathBuf},
    sync::{
        Mutex,
        mpsc::{Sender, TryRecvError, channel},
    },
    thread,
    time::Instant,
};

use actix_bully::leader::fence::sql::{self, NotAdmitted};
use actix_bully_database_tests::{DEADLINE, Random, fence, next};
use rusqlite::{Connection, Error, ErrorCode, Transaction, TransactionBehavior};
use tempfile::TempDir;

const JOURNALS: [&str; 2] = ["WAL", "DELETE"];
const BEHAVIORS: [TransactionBehavior; 2] = [
    TransactionBehavior::Immediate,
    TransactionBehavior::Deferred,
];

/// Why a leader's transaction was not committed.
#[derive(Debug)]
enum Failure {
    NotAdmitted(NotAdmitted),
    Database(Error),
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Database(error)
    }
}

impl From<NotAdmitted> for Failure {
    fn from(refused: NotAdmitted) -> Self {
        Self::NotAdmitted(refused)
    }
}

impl Failure {
    fn is_busy(&self) -> bool {
        matches!(self, Self::Database(error) if error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy))
    }
}

/// A database in a file. It has one resource, "ledger", whose rows have the fences of their writers.
struct Database {
    file: PathBuf,
    journal: &'static str,
    _folder: TempDir,
}

impl Database {
    fn new(journal: &'static str) -> Self {
        let folder = TempDir::new().unwrap();
        let file = folder.path().join("ledger.sqlite");
        let database = Self {
            file,
            journal,
            _folder: folder,
        };
        let connection = database.connect();
        connection.execute(sql::CREATE_TABLE, ()).unwrap();
        let used = connection.execute(sql::FIRST_USE, ("ledger",));
        assert_eq!(used.unwrap(), 1);
        let rows = "CREATE TABLE ledger (id INTEGER PRIMARY KEY AUTOINCREMENT, fence BIGINT)";
        connection.execute(rows, ()).unwrap();
        database
    }

    /// Opens a new connection, which waits for a lock until the deadline.
    fn connect(&self) -> Connection {
        open(&self.file, self.journal)
    }
}

fn open(file: &Path, journal: &str) -> Connection {
    let connection = Connection::open(file).unwrap();
    connection.busy_timeout(DEADLINE).unwrap();
    connection
        .pragma_update_and_check(None, "journal_mode", journal, |row| {
            assert_eq!(row.get::<_, String>(0)?.to_uppercase(), journal);
            Ok(())
        })
        .unwrap();
    connection
}

/// Begins a leader's transaction with the statements of the documentation.
fn begin(
    connection: &mut Connection,
    behavior: TransactionBehavior,
    of: i64,
) -> Result<Transaction<'_>, Failure> {
    let fence = fence(of);
    let write = connection.transaction_with_behavior(behavior)?;
    sql::check(fence, write.execute(sql::ADMIT, (fence.get(), "ledger"))?)?;
    Ok(write)
}

fn write(
    connection: &mut Connection,
    behavior: TransactionBehavior,
    of: i64,
) -> Result<(), Failure> {
    let write = begin(connection, behavior, of)?;
    write.execute("INSERT INTO ledger (fence) VALUES ($1)", (of,))?;
    write.commit()?;
    Ok(())
}

const HIGHEST: &str = "SELECT fence FROM leader_fence WHERE resource = $1";

fn highest(connection: &Connection) -> i64 {
    connection
        .query_row(HIGHEST, ("ledger",), |row| row.get(0))
        .unwrap()
}

/// Returns the fences of the writers, in the order of their writes.
fn rows(connection: &Connection) -> Vec<i64> {
    let mut rows = connection
        .prepare("SELECT fence FROM ledger ORDER BY id")
        .unwrap();
    let rows = rows.query_map((), |row| row.get(0)).unwrap();
    rows.map(Result::unwrap).collect()
}

fn each_setting(test: impl Fn(&Database, TransactionBehavior)) {
    for journal in JOURNALS {
        for behavior in BEHAVIORS {
            println!("{journal}, {}", name(behavior)); // shown if the test fails
            test(&Database::new(journal), behavior);
        }
    }
}

fn name(behavior: TransactionBehavior) -> &'static str {
    match behavior {
        TransactionBehavior::Immediate => "BEGIN IMMEDIATE",
        _ => "BEGIN",
    }
}

#[test]
fn a_former_leader_is_refused_and_an_equal_fence_is_admitted() {
    each_setting(|database, behavior| {
        let mut connection = database.connect();
        for (of, admitted) in [
            (1, true),
            (1, true),
            (3, true),
            (2, false),
            (3, true),
            (1, false),
            (4, true),
        ] {
            match write(&mut connection, behavior, of) {
                Ok(()) => assert!(admitted, "{of}"),
                Err(Failure::NotAdmitted(refused)) => {
                    assert!(!admitted, "{of}");
                    assert_eq!(
                        refused,
                        NotAdmitted {
                            fence: fence(of),
                            rows: 0
                        }
                    );
                }
                Err(Failure::Database(error)) => panic!("{error}"),
            }
        }
        assert_eq!(rows(&connection), [1, 1, 3, 3, 4]);
    });
}

#[test]
fn the_largest_fence_fits() {
    each_setting(|database, behavior| {
        let mut connection = database.connect();
        write(&mut connection, behavior, i64::MAX).unwrap();
        assert_eq!(highest(&connection), i64::MAX);
        let refused = write(&mut connection, behavior, i64::MAX - 1);
        assert!(
            matches!(refused, Err(Failure::NotAdmitted(_))),
            "{refused:?}"
        );
    });
}

#[test]
fn a_resource_without_a_row_admits_no_leader_and_the_first_use_lowers_nothing() {
    each_setting(|database, behavior| {
        let mut connection = database.connect();
        write(&mut connection, behavior, 7).unwrap();
        assert_eq!(connection.execute(sql::FIRST_USE, ("ledger",)).unwrap(), 0);
        connection.execute(sql::CREATE_TABLE, ()).unwrap();
        assert_eq!(highest(&connection), 7);
        connection.execute("DELETE FROM leader_fence", ()).unwrap();
        let refused = write(&mut connection, behavior, 8);
        assert!(
            matches!(refused, Err(Failure::NotAdmitted(_))),
            "{refused:?}"
        );
    });
}

#[test]
fn a_rollback_leaves_the_fence_as_it_was() {
    each_setting(|database, behavior| {
        let mut connection = database.connect();
        write(&mut connection, behavior, 1).unwrap();
        begin(&mut connection, behavior, 2)
            .unwrap()
            .rollback()
            .unwrap();
        assert_eq!(highest(&connection), 1);
        drop(begin(&mut connection, behavior, 2).unwrap()); // an error between the statements does this, too
        write(&mut connection, behavior, 1).unwrap();
        assert_eq!(rows(&connection), [1, 1]);
    });
}

/// The end of the first transaction, while the second transaction waits.
#[derive(Clone, Copy, Debug, PartialEq)]
enum End {
    Commits,
    RollsBack,
}

#[test]
fn of_two_transactions_at_once_the_former_leaders_never_follows_its_successors() {
    for (first, second) in [(1, 2), (2, 1), (2, 2)] {
        for end in [End::Commits, End::RollsBack] {
            each_setting(|database, behavior| {
                let outcome = two_at_once(database, behavior, [first, second], end);
                let is_refused = second < first && end == End::Commits;
                match outcome {
                    Ok(()) => assert!(!is_refused),
                    Err(Failure::NotAdmitted(_)) => assert!(is_refused),
                    Err(Failure::Database(error)) => panic!("{error}"),
                }
                let mut expected = Vec::new();
                expected.extend((end == End::Commits).then_some(first));
                expected.extend((!is_refused).then_some(second));
                let connection = database.connect();
                assert_eq!(rows(&connection), expected);
                assert_eq!(highest(&connection), *expected.last().unwrap());
            });
        }
    }
}

/// Runs two transactions at once, and returns the outcome of the second one. The first transaction is admitted, the
/// second one begins and waits, and then the first one writes and ends.
fn two_at_once(
    database: &Database,
    behavior: TransactionBehavior,
    [first, second]: [i64; 2],
    end: End,
) -> Result<(), Failure> {
    let mut one = database.connect();
    let mut two = database.connect();
    let open = begin(&mut one, behavior, first).unwrap();
    thread::scope(|scope| {
        let (say, hear) = channel();
        let (waits, waiting) = channel();
        scope.spawn(move || {
            tell_when_busy(&two, waits);
            say.send(write(&mut two, behavior, second)).unwrap();
        });
        next(&waiting);
        assert!(
            matches!(hear.try_recv(), Err(TryRecvError::Empty)),
            "it does not wait"
        );
        open.execute("INSERT INTO ledger (fence) VALUES ($1)", (first,))
            .unwrap();
        match end {
            End::Commits => open.commit().unwrap(),
            End::RollsBack => open.rollback().unwrap(),
        }
        next(&hear)
    })
}

thread_local! {
    /// The channel that reports a wait for a lock on this thread, and the begin of the wait.
    static WAITS: Mutex<Option<(Sender<()>, Instant)>> = const { Mutex::new(None) };
}

/// Sends a message when this thread meets a lock. The thread then waits for the lock until the deadline.
fn tell_when_busy(connection: &Connection, to: Sender<()>) {
    WAITS.with(|waits| *waits.lock().unwrap() = Some((to, Instant::now())));
    let tell: fn(i32) -> bool = |_| {
        thread::yield_now();
        WAITS.with(|waits| {
            waits.lock().unwrap().as_ref().is_some_and(|(to, since)| {
                let _ = to.send(()); // one message is enough for the other thread
                since.elapsed() < DEADLINE
            })
        })
    };
    connection.busy_handler(Some(tell)).unwrap();
}

#[test]
fn without_a_time_to_wait_the_second_one_fails_and_nothing_is_changed() {
    each_setting(|database, behavior| {
        let (mut one, mut two) = (database.connect(), database.connect());
        two.busy_timeout(std::time::Duration::ZERO).unwrap();
        let open = begin(&mut one, behavior, 2).unwrap();
        let failure = write(&mut two, behavior, 1).unwrap_err();
        assert!(failure.is_busy(), "{failure:?}");
        open.commit().unwrap();
        let refused = write(&mut two, behavior, 1);
        assert!(
            matches!(refused, Err(Failure::NotAdmitted(_))),
            "{refused:?}"
        );
    });
}

/// The documentation warns that a read before the admission is out of date. SQLite reports this case as an error.
#[test]
fn a_transaction_that_reads_before_its_admission_fails_instead_of_writing() {
    let database = Database::new("WAL");
    let (mut one, mut two) = (database.connect(), database.connect());
    let reads = one.transaction().unwrap();
    let before: i64 = reads
        .query_row(HIGHEST, ("ledger",), |row| row.get(0))
        .unwrap();
    write(&mut two, TransactionBehavior::Immediate, 1).unwrap();
    let failure = reads.execute(sql::ADMIT, (2, "ledger")).unwrap_err();
    assert_eq!(
        failure.sqlite_error_code(),
        Some(ErrorCode::DatabaseBusy),
        "{failure}"
    );
    drop(reads);
    assert_eq!((before, highest(&one)), (0, 1));
}

/// Many leaders write at random times, and some of them have already lost the leadership.
#[test]
fn the_fences_of_all_writes_never_decrease_in_any_order() {
    each_setting(|database, behavior| {
        let mut refused = 0;
        thread::scope(|scope| {
            let writers: Vec<_> = (0..4)
                .map(|seed| {
                    let mut connection = database.connect();
                    scope.spawn(move || {
                        let mut random = Random(seed);
                        let mut refused = 0;
                        for round in 0..25 {
                            let of = i64::try_from(round / 3 + random.below(4)).unwrap();
                            match write(&mut connection, behavior, of) {
                                Ok(()) => {}
                                Err(Failure::NotAdmitted(_)) => refused += 1,
                                Err(Failure::Database(error)) => panic!("{error}"),
                            }
                        }
                        refused
                    })
                })
                .collect();
            for writer in writers {
                refused += writer.join().unwrap();
            }
        });
        let rows = rows(&database.connect());
        assert!(rows.is_sorted(), "{rows:?}");
        assert!(
            rows.len() > 10 && refused > 10,
            "{} admitted, {refused} refused",
            rows.len()
        );
    });
}
