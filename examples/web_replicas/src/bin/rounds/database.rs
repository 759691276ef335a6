//! The rows that the job has written, and the checks of them.

use std::{
    path::Path,
    thread::sleep,
    time::{Duration, Instant},
};

use rusqlite::{Connection, OptionalExtension};

use super::{INTERVAL, Wrong};

/// The table of the replicas, read by this program.
pub(crate) struct Database(Connection);

/// A row of the job.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Row {
    number: i64,
    pub(crate) fence: i64,
    pub(crate) node: String,
    /// Seconds since 1970, by the writer's clock. All writers are on one machine.
    at: f64,
}

/// The time between the last row of one leader and the first of the next.
pub(crate) struct Gap {
    pub(crate) first: Row,
    pub(crate) lasted: Duration,
}

impl Database {
    pub(crate) fn open(path: &Path) -> Result<Self, Wrong> {
        let connection = Connection::open(path)?;
        // The file keeps this mode, so that no replica has to change it while others have it open.
        connection.pragma_update(None, "journal_mode", "wal")?;
        connection.busy_timeout(Duration::from_secs(5))?;
        Ok(Self(connection))
    }

    /// Waits for a new row, and returns it.
    pub(crate) fn leader(&self, within: Duration) -> Result<Row, Wrong> {
        let before = self.row("ORDER BY rowid DESC")?.map_or(0, |row| row.number);
        until(within, "no replica writes", || {
            let newest = self.row("ORDER BY rowid DESC")?;
            Ok(newest.filter(|row| row.number > before))
        })
    }

    /// Waits for the first row of the next leader.
    pub(crate) fn next(&self, before: &Row, within: Duration) -> Result<Gap, Wrong> {
        let next = format!("WHERE fence > {} ORDER BY rowid", before.fence);
        let first = until(within, "no replica took the job over", || self.row(&next))?;
        let last = format!("WHERE rowid < {} ORDER BY rowid DESC", first.number);
        let last = self.row(&last)?.ok_or("the former rows are gone")?;
        let lasted = Duration::try_from_secs_f64(first.at - last.at)?;
        Ok(Gap { first, lasted })
    }

    /// Returns whether the database can be written.
    pub(crate) fn is_free(&self) -> Result<bool, Wrong> {
        self.0.busy_timeout(2 * INTERVAL)?;
        let tried = self.0.execute_batch("BEGIN IMMEDIATE; ROLLBACK");
        self.0.busy_timeout(Duration::from_secs(5))?;
        Ok(tried.is_ok())
    }

    /// Returns the number of rows, if no fence is lower than an earlier fence.
    pub(crate) fn check(&self) -> Result<i64, Wrong> {
        let wrong = "SELECT count(*) FROM (
            SELECT fence, max(fence) OVER (ORDER BY rowid) AS highest FROM job) WHERE fence < highest";
        let wrong: i64 = self.0.query_row(wrong, (), |row| row.get(0))?;
        if wrong > 0 {
            return Err(format!("{wrong} rows have a lower fence than one before them").into());
        }
        // Two leaders with the same fence would write rows with the same fence.
        let writers = "SELECT count(*) FROM (
            SELECT fence FROM job GROUP BY fence HAVING count(DISTINCT node) > 1)";
        let twice: i64 = self.0.query_row(writers, (), |row| row.get(0))?;
        if twice > 0 {
            return Err(format!("{twice} fences have several writers").into());
        }
        Ok(self
            .0
            .query_row("SELECT count(*) FROM job", (), |row| row.get(0))?)
    }

    fn row(&self, which: &str) -> Result<Option<Row>, Wrong> {
        let query = format!("SELECT rowid, fence, node, at FROM job {which} LIMIT 1");
        let found = self.0.query_row(&query, (), |row| {
            Ok(Row {
                number: row.get(0)?,
                fence: row.get(1)?,
                node: row.get(2)?,
                at: row.get(3)?,
            })
        });
        Ok(found.optional()?)
    }
}

fn until<T>(
    within: Duration,
    what: &str,
    mut look: impl FnMut() -> Result<Option<T>, Wrong>,
) -> Result<T, Wrong> {
    let end = Instant::now() + within;
    loop {
        match look()? {
            Some(found) => return Ok(found),
            None if Instant::now() > end => return Err(format!("{what} within {within:?}").into()),
            None => sleep(Duration::from_millis(5)),
        }
    }
}
