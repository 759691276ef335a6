//! The fence as a row: statements for SQLite and PostgreSQL, and the meaning of their row counts.
//!
//! Decided here: the table, the statements, and which row count admits. Not here: any driver. The statements and their
//! parameters, by position, are the same for all drivers. The table is
//!
//! ```text
//! leader_fence (resource TEXT PRIMARY KEY, fence BIGINT NOT NULL)
//! ```
//!
//! with one row for each resource, under any name that the application chooses: a ledger, a tenant, a queue. Run
//! [`CREATE_TABLE`] and, for each resource, [`FIRST_USE`] when the schema is set up. Then, in each transaction of a
//! leader:
//!
//! ```text
//! BEGIN
//! UPDATE leader_fence SET fence = $1 WHERE resource = $2 AND fence <= $1      -- ADMIT: first of all
//!     1 row:  this leader may write          0 rows: ROLLBACK, a later leader has written
//! ..  whatever there is to read and write
//! COMMIT
//! ```
//!
//! With `rusqlite` and with `postgres` (`tokio-postgres` and `sqlx` the same, with `.await`):
//!
//! ```text
//! let write = connection.transaction_with_behavior(TransactionBehavior::Immediate)?; // rusqlite
//! sql::check(fence, write.execute(sql::ADMIT, (fence.get(), "ledger"))?)?;
//! write.execute("INSERT INTO ledger (row) VALUES ($1)", (row,))?;
//! write.commit()?;
//!
//! let mut write = client.transaction()?; // postgres
//! sql::check(fence, write.execute(sql::ADMIT, &[&fence.get(), &"ledger"])?)?;
//! write.execute("INSERT INTO ledger (row) VALUES ($1)", &[&row])?;
//! write.commit()?;
//! ```
//!
//! An error drops the transaction, which rolls it back.
//!
//! # Why it is the first statement
//! The update locks the row (SQLite: the database) until the transaction ends, so the transactions of two leaders
//! follow each other. If a transaction read data before it has the lock, that data may be overwritten before the lock
//! is taken, and no error would show it. After the update the transaction sees all that earlier leaders have committed.
//!
//! # Two transactions at once
//! | database | the second transaction |
//! |---|---|
//! | PostgreSQL, `READ COMMITTED` (the default) | waits for the first transaction, then compares with the fence that the first transaction has committed. Whichever leader's transaction is first, only the transaction of the former leader can get 0 rows |
//! | PostgreSQL, `REPEATABLE READ` and `SERIALIZABLE` | waits; fails with SQLSTATE 40001 if the first transaction commits, whichever leader it belongs to. Begin the failed transaction again: the transaction of the later leader is admitted, the transaction of the former leader gets 0 rows |
//! | SQLite, WAL and rollback journal | waits for the time of `busy_timeout`, then fails with `SQLITE_BUSY`. `BEGIN IMMEDIATE` waits at the beginning; a plain `BEGIN` has the same effect if the update is its first statement |
//!
//! A transaction that is rolled back leaves the fence unchanged. Its leader has written nothing, so a late write of an
//! earlier leader overwrites no data of that leader.
//!
//! A leader that is paused between admission and commit delays its successor. PostgreSQL ends such a transaction after
//! `idle_in_transaction_session_timeout`, which is off by default: set it below the longest acceptable time without
//! writes. With SQLite the successor gets `SQLITE_BUSY` until that process runs again or ends. Keep the work between
//! admission and commit short.
//!
//! # Why the first use is a separate statement
//! A missing row admits no leader. If [`ADMIT`] inserted a missing row, then a lost row, or a restored backup without
//! the row, would admit a former leader. [`FIRST_USE`] does not change an existing row, so every process may run it at
//! its start, also two at the same time.
//!
//! # Notes
//! - A database that was restored from a backup has the fence and the data of the same moment: a fence protects both
//!   together.
//! - A read replica checks nothing. Admission happens in the database that takes the writes.
//! - MySQL counts the rows that an update *changed*, unless the connection asks for the rows found
//!   (`CLIENT_FOUND_ROWS`): an equal fence would count as refused.

use super::FenceNumber;

/// Makes the table, unless it exists. No parameters.
pub const CREATE_TABLE: &str =
    "CREATE TABLE IF NOT EXISTS leader_fence (resource TEXT PRIMARY KEY, fence BIGINT NOT NULL)";

/// Makes the row of a resource, unless it exists. The first value of the row is below any leader's fence. One
/// parameter: the resource.
pub const FIRST_USE: &str =
    "INSERT INTO leader_fence (resource, fence) VALUES ($1, 0) ON CONFLICT (resource) DO NOTHING";

/// Admits a leader's transaction, as its first statement; [`check`] finds out whether it was admitted. Two parameters:
/// the fence ([`FenceNumber::get`]), and the resource.
pub const ADMIT: &str = "UPDATE leader_fence SET fence = $1 WHERE resource = $2 AND fence <= $1";

/// Checks whether [`ADMIT`] has admitted this fence: `rows` is the number of updated rows, as the driver returns it
/// (`usize` or `u64`).
///
/// ```
/// use actix_bully::leader::fence::{FenceNumber, sql};
/// let fence = FenceNumber::try_from(7)?;
/// assert!(sql::check(fence, 1_u64).is_ok());
/// assert!(sql::check(fence, 0_usize).is_err());
/// # Ok::<(), actix_bully::leader::fence::NoFence>(())
/// ```
///
/// # Errors
/// [`NotAdmitted`] for any count but 1: roll the transaction back.
pub fn check(fence: FenceNumber, rows: impl TryInto<u64>) -> Result<(), NotAdmitted> {
    // A count that does not fit into a `u64` admits nothing.
    match rows.try_into().unwrap_or(u64::MAX) {
        1 => Ok(()),
        rows => Err(NotAdmitted { fence, rows }),
    }
}

/// A transaction that must not be committed: its leader is a former leader, or the row for the check is missing.
#[derive(Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "the fence {fence} was not admitted, because {rows} rows were updated instead of 1: roll back; a later leader has written, unless the resource has no row in leader_fence"
)]
pub struct NotAdmitted {
    /// The fence that was refused.
    pub fence: FenceNumber,
    /// Number of updated rows: 0 if the fence is stale or the row is missing; more than 1
    /// only if another statement than [`ADMIT`] was run.
    pub rows: u64,
}

debug_is_text!(NotAdmitted);
