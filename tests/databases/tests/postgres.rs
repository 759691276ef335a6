//! The fence in PostgreSQL, on a server of its own: refused writers, waiting writers, and the effects of a rollback.
#![expect(
    clippy::disallowed_methods,
    reason = "a deadline of real time, for other processes and threads"
)]

use std::{
    sync::mpsc::{Receiver, TryRecvError, channel},
    thread,
    time::Instant,
};

use actix_bully::leader::fence::sql::{self, NotAdmitted};
use actix_bully_database_tests::{DEADLINE, Random, Server, fence, next};
use postgres::{Client, Error, IsolationLevel, error::SqlState};

const LEVELS: [IsolationLevel; 3] = [
    IsolationLevel::ReadCommitted,
    IsolationLevel::RepeatableRead,
    IsolationLevel::Serializable,
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

/// Makes a resource with a fence and a table, whose rows have the fences of their writers.
fn resource(server: &Server, name: &str) -> Client {
    let mut client = server.connect();
    // If two tests begin at once, both may find no table, and then one of them fails. This is a race inside
    // PostgreSQL, so the tests take a lock.
    client.execute("SELECT pg_advisory_lock(1)", &[]).unwrap();
    client.execute(sql::CREATE_TABLE, &[]).unwrap();
    client
        .execute(
            "CREATE TABLE IF NOT EXISTS ledger (id BIGSERIAL, resource TEXT, fence BIGINT)",
            &[],
        )
        .unwrap();
    client.execute("SELECT pg_advisory_unlock(1)", &[]).unwrap();
    assert_eq!(client.execute(sql::FIRST_USE, &[&name]).unwrap(), 1);
    client
}

/// Runs a leader's transaction with the statements of the documentation.
fn write(client: &mut Client, level: IsolationLevel, of: i64, to: &str) -> Result<(), Failure> {
    let fence = fence(of);
    let mut write = client.build_transaction().isolation_level(level).start()?;
    sql::check(fence, write.execute(sql::ADMIT, &[&fence.get(), &to])?)?;
    write.execute(
        "INSERT INTO ledger (resource, fence) VALUES ($1, $2)",
        &[&to, &fence.get()],
    )?;
    write.commit()?;
    Ok(())
}

/// Repeats a leader's transaction until it is admitted or refused. Returns the outcome and the number of attempts.
fn write_again(
    client: &mut Client,
    level: IsolationLevel,
    of: i64,
    to: &str,
) -> (Result<(), NotAdmitted>, u32) {
    let begun = Instant::now();
    for attempts in 1.. {
        match write(client, level, of, to) {
            Ok(()) => return (Ok(()), attempts),
            Err(Failure::NotAdmitted(refused)) => return (Err(refused), attempts),
            Err(Failure::Database(error)) => {
                assert_eq!(
                    error.code(),
                    Some(&SqlState::T_R_SERIALIZATION_FAILURE),
                    "{error}"
                );
                assert!(
                    begun.elapsed() < DEADLINE,
                    "it is never admitted or refused"
                );
            }
        }
    }
    unreachable!()
}

fn highest(client: &mut Client, of: &str) -> i64 {
    let highest = "SELECT fence FROM leader_fence WHERE resource = $1";
    client.query_one(highest, &[&of]).unwrap().get(0)
}

/// Returns the fences of the writers, in the order of their writes.
fn rows(client: &mut Client, of: &str) -> Vec<i64> {
    let rows = client.query(
        "SELECT fence FROM ledger WHERE resource = $1 ORDER BY id",
        &[&of],
    );
    rows.unwrap().iter().map(|row| row.get(0)).collect()
}

#[test]
fn a_former_leader_is_refused_and_an_equal_fence_is_admitted() {
    let server = Server::shared();
    for (number, level) in LEVELS.into_iter().enumerate() {
        let to = format!("basics-{number}");
        let mut client = resource(&server, &to);
        for (of, admitted) in [
            (1, true),
            (1, true),
            (3, true),
            (2, false),
            (3, true),
            (1, false),
            (4, true),
        ] {
            match write(&mut client, level, of, &to) {
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
        assert_eq!(rows(&mut client, &to), [1, 1, 3, 3, 4]);
    }
}

#[test]
fn the_largest_fence_fits() {
    let server = Server::shared();
    let mut client = resource(&server, "largest");
    let level = IsolationLevel::ReadCommitted;
    write(&mut client, level, i64::MAX, "largest").unwrap();
    assert_eq!(highest(&mut client, "largest"), i64::MAX);
    let refused = write(&mut client, level, i64::MAX - 1, "largest");
    assert!(
        matches!(refused, Err(Failure::NotAdmitted(_))),
        "{refused:?}"
    );
}

#[test]
fn a_resource_without_a_row_admits_no_leader_and_the_first_use_lowers_nothing() {
    let server = Server::shared();
    let level = IsolationLevel::ReadCommitted;
    let mut client = resource(&server, "used");
    let refused = write(&mut client, level, 7, "never used");
    assert!(
        matches!(refused, Err(Failure::NotAdmitted(_))),
        "{refused:?}"
    );
    write(&mut client, level, 7, "used").unwrap();
    assert_eq!(client.execute(sql::FIRST_USE, &[&"used"]).unwrap(), 0);
    client.execute(sql::CREATE_TABLE, &[]).unwrap();
    assert_eq!(highest(&mut client, "used"), 7);
}

/// If two processes begin at once, neither fails, and the table has one row.
#[test]
fn a_first_use_by_two_at_once_makes_one_row() {
    let server = Server::shared();
    drop(resource(&server, "another"));
    let (mut one, mut two) = (server.connect(), server.connect());
    let mut first = one.transaction().unwrap();
    assert_eq!(first.execute(sql::FIRST_USE, &[&"both"]).unwrap(), 1);
    thread::scope(|scope| {
        let (say, hear) = channel();
        let pid = pid(&mut two);
        scope.spawn(move || {
            let rows = two.execute(sql::FIRST_USE, &[&"both"]).unwrap();
            say.send(rows).unwrap();
        });
        wait_until_blocked(&server, pid, &hear);
        first.commit().unwrap();
        assert_eq!(next(&hear), 0);
    });
    write(&mut one, IsolationLevel::ReadCommitted, 1, "both").unwrap();
}

#[test]
fn a_rollback_leaves_the_fence_as_it_was() {
    let server = Server::shared();
    for (number, level) in LEVELS.into_iter().enumerate() {
        let to = format!("rollback-{number}");
        let mut client = resource(&server, &to);
        write(&mut client, level, 1, &to).unwrap();
        let mut other = client
            .build_transaction()
            .isolation_level(level)
            .start()
            .unwrap();
        assert_eq!(other.execute(sql::ADMIT, &[&2_i64, &to]).unwrap(), 1);
        other.rollback().unwrap();
        assert_eq!(highest(&mut client, &to), 1);
        write(&mut client, level, 1, &to).unwrap();
    }
}

/// The end of the first transaction, while the second transaction waits.
#[derive(Clone, Copy, Debug, PartialEq)]
enum End {
    Commits,
    RollsBack,
}

#[test]
fn of_two_transactions_at_once_the_former_leaders_never_follows_its_successors() {
    let server = Server::shared();
    for (number, level) in LEVELS.into_iter().enumerate() {
        for (first, second) in [(1, 2), (2, 1), (2, 2)] {
            for end in [End::Commits, End::RollsBack] {
                let to = format!("both-{number}-{first}-{second}-{end:?}");
                let mut client = resource(&server, &to);
                let (outcome, attempts) = two_at_once(&server, &to, level, [first, second], end);

                let is_refused = second < first && end == End::Commits;
                assert_eq!(outcome.is_err(), is_refused, "{to}");
                // The documentation of the statements promises these numbers.
                let fails = end == End::Commits && level_fails(level);
                assert_eq!(attempts, if fails { 2 } else { 1 }, "{to}");
                let mut expected = vec![first, second];
                expected.retain(|of| match end {
                    End::Commits => *of >= first,
                    End::RollsBack => false,
                });
                if end == End::RollsBack {
                    expected.push(second);
                }
                assert_eq!(rows(&mut client, &to), expected, "{to}");
                assert_eq!(highest(&mut client, &to), *expected.last().unwrap(), "{to}");
            }
        }
    }
}

/// Returns whether a transaction of this level fails after it has waited for a transaction that commits.
fn level_fails(level: IsolationLevel) -> bool {
    !matches!(level, IsolationLevel::ReadCommitted)
}

/// Runs two transactions at once, and returns the outcome of the second one. The first transaction is admitted, the
/// second one begins and waits, and then the first one writes and ends.
fn two_at_once(
    server: &Server,
    to: &str,
    level: IsolationLevel,
    [first, second]: [i64; 2],
    end: End,
) -> (Result<(), NotAdmitted>, u32) {
    let (mut one, mut two) = (server.connect(), server.connect());
    let mut open = one
        .build_transaction()
        .isolation_level(level)
        .start()
        .unwrap();
    assert_eq!(open.execute(sql::ADMIT, &[&first, &to]).unwrap(), 1);
    thread::scope(|scope| {
        let (say, hear) = channel();
        let pid = pid(&mut two);
        scope.spawn(move || {
            let outcome = write_again(&mut two, level, second, to);
            say.send(outcome).unwrap();
        });
        wait_until_blocked(server, pid, &hear);
        open.execute(
            "INSERT INTO ledger (resource, fence) VALUES ($1, $2)",
            &[&to, &first],
        )
        .unwrap();
        match end {
            End::Commits => open.commit().unwrap(),
            End::RollsBack => open.rollback().unwrap(),
        }
        next(&hear)
    })
}

/// Returns the id of the server's process for this connection.
fn pid(client: &mut Client) -> i32 {
    client
        .query_one("SELECT pg_backend_pid()", &[])
        .unwrap()
        .get(0)
}

/// Waits until the server reports that this connection waits for a lock. Fails if the connection's thread sends an
/// outcome before.
fn wait_until_blocked<T: std::fmt::Debug>(server: &Server, pid: i32, hear: &Receiver<T>) {
    let mut asks = server.connect();
    let begun = Instant::now();
    loop {
        let blocked = asks.query_one("SELECT cardinality(pg_blocking_pids($1)) > 0", &[&pid]);
        let said = hear.try_recv();
        assert!(
            matches!(said, Err(TryRecvError::Empty)),
            "it does not wait: {said:?}"
        );
        if blocked.unwrap().get(0) {
            return;
        }
        assert!(begun.elapsed() < DEADLINE, "it never waits");
    }
}

/// A former leader that is paused between its admission and its commit blocks the next leader. The server's time
/// limit ends the paused transaction.
#[test]
fn a_leader_paused_in_its_transaction_is_ended_by_the_server() {
    let server = Server::shared();
    let mut present = resource(&server, "paused");
    let mut former = server.connect();
    former
        .execute("SET idle_in_transaction_session_timeout = '50ms'", &[])
        .unwrap();
    let mut open = former.transaction().unwrap();
    assert_eq!(open.execute(sql::ADMIT, &[&1_i64, &"paused"]).unwrap(), 1);
    write(&mut present, IsolationLevel::ReadCommitted, 2, "paused").unwrap();
    assert!(open.commit().is_err());
    assert_eq!(highest(&mut present, "paused"), 2);
}

/// Many leaders write at random times, and some of them have already lost the leadership.
#[test]
fn the_fences_of_all_writes_never_decrease_in_any_order() {
    let server = Server::shared();
    let mut client = resource(&server, "storm");
    let mut refused = 0;
    thread::scope(|scope| {
        let writers: Vec<_> = (0..4)
            .map(|seed| {
                let mut client = server.connect();
                scope.spawn(move || {
                    let mut random = Random(seed);
                    let mut refused = 0;
                    for round in 0..50 {
                        let level = LEVELS[usize::try_from(random.below(3)).unwrap()];
                        let of = i64::try_from(round / 5 + random.below(4)).unwrap();
                        let (outcome, _) = write_again(&mut client, level, of, "storm");
                        refused += u32::from(outcome.is_err());
                    }
                    refused
                })
            })
            .collect();
        for writer in writers {
            refused += writer.join().unwrap();
        }
    });
    let rows = rows(&mut client, "storm");
    assert!(rows.is_sorted(), "{rows:?}");
    assert!(
        rows.len() > 20 && refused > 20,
        "{} admitted, {refused} refused",
        rows.len()
    );
}
