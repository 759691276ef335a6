//! What an error of the server, or of the connection to it, means for the operation.
//!
//! Decided here: that a write whose answer is missing has an unknown outcome, and one that the server says it has
//! aborted has not happened.

use tokio_postgres::{Error, error::SqlState};

#[cfg(feature = "tls")]
use crate::connection::tls::is_refusal;
use crate::{RegisterError, RegisterRefusal, connection::Meaning};

/// The meaning of an error; `writes` says whether a write was sent.
pub(super) fn failure(error: &Error, writes: bool) -> RegisterError {
    let meaning = match error.code() {
        Some(state) => of_state(state, writes),
        None => of_connection(is_refused(error), writes),
    };
    meaning.error(words(error))
}

/// Of nothing that the server said: the connection ended, by TLS if it `is_refused`. A write that was sent may have been
/// done, whatever has ended the connection then.
const fn of_connection(is_refused: bool, writes: bool) -> Meaning {
    match (writes, is_refused) {
        (true, _) => Meaning::Unknown,
        (false, true) => Meaning::Refused(RegisterRefusal::Credentials),
        (false, false) => Meaning::NotDone,
    }
}

#[cfg(feature = "tls")]
fn is_refused(error: &Error) -> bool {
    is_refusal(error) || lacks_tls(error)
}

/// Without TLS nobody is refused in it.
#[cfg(not(feature = "tls"))]
const fn is_refused(_: &Error) -> bool {
    false
}

/// The client has no other sign of it than its words.
#[cfg(feature = "tls")]
fn lacks_tls(error: &Error) -> bool {
    std::error::Error::source(error)
        .is_some_and(|source| source.to_string() == "server does not support TLS")
}

/// By the class of the state, its first two characters, and in it by single ones.
fn of_state(state: &SqlState, writes: bool) -> Meaning {
    let code = state.code();
    match (code.get(..2).unwrap_or_default(), code) {
        // A replica, or a database that was made read-only.
        (_, "25006") => Meaning::Refused(RegisterRefusal::ReadOnly),
        (_, "42501") | ("28", _) => Meaning::Refused(RegisterRefusal::Credentials),
        (_, "53100") => Meaning::Refused(RegisterRefusal::Full),
        // No such database, table, column, or one of another type.
        ("3D" | "3F" | "42", _) => Meaning::Refused(RegisterRefusal::Layout),
        // Aborted for a reason that passes: a lock, a time-out, too many connections, a start or an end.
        ("40" | "53" | "55", _) | (_, "57014" | "57P03") => Meaning::NotDone,
        // The server, or this session, ends: it may have committed before.
        ("08" | "57" | "58" | "XX", _) if writes => Meaning::Unknown,
        ("08" | "57" | "58" | "XX", _) => Meaning::NotDone,
        _ => Meaning::Refused(RegisterRefusal::Other),
    }
}

/// The server's own words, which the error's text alone does not have.
fn words(error: &Error) -> String {
    match error.as_db_error() {
        Some(said) => format!("{}: {}", said.code().code(), said.message()),
        None => match std::error::Error::source(error) {
            Some(source) => format!("{error}: {source}"),
            None => error.to_string(),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_write_is_unknown_only_where_the_server_may_have_committed_it() {
        let unknown = ["08006", "57P01", "57P02", "58030", "XX000"];
        let not_done = ["57014", "55P03", "40001", "40P01", "53300", "57P03"];
        for code in unknown {
            let state = SqlState::from_code(code);
            assert_eq!(of_state(&state, true), Meaning::Unknown, "{code}");
            assert_eq!(of_state(&state, false), Meaning::NotDone, "{code}");
        }
        for code in not_done {
            let state = SqlState::from_code(code);
            assert_eq!(of_state(&state, true), Meaning::NotDone, "{code}");
        }
    }

    #[test]
    fn a_write_that_was_sent_is_unknown_even_if_tls_ended_its_connection() {
        let refused = Meaning::Refused(RegisterRefusal::Credentials);
        assert_eq!(of_connection(true, true), Meaning::Unknown);
        assert_eq!(of_connection(false, true), Meaning::Unknown);
        assert_eq!(of_connection(true, false), refused);
        assert_eq!(of_connection(false, false), Meaning::NotDone);
    }

    #[test]
    fn what_the_server_refuses_is_told_in_our_words() {
        for (code, refusal) in [
            ("25006", RegisterRefusal::ReadOnly),
            ("42501", RegisterRefusal::Credentials),
            ("28P01", RegisterRefusal::Credentials),
            ("53100", RegisterRefusal::Full),
            ("42P01", RegisterRefusal::Layout),
            ("3D000", RegisterRefusal::Layout),
            ("22P02", RegisterRefusal::Other),
        ] {
            let state = SqlState::from_code(code);
            assert_eq!(of_state(&state, true), Meaning::Refused(refusal), "{code}");
        }
    }
}
