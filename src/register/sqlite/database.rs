//! The statements, and what SQLite's errors mean.
//!
//! Decided here: that each operation is one statement, which SQLite makes atomic and durable by itself; that a value is
//! measured before it is loaded; and which failures leave the outcome of a write unknown.

use std::{
    fs,
    io::{self, ErrorKind},
    path::{Path, PathBuf},
    time::Duration,
};

use rusqlite::{
    Connection, Error, OpenFlags, OptionalExtension, Row, ffi, params, types::ValueRef,
};

use super::super::{Entry, MOST_BYTES, RegisterError, RegisterKey, RegisterRefusal, Swap, Version};

/// An open file.
#[derive(Debug)]
pub(super) struct Database {
    connection: Connection,
    path: PathBuf,
    /// Which file of which device it is.
    file: (u64, u64),
}

impl Database {
    /// Opens the file; makes it, and the table, where they are missing.
    pub(super) fn create(path: &Path) -> Result<Self, RegisterError> {
        Self::with_flags(path, OpenFlags::SQLITE_OPEN_CREATE, FIRST)
    }

    /// Opens a file that has to be there: an empty one in the place of one that is missing for a moment would begin
    /// all elections anew.
    pub(super) fn open(path: &Path) -> Result<Self, RegisterError> {
        Self::with_flags(path, OpenFlags::empty(), BUSY)
    }

    fn with_flags(path: &Path, more: OpenFlags, wait: Duration) -> Result<Self, RegisterError> {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX | more;
        let refused = |error| may_not_write(path).unwrap_or_else(|| failure(error, false));
        let connection = Connection::open_with_flags(path, flags).map_err(refused)?;
        // Opened first: the file that is measured is then the one that is open, or a later one, and no earlier one.
        let file = file_at(path).map_err(RegisterError::unreachable)?;
        let prepared = connection.busy_timeout(wait).and_then(|()| {
            connection.pragma_update(None, "journal_mode", "WAL")?;
            // Otherwise a host that loses its power forgets the last terms, and gives their tokens out again.
            connection.pragma_update(None, "synchronous", "FULL")?;
            connection.execute_batch(TABLE)?;
            connection.busy_timeout(BUSY)
        });
        prepared.map_err(refused)?;
        let path = path.to_owned();
        Ok(Self {
            connection,
            path,
            file,
        })
    }

    /// Whether the path still leads to this file.
    pub(super) fn is_in_place(&self) -> bool {
        file_at(&self.path).is_ok_and(|file| file == self.file)
    }

    pub(super) fn read(&self, key: &RegisterKey) -> Result<Option<Entry>, RegisterError> {
        let mut statement = self
            .connection
            .prepare(
                "SELECT version, length(value), CASE WHEN length(value) <= ?2 THEN value END
                 FROM bully_register WHERE key = ?1",
            )
            .map_err(|error| failure(error, false))?;
        let most = i64::try_from(MOST_BYTES).unwrap_or(i64::MAX);
        let read = |row: &Row<'_>| Ok(entry(key, row));
        let found = statement.query_row(params![key.as_str(), most], read);
        match found.optional() {
            Ok(found) => found.transpose(),
            Err(error) => Err(failure(error, false)),
        }
    }

    pub(super) fn swap(
        &self,
        key: &RegisterKey,
        expected: Option<&Entry>,
        value: &[u8],
    ) -> Result<Swap, RegisterError> {
        let (version, changed) = match expected {
            None => (1, self.insert(key, value)),
            Some(entry) => {
                let foreign = || RegisterError::Foreign { key: key.clone() };
                let Ok(known) = entry.version.as_str().parse::<i64>() else {
                    return Ok(Swap::Conflict(self.read(key)?));
                };
                let next = known.checked_add(1).ok_or_else(foreign)?;
                (next, self.update(key, known, entry, value))
            }
        };
        match changed.map_err(|error| failure(error, true))? {
            0 => Ok(Swap::Conflict(self.read(key)?)),
            _ => Ok(Swap::Done(Version::from(version.unsigned_abs()))),
        }
    }

    fn insert(&self, key: &RegisterKey, value: &[u8]) -> Result<usize, Error> {
        self.connection
            .prepare(
                "INSERT INTO bully_register (key, version, value) VALUES (?1, 1, ?2)
                 ON CONFLICT (key) DO NOTHING",
            )?
            .execute(params![key.as_str(), value])
    }

    /// The version alone would not do: those of a restored backup come again.
    fn update(
        &self,
        key: &RegisterKey,
        known: i64,
        entry: &Entry,
        value: &[u8],
    ) -> Result<usize, Error> {
        self.connection
            .prepare(
                "UPDATE bully_register SET version = version + 1, value = ?4
                 WHERE key = ?1 AND version = ?2 AND value = ?3",
            )?
            .execute(params![key.as_str(), known, entry.value, value])
    }
}

