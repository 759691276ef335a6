//! The meaning of an error of the server, or of the connection to it, for the operation, and the client's next step.
//!
//! | error | the operation | course |
//! |---|---|---|
//! | 25006: the server takes no writes, or is a replica | refused, `ReadOnly` | moves on |
//! | 28*: the login; 42501: a right | refused, `Credentials` | logs in; final |
//! | 53100: the disk is full | refused, `Full` | passes |
//! | 42P01: the table is missing | refused, `Layout` | logs in if the register makes tables, else final |
//! | 3D*, 3F*, 42*: a database, a schema, a column | refused, `Layout` | final |
//! | 40*, 53*, 55*, 57014: a lock, a time limit, too many connections | not done | passes |
//! | 57P03: it starts or ends | not done | moves on |
//! | 08*, 57*: the session ends | a write is unknown, a read not done | moves on |
//! | 58*, XX*: its system fails | a write is unknown, a read not done | passes |
//! | any other state | refused, `Other` | final |
//! | the connection ends | a write is unknown, a read not done | moves on |
//! | TLS refuses, before a write was sent | refused, `Credentials` | logs in |
//!
//! Decided here: this table. A write whose answer is missing has an unknown outcome. A write that the server reports as
//! aborted has not happened. A missing right is not solved by a new session; after a wrong password, the next login
//! reads the file again.

use tokio_postgres::{Error, error::SqlState};

#[cfg(feature = "tls")]
use crate::connection::refusal::is_refusal;
use crate::{
    RegisterError, RegisterRefusal,
    connection::{Course, Meaning},
};

/// The operation that was under way when an error occurred.
#[derive(Clone, Copy, Debug)]
pub(super) struct Asked {
    /// Whether a write was sent.
    pub(super) writes: bool,
    /// Whether the register creates a missing table when it begins a new session.
    pub(super) creates: bool,
}

/// Returns the error for the operation, and the client's next step.
pub(super) fn failure(error: &Error, asked: Asked) -> (RegisterError, Course) {
    let (meaning, course) = match error.code() {
        Some(state) => of_state(state, asked),
        None if is_read_only(error) => READ_ONLY,
        None => of_connection(is_refused(error), asked.writes),
    };
    (meaning.error(words(error)), course)
}

/// Returns the meaning when the connection ended without an answer; `is_refused` is set if TLS ended it. A write that
/// was sent may have been done, for any reason of the connection's end.
const fn of_connection(is_refused: bool, writes: bool) -> (Meaning, Course) {
    match (writes, is_refused) {
        (true, _) => (Meaning::Unknown, Course::MovesOn),
        (false, true) => {
            let meaning = Meaning::Refused(RegisterRefusal::Credentials);
            (meaning, Course::LogsIn)
        }
        (false, false) => (Meaning::NotDone, Course::MovesOn),
    }
}

/// Returns whether the client's connect failed because the host takes no writes.
fn is_read_only(error: &Error) -> bool {
    is_caused_by(error, "database does not allow writes")
}

/// Returns whether the cause of an error has these words. For some causes, the client offers no other sign.
fn is_caused_by(error: &Error, words: &str) -> bool {
    let cause = std::error::Error::source(error);
    cause.is_some_and(|cause| cause.to_string() == words)
}

#[cfg(feature = "tls")]
fn is_refused(error: &Error) -> bool {
    is_refusal(error) || is_caused_by(error, "server does not support TLS")
}

#[cfg(not(feature = "tls"))]
const fn is_refused(_: &Error) -> bool {
    false
}

/// Returns the meaning of a state, by its class (the first two characters), and for some states by the whole state.
fn of_state(state: &SqlState, Asked { writes, creates }: Asked) -> (Meaning, Course) {
    let refused = |refusal, course| (Meaning::Refused(refusal), course);
    let lost = if writes {
        Meaning::Unknown
    } else {
        Meaning::NotDone
    };
    let code = state.code();
    match (code.get(..2).unwrap_or_default(), code) {
        (_, "25006") => READ_ONLY,
        (_, "42501") => refused(RegisterRefusal::Credentials, Course::Final),
        ("28", _) => refused(RegisterRefusal::Credentials, Course::LogsIn),
        (_, "53100") => refused(RegisterRefusal::Full, Course::Passes),
        (_, "42P01") if creates => refused(RegisterRefusal::Layout, Course::LogsIn),
        ("3D" | "3F" | "42", _) => refused(RegisterRefusal::Layout, Course::Final),
        ("40" | "53" | "55", _) | (_, "57014") => (Meaning::NotDone, Course::Passes),
        (_, "57P03") => (Meaning::NotDone, Course::MovesOn),
        // The server or this session ends. The server may have committed the write before.
        ("08" | "57", _) => (lost, Course::MovesOn),
        ("58" | "XX", _) => (lost, Course::Passes),
        _ => refused(RegisterRefusal::Other, Course::Final),
    }
}

const READ_ONLY: (Meaning, Course) = (Meaning::Refused(RegisterRefusal::ReadOnly), Course::MovesOn);

/// Returns the server's own words. The text of the client's error does not contain them.
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
    use Course::{Final, LogsIn, MovesOn, Passes};
    use Meaning::{NotDone, Refused, Unknown};
    use RegisterRefusal::{Credentials, Full, Layout, Other, ReadOnly};

    /// SQL states; their meaning for a write; and the next step of the client.
    const TABLE: &[(&str, Meaning, Course)] = &[
        ("25006", Refused(ReadOnly), MovesOn),
        ("28P01 28000", Refused(Credentials), LogsIn),
        ("42501", Refused(Credentials), Final),
        ("53100", Refused(Full), Passes),
        ("42P01 3D000 3F000 42703 42804", Refused(Layout), Final),
        ("40001 40P01 53200 53300 55P03 57014", NotDone, Passes),
        ("57P03", NotDone, MovesOn),
        ("08003 08006 57P01 57P02 57P04 57P05", Unknown, MovesOn),
        ("58030 58P01 XX000 XX001", Unknown, Passes),
        ("22003 22P02 23514 0A000 54000", Refused(Other), Final),
    ];

    #[test]
    fn each_state_of_the_table_has_its_meaning_and_its_course() {
        for (codes, write, course) in TABLE {
            // A read that may have been done changes nothing.
            let read = if *write == Unknown { NotDone } else { *write };
            for code in codes.split(' ') {
                let state = SqlState::from_code(code);
                for (writes, meaning) in [(true, *write), (false, read)] {
                    let creates = false;
                    let found = of_state(&state, Asked { writes, creates });
                    assert_eq!(found, (meaning, *course), "{code}, writes: {writes}");
                }
            }
        }
    }

    #[test]
    fn a_missing_table_is_made_by_a_new_session_where_the_register_makes_tables() {
        for (code, course) in [("42P01", LogsIn), ("3F000", Final)] {
            let (writes, creates) = (true, true);
            let found = of_state(&SqlState::from_code(code), Asked { writes, creates });
            assert_eq!(found, (Refused(Layout), course), "{code}");
        }
    }

    #[test]
    fn a_write_that_was_sent_is_unknown_even_if_tls_ended_its_connection() {
        let of = |is_refused, writes| of_connection(is_refused, writes);
        assert_eq!(of(true, true), (Unknown, MovesOn));
        assert_eq!(of(false, true), (Unknown, MovesOn));
        assert_eq!(of(true, false), (Refused(Credentials), LogsIn));
        assert_eq!(of(false, false), (NotDone, MovesOn));
    }
}
