//! The fence in PostgreSQL, on a server of its own.
#![expect(
    clippy::disallowed_methods,
    reason = "a deadline of real time, for other processes and threads"
)]

mod ledger;

use std::{
    sync::{
        Arc, Mutex, MutexGuard,
        atomic::{AtomicU32, Ordering::Relaxed},
        mpsc::channel,
    },
    thread::{self, ThreadId},
    time::Instant,
};

use actix_bully::leader::fence::{FenceNumber, sql};
use actix_bully_database_tests::{DEADLINE, Server};
use ledger::{End, Ledger, Written, fence, next, wait_until};
use postgres::{Client, Error, IsolationLevel, error::SqlState};

const LEVELS: [IsolationLevel; 3] = [
    IsolationLevel::ReadCommitted,
    IsolationLevel::RepeatableRead,
    IsolationLevel::Serializable,
];

/// A resource of its own, on the server that all tests share.
struct Postgres {
    server: Arc<Server>,
    resource: String,
    /// The level of every transaction; `None` for any level.
    level: Option<IsolationLevel>,
    /// The connection of the test.
    client: Mutex<Client>,
}

impl Postgres {
    fn new(level: Option<IsolationLevel>) -> Self {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let resource = format!("{}, {level:?}", NUMBER.fetch_add(1, Relaxed));
        println!("{resource}"); // shown if the test fails
        let server = Server::shared();
        let database = Self {
            client: server.connect().into(),
            server,
            resource,
            level,
        };
        assert_eq!(database.first_use(), 1);
        database
    }

    fn client(&self) -> MutexGuard<'_, Client> {
        self.client.lock().unwrap()
    }

    fn try_to_write(
        &self,
        client: &mut Client,
        fence: FenceNumber,
        admitted: &mut dyn FnMut(),
        end: End,
    ) -> Result<Result<(), sql::NotAdmitted>, Error> {
        let level = self.level.unwrap_or_else(|| LEVELS[fastrand::usize(..3)]);
        let mut write = client.build_transaction().isolation_level(level).start()?;
        let rows = write.execute(sql::ADMIT, &[&fence.get(), &self.resource])?;
        if let Err(refused) = sql::check(fence, rows) {
            return Ok(Err(refused));
        }
        admitted();
        let row = "INSERT INTO ledger (resource, fence) VALUES ($1, $2)";
        write.execute(row, &[&self.resource, &fence.get()])?;
        match end {
            End::Commits => write.commit()?,
            End::RollsBack => write.rollback()?,
        }
        Ok(Ok(()))
    }
}

impl Ledger for Postgres {
    type Connection = Client;

    fn connect(&self) -> Client {
        self.server.connect()
    }

    fn write(
        &self,
        client: &mut Client,
        fence: FenceNumber,
        admitted: &mut dyn FnMut(),
        end: End,
    ) -> Written {
        let begun = Instant::now();
        let mut attempts = 1;
        loop {
            match self.try_to_write(client, fence, admitted, end) {
                Ok(outcome) => return (outcome, attempts),
                Err(error) => {
                    let code = error.code();
                    assert_eq!(code, Some(&SqlState::T_R_SERIALIZATION_FAILURE), "{error}");
                    assert!(begun.elapsed() < DEADLINE, "{attempts} attempts");
                }
            }
            attempts += 1;
        }
    }

    fn first_use(&self) -> u64 {
        let mut client = self.client();
        // If two tests begin at once, both may find no table, and then one of them fails. This is a race inside
        // PostgreSQL, so the tests take a lock.
        client.execute("SELECT pg_advisory_lock(1)", &[]).unwrap();
        client.execute(sql::CREATE_TABLE, &[]).unwrap();
        let rows = "CREATE TABLE IF NOT EXISTS ledger (id BIGSERIAL, resource TEXT, fence BIGINT)";
        client.execute(rows, &[]).unwrap();
        client.execute("SELECT pg_advisory_unlock(1)", &[]).unwrap();
        client.execute(sql::FIRST_USE, &[&self.resource]).unwrap()
    }

