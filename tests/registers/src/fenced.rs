//! A table that only a leader may write. Each row has the fence of its writer.
//!
//! `database.rs` of the example `web_replicas` checks the rows: the rules are those of the example's own table.

#[path = "../../../examples/web_replicas/src/bin/rounds/database.rs"]
#[expect(
    dead_code,
    clippy::disallowed_methods,
    reason = "the example asks more of its rows, and waits for them in real time"
)]
mod database;

use std::{error::Error, path::Path, time::Duration};

use actix_bully::{
    agent::LeaderGuard,
    leader::fence::{FenceNumber, sql},
};
use rusqlite::{Connection, TransactionBehavior::Immediate};

use database::Database;

type Wrong = Box<dyn Error>;

/// Time between two attempts to write a row while another process holds the file.
const INTERVAL: Duration = Duration::from_millis(5);

/// A writer's connection.
#[derive(Debug)]
pub struct Fenced(Connection);

impl Fenced {
    /// Makes the file. This happens before any process writes to it.
    pub fn make(path: &Path) {
        // The file keeps the journal mode of the example's database.
        drop(Database::open(path).expect("it can be made"));
        let made = Self::open(path).and_then(|it| {
            it.0.execute(sql::CREATE_TABLE, ())?;
            it.0.execute(sql::FIRST_USE, [RESOURCE])?;
            it.0.execute("CREATE TABLE job (fence, node, at)", ())
        });
        made.expect("it can be made");
    }

    /// Opens a connection to a file that exists.
    ///
    /// # Errors
    /// The error of SQLite.
    pub fn open(path: &Path) -> rusqlite::Result<Self> {
        let connection = Connection::open(path)?;
        connection.busy_timeout(Duration::from_secs(5))?;
        // A row that a killed process has committed is in the kernel's memory. The kernel does not end in these
        // tests, so no write has to wait for the disk.
        connection.pragma_update(None, "synchronous", "off")?;
        Ok(Self(connection))
    }

    /// Writes a row. Returns `false` if the fence refused the row.
    ///
    /// # Errors
    /// If the leader has no fence, or the file cannot be written.
    pub fn write(&mut self, leader: &LeaderGuard) -> Result<bool, Wrong> {
        let fence = FenceNumber::of(leader)?;
        let write = self.0.transaction_with_behavior(Immediate)?;
        let admitted = write.execute(sql::ADMIT, (fence.get(), RESOURCE))?;
        if sql::check(fence, admitted).is_err() {
            return Ok(false);
        }
        let row = "INSERT INTO job (fence, node, at) VALUES ($1, $2, unixepoch('subsec'))";
        write.execute(row, (fence.get(), leader.token().node.as_str()))?;
        write.commit()?;
        Ok(true)
    }
}

/// Returns the number of rows. Fails if a row has a lower fence than an earlier row, or if two writers used one
/// fence.
pub fn rows(path: &Path) -> i64 {
    let database = Database::open(path).expect("it can be read");
    database.check().expect("the fence holds")
}

/// Returns the highest fence that was admitted.
pub fn highest(path: &Path) -> u64 {
    let file = Fenced::open(path).expect("it can be read").0;
    let highest = file.query_row(HIGHEST, [RESOURCE], |row| row.get::<_, i64>(0));
    let highest = highest.expect("it has one");
    highest.try_into().expect("it is not negative")
}

const RESOURCE: &str = "job";

const HIGHEST: &str = "SELECT fence FROM leader_fence WHERE resource = $1";
