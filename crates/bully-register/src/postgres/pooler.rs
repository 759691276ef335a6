//! Finds out whether a connection has a session of its own.
//!
//! A pooler may give a connection's next transaction to another session of the server. The settings of the first
//! transaction then stay in a session that other applications use: our time limit cancels their queries, and our
//! notifications reach them. The connection's own statements cannot show that its sessions are shared: while the pool
//! has no other user, the pooler gives it the same session again and again.
//!
//! Decided here: a second connection holds a transaction open between the first two statements. If the pooler shares
//! sessions, either the second connection gets the session of the first, or the first connection gets another session
//! for its second statement. If it does not share sessions, neither happens. A register refuses such a pooler before it
//! has set anything. Not here: the settings, and the checks after them (`session.rs`).

use std::{future::Future, io, time::Duration};

use tokio::time::timeout;
use tokio_postgres::{Client, Error, SimpleQueryMessage};

use crate::{RegisterError, RegisterRefusal};

/// Returns the number of the server's process that serves a connection. Behind a pooler, this process may serve the
/// connection for one statement only.
pub(super) async fn process(client: &Client) -> Result<i32, Error> {
    let row = client.simple_query("SELECT pg_backend_pid()").await?;
    // Asked by a simple query, because poolers treat prepared statements differently.
    let number = row.iter().find_map(|message| {
        if let SimpleQueryMessage::Row(row) = message {
            return row.get(0)?.parse().ok();
        }
        None
    });
    Ok(number.unwrap_or_default())
}

/// Checks by a second connection whether the sessions of the idle `client`, which the process `own` served, are shared.
///
/// `Ok(false)` if the second connection could not be made, for instance because the server has no room: then it is not
/// known whether sessions are shared.
///
/// # Errors
/// [`RegisterRefusal::Pooled`] if sessions are shared; [`RegisterError::Unreachable`] if the check gave no result.
pub(super) async fn check(
    client: &Client,
    own: i32,
    other: impl Future<Output = Result<Client, RegisterError>>,
) -> Result<bool, RegisterError> {
    let holds = async {
        let other = other.await.ok()?;
        other.batch_execute("BEGIN").await.ok()?;
        let theirs = process(&other).await.ok()?;
        Some((other, theirs))
    };
    let Ok(Some((other, theirs))) = timeout(LIMIT, holds).await else {
        return Ok(false);
    };
    let again = if theirs == own {
        Ok(Ok(own))
    } else {
        timeout(LIMIT, process(client)).await
    };
    // The end of the connection would also end the transaction, but then some poolers end the server's session, too.
    other.batch_execute("ROLLBACK").await.ok();
    match again {
        Ok(Ok(again)) if is_shared(own, theirs, again) => Err(pooled()),
        Ok(Ok(_)) => Ok(true),
        Ok(Err(error)) => Err(RegisterError::unreachable(io::Error::other(error))),
        Err(late) => Err(RegisterError::unreachable(io::Error::from(late))),
    }
}

/// Returns whether sessions are shared: `own` served the first connection, then `theirs` served the other connection,
/// whose transaction was open when `again` served the first.
const fn is_shared(own: i32, theirs: i32, again: i32) -> bool {
    own == theirs || own != again
}

pub(super) fn pooled() -> RegisterError {
    let words = "two statements of one connection were run by two sessions of the server";
    RegisterError::refused(RegisterRefusal::Pooled, io::Error::other(words))
}

/// Longest wait for the other connection, and for an answer beside it.
const LIMIT: Duration = Duration::from_secs(1);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_is_shared_if_another_client_gets_it_or_the_own_one_changes() {
        assert!(!is_shared(7, 8, 7), "each has its own");
        assert!(is_shared(7, 7, 7), "the other one got it");
        assert!(is_shared(7, 8, 9), "it has another one than before");
    }
}