/// What a row holds, if a register wrote it.
fn entry(key: &RegisterKey, row: &Row<'_>) -> Result<Entry, RegisterError> {
    let foreign = || RegisterError::Foreign { key: key.clone() };
    let version = row.get::<_, i64>(0).ok().and_then(|it| it.try_into().ok());
    // What is not there was too large.
    let Ok(ValueRef::Blob(value)) = row.get_ref(2) else {
        return Err(foreign());
    };
    let version: u64 = version.ok_or_else(foreign)?;
    let version = Version::from(version);
    Entry::new(key, version, value.to_vec())
}

/// Why a file that is there cannot be opened, if it is that it may not be written: SQLite says then that it cannot be
/// opened, as of one that is missing.
fn may_not_write(path: &Path) -> Option<RegisterError> {
    let source = fs::OpenOptions::new().write(true).open(path).err()?;
    let refusal = RegisterRefusal::ReadOnly;
    matches!(
        source.kind(),
        ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem
    )
    .then_some(RegisterError::Refused { refusal, source })
}

/// Device and inode.
#[cfg(unix)]
fn file_at(path: &Path) -> io::Result<(u64, u64)> {
    use std::os::unix::fs::MetadataExt;

    fs::metadata(path).map(|file| (file.dev(), file.ino()))
}

/// Other systems let nobody replace a file that is open.
#[cfg(not(unix))]
fn file_at(path: &Path) -> io::Result<(u64, u64)> {
    fs::metadata(path).map(|_| (0, 0))
}

/// What an error of SQLite means for the operation.
fn failure(error: Error, writes: bool) -> RegisterError {
    let code = if matches!(error, Error::SqlInputError { .. }) {
        // It knows no table or column of that name: somebody else's table.
        Some(ffi::SQLITE_SCHEMA)
    } else {
        error.sqlite_error().map(|error| error.extended_code & 0xff)
    };
    let source = io::Error::other(error);
    let refusal = match code.unwrap_or(ffi::SQLITE_ERROR) {
        // A commit that was not synced may be found after all when the file is opened again.
        ffi::SQLITE_IOERR if writes => return RegisterError::Unknown(source),
        // Another process writes, for as long as SQLite waits, or the file cannot be reached: nothing was written.
        ffi::SQLITE_BUSY | ffi::SQLITE_LOCKED | ffi::SQLITE_CANTOPEN | ffi::SQLITE_IOERR => {
            return RegisterError::Unreachable(source);
        }
        ffi::SQLITE_READONLY => RegisterRefusal::ReadOnly,
        ffi::SQLITE_PERM | ffi::SQLITE_AUTH => RegisterRefusal::Credentials,
        ffi::SQLITE_FULL => RegisterRefusal::Full,
        ffi::SQLITE_NOTADB | ffi::SQLITE_CORRUPT | ffi::SQLITE_SCHEMA | ffi::SQLITE_MISMATCH => {
            RegisterRefusal::Layout
        }
        _ => RegisterRefusal::Other,
    };
    RegisterError::Refused { refusal, source }
}

/// For so long a process that starts waits for another one, since of many that start at once one makes the table, and the
/// others have nothing else to do.
const FIRST: Duration = Duration::from_secs(5);
/// For so long SQLite waits later for another process that writes: less than leases last, so that a holder can try again.
const BUSY: Duration = Duration::from_millis(500);

/// Without types that SQLite holds to, a value of another type is found when it is read.
const TABLE: &str = "CREATE TABLE IF NOT EXISTS bully_register
    (key TEXT PRIMARY KEY NOT NULL, version INTEGER NOT NULL, value BLOB NOT NULL) WITHOUT ROWID";

#[cfg(test)]
mod tests {
    use super::*;

    fn of(code: i32, writes: bool) -> RegisterError {
        failure(Error::SqliteFailure(ffi::Error::new(code), None), writes)
    }

    #[test]
    fn only_a_write_that_was_not_synced_has_an_unknown_outcome() {
        for code in [ffi::SQLITE_IOERR, ffi::SQLITE_IOERR_FSYNC] {
            assert!(of(code, true).is_unknown());
            assert!(matches!(of(code, false), RegisterError::Unreachable(_)));
        }
        for code in [ffi::SQLITE_BUSY, ffi::SQLITE_LOCKED, ffi::SQLITE_CANTOPEN] {
            assert!(matches!(of(code, true), RegisterError::Unreachable(_)));
        }
    }

    #[test]
    fn what_sqlite_refuses_is_told_in_our_words() {
        for (code, expected) in [
            (ffi::SQLITE_READONLY, RegisterRefusal::ReadOnly),
            (ffi::SQLITE_PERM, RegisterRefusal::Credentials),
            (ffi::SQLITE_FULL, RegisterRefusal::Full),
            (ffi::SQLITE_NOTADB, RegisterRefusal::Layout),
            (ffi::SQLITE_CORRUPT, RegisterRefusal::Layout),
            (ffi::SQLITE_TOOBIG, RegisterRefusal::Other),
        ] {
            let found = of(code, true);
            assert!(
                matches!(found, RegisterError::Refused { refusal, .. } if refusal == expected),
                "{found:?}"
            );
        }
    }
}
