//! The statements of a register.
//!
//! Decided here: each operation is one statement, which is a transaction by itself; the server checks a value's size
//! before it sends the value; a write notifies all listeners; and a session is checked after its settings are made.

use std::{io, sync::Arc, time::Duration};

use tokio::sync::mpsc;
use tokio_postgres::{
    Client, Error, Row, SimpleQueryMessage,
    error::SqlState,
    types::{ToSql, Type},
};

use super::{
    failure::{Asked, failure},
    pooler::pooled,
};
use crate::{
    Change, Entry, MOST_BYTES, MOST_LISTED, RegisterError, RegisterKey, Removal, Swap, Version,
    connection::{ANSWER, Course, KeyChange, StoreSession},
};

/// Time after which the server aborts a statement. It is shorter than `ANSWER`, so that the outcome is known before the
/// answer is overdue.
const STATEMENT: Duration = Duration::from_secs(1);
const _: () = assert!(STATEMENT.as_millis() * 2 <= ANSWER.as_millis());

/// First statements of a connection. Without `synchronous_commit`, a server that crashes may forget confirmed writes;
/// `LISTEN` fails on a replica.
const BEGIN: &str = "SELECT set_config('synchronous_commit', 'on', false)
    WHERE current_setting('synchronous_commit') IN ('off', 'local');
    LISTEN bully_register";

/// Asks which process of the server serves the session, and whether this session listens for notifications.
const SEEN: &str =
    "SELECT pg_backend_pid() || ' ' || count(*) FROM pg_listening_channels() AS channel
    WHERE channel = 'bully_register'";

/// Undoes the settings, for a session that a pooler shares with other clients.
const UNDO: &str = "UNLISTEN bully_register; RESET statement_timeout; RESET synchronous_commit";

/// The statements, each with the schema in the name of the table: without the schema, two users or a changed
/// `search_path` would have two tables and two leaders.
#[derive(Debug)]
pub(super) struct Statements {
    create: String,
    read: String,
    insert: String,
    update: String,
    list: String,
    delete: String,
}

impl Statements {
    pub(super) fn of(schema: &str) -> Self {
        let table = table(schema);
        let done =
            |told: &str| format!("SELECT version, pg_notify('bully_register', {told}) FROM done");
        // `notified` reads this text: the key and, if they fit, the new version, the previous version and the value.
        let written = |replaced: &str, value: &str| {
            done(&format!(
                "$1 || CASE WHEN octet_length({value}) > {MOST_TOLD} THEN '' ELSE ' ' || version || ' ' || {replaced} || ' ' || encode({value}, 'hex') END"
            ))
        };
        let (inserted, updated) = (written("'-'", "$2"), written("$2", "$4"));
        let removed = done("$1");
        // The number of the transaction is the version: it never repeats, not even after a removal.
        let version = "txid_current()";
        // The value is compared as well, because after a restored backup the same versions come again.
        let expected = "key = $1 AND version = $2 AND value = $3";
        let shown = "version, CASE WHEN octet_length(value) <= $2 THEN value END, key";
        Self {
            create: create(schema),
            read: format!("SELECT {shown} FROM {table} WHERE key = ANY($1)"),
            insert: format!(
                "WITH done AS (
                    INSERT INTO {table} (key, version, value) VALUES ($1, {version}, $2)
                    ON CONFLICT (key) DO NOTHING RETURNING version
                ) {inserted}"
            ),
            update: format!(
                "WITH done AS (
                    UPDATE {table} SET version = {version}, value = $4
                    WHERE {expected} RETURNING version
                ) {updated}"
            ),
            list: format!(
                "SELECT {shown} FROM {table} WHERE key > $1 AND key < $3 ORDER BY key LIMIT $4"
            ),
            delete: format!(
                "WITH done AS (DELETE FROM {table} WHERE {expected} RETURNING version) {removed}"
            ),
        }
    }
}