    fn forget(&self) {
        let forget = "DELETE FROM leader_fence WHERE resource = $1";
        self.client().execute(forget, &[&self.resource]).unwrap();
    }

    fn highest(&self) -> i64 {
        let highest = "SELECT fence FROM leader_fence WHERE resource = $1";
        let row = self.client().query_one(highest, &[&self.resource]);
        row.unwrap().get(0)
    }

    fn rows(&self) -> Vec<i64> {
        let rows = "SELECT fence FROM ledger WHERE resource = $1 ORDER BY id";
        let rows = self.client().query(rows, &[&self.resource]).unwrap();
        rows.iter().map(|row| row.get(0)).collect()
    }

    fn id(&self, client: &mut Client) -> i32 {
        let pid = client.query_one("SELECT pg_backend_pid()", &[]);
        pid.unwrap().get(0)
    }

    fn watch(&self, pid: i32, _: ThreadId) -> impl FnMut() -> bool {
        let mut asks = self.connect();
        move || {
            let blocked = "SELECT cardinality(pg_blocking_pids($1)) > 0";
            let blocked = asks.query_one(blocked, &[&pid]);
            blocked.unwrap().get(0)
        }
    }

    /// The documentation of the statements promises these numbers.
    fn attempts(&self, end: End) -> u32 {
        let fails = !matches!(self.level, Some(IsolationLevel::ReadCommitted));
        1 + u32::from(fails && end == End::Commits)
    }
}

#[test]
fn a_former_leader_is_refused_and_an_equal_fence_is_admitted() {
    for level in LEVELS {
        ledger::a_former_leader_is_refused(&Postgres::new(Some(level)));
    }
}

#[test]
fn of_two_transactions_at_once_the_former_leaders_never_follows_its_successors() {
    for level in LEVELS {
        ledger::of_two_at_once_the_second_waits(|| Postgres::new(Some(level)));
    }
}

#[test]
fn the_fences_of_all_writes_never_decrease_in_any_order() {
    ledger::fences_never_decrease(&Postgres::new(None));
}

/// If two processes begin at once, neither fails, and the table has one row.
#[test]
fn a_first_use_by_two_at_once_makes_one_row() {
    let database = Postgres::new(None);
    database.forget();
    let (mut one, mut two) = (database.connect(), database.connect());
    let pid = database.id(&mut two);
    let (thread, resource) = (thread::current().id(), database.resource.clone());
    let mut first = one.transaction().unwrap();
    assert_eq!(first.execute(sql::FIRST_USE, &[&resource]).unwrap(), 1);
    let (say, hear) = channel();
    let second = thread::spawn(move || {
        say.send(two.execute(sql::FIRST_USE, &[&resource]).unwrap())
            .unwrap();
    });
    wait_until(&hear, database.watch(pid, thread));
    first.commit().unwrap();
    assert_eq!(next(&hear), 0);
    second.join().unwrap();
}

/// A former leader that is paused between its admission and its commit blocks the next leader. The server's time
/// limit ends the paused transaction.
#[test]
fn a_leader_paused_in_its_transaction_is_ended_by_the_server() {
    let database = Postgres::new(Some(LEVELS[0]));
    let mut former = database.connect();
    former
        .execute("SET idle_in_transaction_session_timeout = '50ms'", &[])
        .unwrap();
    let mut open = former.transaction().unwrap();
    let admitted = open.execute(sql::ADMIT, &[&1_i64, &database.resource]);
    assert_eq!(admitted.unwrap(), 1);
    let present = &mut database.connect();
    let written = database.write(present, fence(2), &mut || {}, End::Commits);
    assert_eq!(written, (Ok(()), 1));
    assert!(open.commit().is_err());
    assert_eq!(database.highest(), 2);
}
