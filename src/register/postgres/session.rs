//! The statements.
//!
//! Decided here: that each operation is one statement, which is a transaction by itself; that a value is measured before
//! it is sent; and that a write tells all who listen.

use std::time::Duration;

use tokio_postgres::{
    Client, Error, Row,
    error::SqlState,
    types::{ToSql, Type},
};

use super::failure::failure;
use crate::register::{
    Entry, MOST_BYTES, RegisterError, RegisterKey, Swap, Version, connection::ANSWER,
};

/// Half of each page is left free, so that a value is replaced on its page.
pub(super) const SCHEMA: &str = r#"CREATE TABLE IF NOT EXISTS bully_register (
    key text COLLATE "C" PRIMARY KEY,
    version bigint NOT NULL,
    value bytea NOT NULL
) WITH (fillfactor = 50)"#;

/// A statement takes no longer: the server aborts it then, so that its outcome is known before it counts as missing.
const STATEMENT: Duration = Duration::from_secs(1);
const _: () = assert!(STATEMENT.as_millis() * 2 <= ANSWER.as_millis());

/// What a connection begins with. A server whose commits are not on its disk when it confirms them would forget terms; a
/// replica refuses to listen.
const BEGIN: &str = "SELECT set_config('synchronous_commit', 'on', false)
    WHERE current_setting('synchronous_commit') IN ('off', 'local');
    LISTEN bully_register";

const READ: &str = "SELECT version, CASE WHEN octet_length(value) <= $2 THEN value END, key
    FROM bully_register WHERE key = ANY($1)";

const INSERT: &str = "WITH done AS (
        INSERT INTO bully_register (key, version, value) VALUES ($1, 1, $2)
        ON CONFLICT (key) DO NOTHING RETURNING version
    ) SELECT version, pg_notify('bully_register', $1) FROM done";

/// The version alone would not do: those of a restored backup come again.
const UPDATE: &str = "WITH done AS (
        UPDATE bully_register SET version = version + 1, value = $4
        WHERE key = $1 AND version = $2 AND value = $3 RETURNING version
    ) SELECT version, pg_notify('bully_register', $1) FROM done";

/// A value, and the type that the server takes it for.
type Parameter<'a> = (&'a (dyn ToSql + Sync), Type);

/// Prepares a new connection.
pub(super) async fn begin(client: &Client, creates: bool) -> Result<(), Error> {
    let limit = STATEMENT.as_millis();
    let limit = format!("SET statement_timeout = {limit}");
    client.batch_execute(&limit).await?;
    client.batch_execute(BEGIN).await?;
    if creates {
        create(client).await?;
    }
    Ok(())
}

/// `IF NOT EXISTS` does not keep sessions apart that find no table at the same moment: all but the first wait for it, and
/// are refused since its name is taken then. They find the table when they ask once more.
async fn create(client: &Client) -> Result<(), Error> {
    let taken = [
        SqlState::UNIQUE_VIOLATION,
        SqlState::DUPLICATE_TABLE,
        SqlState::DUPLICATE_OBJECT,
    ];
    match client.batch_execute(SCHEMA).await {
        Err(error) if error.code().is_some_and(|code| taken.contains(code)) => {
            client.batch_execute(SCHEMA).await
        }
        outcome => outcome,
    }
}

pub(super) async fn read(
    client: &Client,
    keys: &[RegisterKey],
) -> Vec<Result<Option<Entry>, RegisterError>> {
    let most = i32::try_from(MOST_BYTES).unwrap_or(i32::MAX);
    let names: Vec<&str> = keys.iter().map(RegisterKey::as_str).collect();
    let rows = client
        .query_typed(READ, &[(&names, Type::TEXT_ARRAY), (&most, Type::INT4)])
        .await;
    let found = |key: &RegisterKey| {
        let rows = rows.as_ref().map_err(|error| failure(error, false))?;
        let row = rows
            .iter()
            .find(|row| row.try_get(2).is_ok_and(|name: &str| name == key.as_str()));
        row.map(|row| entry(key, row)).transpose()
    };
    keys.iter().map(found).collect()
}

async fn read_one(client: &Client, key: &RegisterKey) -> Result<Option<Entry>, RegisterError> {
    let mut found = read(client, std::slice::from_ref(key)).await;
    found.pop().unwrap_or(Ok(None))
}

pub(super) async fn swap(
    client: &Client,
    key: &RegisterKey,
    expected: Option<&Entry>,
    value: &[u8],
) -> Result<Swap, RegisterError> {
    let key_name = key.as_str();
    let row = match expected {
        None => {
            let parameters: [Parameter<'_>; 2] = [(&key_name, Type::TEXT), (&value, Type::BYTEA)];
            client.query_typed_opt(INSERT, &parameters).await
        }
        Some(Entry {
            version,
            value: old,
            ..
        }) => {
            let foreign = || RegisterError::Foreign { key: key.clone() };
            let version = i64::try_from(version.0).map_err(|_| foreign())?;
            // A number that cannot be counted on from was not written here.
            version.checked_add(1).ok_or_else(foreign)?;
            let parameters: [Parameter<'_>; 4] = [
                (&key_name, Type::TEXT),
                (&version, Type::INT8),
                (old, Type::BYTEA),
                (&value, Type::BYTEA),
            ];
            client.query_typed_opt(UPDATE, &parameters).await
        }
    };
    match row.map_err(|error| failure(&error, true))? {
        Some(row) => Ok(Swap::Done(version(key, &row)?)),
        None => Ok(Swap::Conflict(read_one(client, key).await?)),
    }
}

/// What a row holds, if a register wrote it.
fn entry(key: &RegisterKey, row: &Row) -> Result<Entry, RegisterError> {
    let foreign = || RegisterError::Foreign { key: key.clone() };
    let version = version(key, row)?;
    // What is not there was too large.
    let value: Option<&[u8]> = row.try_get(1).map_err(|_| foreign())?;
    Entry::new(key, version, value.ok_or_else(foreign)?.to_vec())
}

fn version(key: &RegisterKey, row: &Row) -> Result<Version, RegisterError> {
    let version: Option<i64> = row.try_get(0).ok();
    let version = version.and_then(|version| u64::try_from(version).ok());
    let foreign = || RegisterError::Foreign { key: key.clone() };
    version.map(Version).ok_or_else(foreign)
}