/// Returns the statement that creates the table. Half of each page of the table stays free, so that the new value of a
/// row fits on the page of the old value.
pub(super) fn create(schema: &str) -> String {
    let table = table(schema);
    format!(
        r#"CREATE TABLE IF NOT EXISTS {table} (
    key text COLLATE "C" PRIMARY KEY,
    version bigint NOT NULL,
    value bytea NOT NULL
) WITH (fillfactor = 50)"#
    )
}

fn table(schema: &str) -> String {
    format!(r#""{}".bully_register"#, schema.replace('"', "\"\""))
}

/// A parameter of a statement: its value, and its type in the database.
type Parameter<'a> = (&'a (dyn ToSql + Sync), Type);

/// A connection that is ready.
pub(super) struct PostgresSession {
    client: Client,
    /// Receives the next step (course) when an error shows that another connection is needed.
    end: mpsc::Sender<Course>,
    statements: Arc<Statements>,
    creates: bool,
}

impl PostgresSession {
    /// Prepares a new connection, which the server's process `own` has served so far.
    pub(super) async fn begin(
        client: Client,
        end: mpsc::Sender<Course>,
        statements: Arc<Statements>,
        creates: bool,
        own: i32,
    ) -> Result<Self, RegisterError> {
        let session = Self {
            client,
            end,
            statements,
            creates,
        };
        let failed = |error| session.failed(&error, false);
        let limit = STATEMENT.as_millis();
        let begin = format!("SET statement_timeout = {limit}; {BEGIN}");
        session.client.batch_execute(&begin).await.map_err(failed)?;
        let seen = session.client.simple_query(SEEN).await.map_err(failed)?;
        let is_own = seen.iter().any(|message| {
            let SimpleQueryMessage::Row(row) = message else {
                return false;
            };
            row.get(0) == Some(&*format!("{own} 1"))
        });
        if !is_own {
            session.client.batch_execute(UNDO).await.ok();
            return Err(pooled());
        }
        if creates {
            session.create().await.map_err(failed)?;
        }
        Ok(session)
    }

    fn failed(&self, error: &Error, writes: bool) -> RegisterError {
        let creates = self.creates;
        let (failed, course) = failure(error, Asked { writes, creates });
        if course.ends_connection() {
            self.end.try_send(course).ok();
        }
        failed
    }

    /// Creates the table. If several sessions find no table at the same moment, `IF NOT EXISTS` does not help: all
    /// sessions except the first wait, and then fail because the name is taken. At their second try they find the
    /// table.
    async fn create(&self) -> Result<(), Error> {
        let taken = [
            SqlState::UNIQUE_VIOLATION,
            SqlState::DUPLICATE_TABLE,
            SqlState::DUPLICATE_OBJECT,
        ];
        let create = &self.statements.create;
        match self.client.batch_execute(create).await {
            Err(error) if error.code().is_some_and(|code| taken.contains(code)) => {
                self.client.batch_execute(create).await
            }
            outcome => outcome,
        }
    }

    async fn read_one(&self, key: &RegisterKey) -> Result<Option<Entry>, RegisterError> {
        let mut found = self.read(std::slice::from_ref(key)).await;
        found.pop().unwrap_or(Ok(None))
    }

    /// Runs a statement that changes at most one row; returns the changed row.
    async fn write(
        &self,
        statement: &str,
        parameters: &[Parameter<'_>],
    ) -> Result<Option<Row>, RegisterError> {
        let row = self.client.query_typed_opt(statement, parameters).await;
        row.map_err(|error| self.failed(&error, true))
    }
}

impl StoreSession for PostgresSession {
    async fn read(&self, keys: &[RegisterKey]) -> Vec<Result<Option<Entry>, RegisterError>> {
        let names: Vec<&str> = keys.iter().map(RegisterKey::as_str).collect();
        let parameters: [Parameter<'_>; 2] =
            [(&names, Type::TEXT_ARRAY), (&most_bytes(), Type::INT4)];
        let rows = self.client.query_typed(&self.statements.read, &parameters);
        let rows = rows.await;
        let found = |key: &RegisterKey| {
            let rows = rows.as_ref().map_err(|error| self.failed(error, false))?;
            let row = rows
                .iter()
                .find(|row| row.try_get(2).is_ok_and(|name: &str| name == key.as_str()));
            row.map(|row| entry(key, row)).transpose()
        };
        keys.iter().map(found).collect()
    }

    async fn swap(
        &self,
        key: &RegisterKey,
        expected: Option<&Entry>,
        value: &[u8],
    ) -> Result<Swap, RegisterError> {
        let name = key.as_str();
        let row = match expected {
            None => {
                let parameters: [Parameter<'_>; 2] = [(&name, Type::TEXT), (&value, Type::BYTEA)];
                self.write(&self.statements.insert, &parameters).await?
            }
            Some(entry) => match number(&entry.version) {
                Some(version) => {
                    let parameters: [Parameter<'_>; 4] = [
                        (&name, Type::TEXT),
                        (&version, Type::INT8),
                        (&entry.value, Type::BYTEA),
                        (&value, Type::BYTEA),
                    ];
                    self.write(&self.statements.update, &parameters).await?
                }
                None => None,
            },
        };
        match row {
            Some(row) => Ok(Swap::Done(version(key, &row)?)),
            None => Ok(Swap::Conflict(self.read_one(key).await?)),
        }
    }

    async fn list(&self, prefix: &RegisterKey) -> Result<Vec<(RegisterKey, Entry)>, RegisterError> {
        // The table compares keys by their bytes; `0` is the character after `/`.
        let (after, before) = (format!("{prefix}/"), format!("{prefix}0"));
        let most = i64::try_from(MOST_LISTED).unwrap_or(i64::MAX);
        let parameters: [Parameter<'_>; 4] = [
            (&after, Type::TEXT),
            (&most_bytes(), Type::INT4),
            (&before, Type::TEXT),
            (&most.saturating_add(1), Type::INT8),
        ];
        let rows = self.client.query_typed(&self.statements.list, &parameters);
        let rows = rows.await.map_err(|error| self.failed(&error, false))?;
        if rows.len() > MOST_LISTED {
            let prefix = prefix.clone();
            return Err(RegisterError::TooMany { prefix });
        }
        // No register wrote a row whose name does not parse as a key.
        let named = rows.iter().filter_map(|row| {
            let key: RegisterKey = row.try_get::<_, &str>(2).ok()?.parse().ok()?;
            Some((key, row))
        });
        named
            .map(|(key, row)| entry(&key, row).map(|entry| (key, entry)))
            .collect()
    }

    async fn remove(&self, key: &RegisterKey, expected: &Entry) -> Result<Removal, RegisterError> {
        let row = match number(&expected.version) {
            Some(version) => {
                let parameters: [Parameter<'_>; 3] = [
                    (&key.as_str(), Type::TEXT),
                    (&version, Type::INT8),
                    (&expected.value, Type::BYTEA),
                ];
                self.write(&self.statements.delete, &parameters).await?
            }
            None => None,
        };
        match row {
            Some(_) => Ok(Removal::Done),
            None => Ok(Removal::Conflict(self.read_one(key).await?)),
        }
    }

    async fn clock(&self) -> Result<u64, RegisterError> {
        let rows = self.client.query_typed(CLOCK, &[]).await;
        let rows = rows.map_err(|error| self.failed(&error, false))?;
        let shown = rows.first().and_then(|row| row.try_get::<_, i64>(0).ok());
        shown
            .and_then(|millis| u64::try_from(millis).ok())
            .ok_or_else(|| RegisterError::unreachable(io::Error::other("its clock shows no time")))
    }
}

/// The server's present time. (`now()` would be the time at which the transaction began.)
const CLOCK: &str = "SELECT (extract(epoch FROM clock_timestamp()) * 1000)::int8";

/// Reads a notification in the form that the statements write. Every client of the database can send one, so a text of
/// another form counts as an unknown change of any key.
pub(super) fn notified(payload: &str) -> KeyChange {
    let mut words = payload.split(' ');
    let key = words.next().unwrap_or_default();
    let change = written(key, words).unwrap_or(Change::Unknown);
    KeyChange::Key(key.into(), change)
}

fn written<'a>(key: &str, mut words: impl Iterator<Item = &'a str>) -> Option<Change> {
    let version: u64 = words.next()?.parse().ok()?;
    let replaced = match words.next()? {
        "-" => None,
        replaced => Some(Version::from(replaced.parse::<u64>().ok()?)),
    };
    let value = words.next()?;
    let value: Option<Vec<u8>> = value.as_bytes().chunks(2).map(byte).collect();
    let entry = Entry::new(&key.parse().ok()?, Version::from(version), value?).ok()?;
    words
        .next()
        .is_none()
        .then_some(Change::Written { entry, replaced })
}

/// Returns the byte of two hexadecimal digits.
fn byte(digits: &[u8]) -> Option<u8> {
    let [high, low] = digits else { return None };
    let digit = |digit: u8| char::from(digit).to_digit(16);
    u8::try_from(digit(*high)? * 16 + digit(*low)?).ok()
}

/// Longest value that a notification carries, in bytes. A notification has 8,000 bytes, the key takes up to 1,027, and
/// each byte of the value two digits.
const MOST_TOLD: usize = 3_000;

/// Returns the number of a version; `None` for a version that cannot be of this store.
fn number(version: &Version) -> Option<i64> {
    version.as_str().parse().ok()
}

fn most_bytes() -> i32 {
    i32::try_from(MOST_BYTES).unwrap_or(i32::MAX)
}

/// Returns the entry of a row, if a register wrote it.
fn entry(key: &RegisterKey, row: &Row) -> Result<Entry, RegisterError> {
    let foreign = || RegisterError::Foreign { key: key.clone() };
    let version = version(key, row)?;
    // The statement selects no value if the value is too large.
    let value: Option<&[u8]> = row.try_get(1).map_err(|_| foreign())?;
    Entry::new(key, version, value.ok_or_else(foreign)?.to_vec())
}

fn version(key: &RegisterKey, row: &Row) -> Result<Version, RegisterError> {
    let version: Option<i64> = row.try_get(0).ok();
    let version = version.and_then(|version| u64::try_from(version).ok());
    let foreign = || RegisterError::Foreign { key: key.clone() };
    version.map(Version::from).ok_or_else(foreign)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_notification_tells_the_entry_and_what_it_replaced_and_anything_else_no_more_than_a_key() {
        let heard = |payload: &str| match notified(payload) {
            KeyChange::Key(key, change) => (key.into_string(), change),
            KeyChange::Any => panic!("{payload}"),
        };
        let of = |replaced| Change::Written {
            entry: Entry {
                version: Version::from(8),
                value: b"a\xff".to_vec(),
            },
            replaced,
        };
        let key = || "shop/lease".to_owned();
        assert_eq!(
            heard("shop/lease 8 7 61ff"),
            (key(), of(Some(Version::from(7))))
        );
        assert_eq!(heard("shop/lease 8 - 61ff"), (key(), of(None)));
        for wrong in [
            "shop/lease",
            "shop/lease ",
            "shop/lease 8",
            "shop/lease 8 7",
            "shop/lease 8 7 6",
            "shop/lease 8 7 zz",
            "shop/lease 8 7 61 1",
            "shop/lease -8 7 61",
            "shop/lease 8 x 61",
        ] {
            assert_eq!(heard(wrong), (key(), Change::Unknown), "{wrong}");
        }
        let large = format!("shop/lease 8 7 {}", "61".repeat(MOST_BYTES + 1));
        assert_eq!(heard(&large).1, Change::Unknown);
    }

    #[test]
    fn every_statement_names_the_schema() {
        let all = Statements::of("o\"dd");
        for statement in [
            &all.create,
            &all.read,
            &all.insert,
            &all.update,
            &all.list,
            &all.delete,
        ] {
            assert!(
                statement.contains(r#" "o""dd".bully_register "#),
                "{statement}"
            );
            assert_eq!(statement.matches("bully_register ").count(), 1);
        }
    }
}
