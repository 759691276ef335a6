//! The meaning of an API server's errors, and the client's course after each.
//!
//! | answer | the operation | course |
//! |---|---|---|
//! | 401 | not done | logs in: a client made anew reads the token's file again, which `kube` keeps for a minute |
//! | 403 | refused, `Credentials`: the message names the verb and the object that the Role lacks | final |
//! | 403 "exceeded quota" | refused, `Full` | final |
//! | 403 "being terminated", 404 of a namespace | refused, `Layout` | final |
//! | 404 of the object | it does not exist | |
//! | 409 `AlreadyExists`, `Conflict` | a conflict | |
//! | 410: a version is too old to list or watch from | not done | passes |
//! | 429 | not done; nothing is asked before the time that the server states | passes |
//! | 500 of a webhook that the server could not call | a write is unknown, a read not done | passes |
//! | any other 5xx, 504 among them | a write is unknown, a read not done | moves on |
//! | 400, 405, 413, 415, 422, any other | refused, `Other` | final |
//! | an error without a code, for instance a proxy's own JSON | a write is unknown, a read not done | moves on |
//! | no connection | not done | moves on |
//! | TLS refuses | refused, `Credentials` | moves on |
//! | no credentials: a plugin or a file fails | refused, `Credentials` | logs in |
//! | the connection ends after the request was sent, or the answer cannot be read | a write is unknown, a read not done | moves on |
//!
//! Decided here: this table. After the course "final" the request is still tried again, at growing intervals, since an
//! operator may add the missing right.

use std::{error::Error as _, time::Duration};

use kube::{Error, core::Status};

use crate::{
    RegisterError, RegisterRefusal,
    connection::{ANSWER, Course, Meaning, refusal},
};

/// An error of the server, or of the connection to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum KubeAnswer {
    /// The object does not exist.
    Absent,
    /// The server has another Lease than the expected one.
    Conflict,
    Failed(KubeFailure),
}

impl KubeAnswer {
    /// Returns the error for an operation in which an absent object or a conflict is an error, too.
    pub(super) fn error(self, writes: bool) -> RegisterError {
        let other = "an answer to another request";
        match self {
            Self::Failed(failed) => failed.meaning.error(failed.words),
            Self::Absent | Self::Conflict if writes => Meaning::Unknown.error(other),
            Self::Absent | Self::Conflict => Meaning::NotDone.error(other),
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct KubeFailure {
    pub(super) meaning: Meaning,
    pub(super) course: Course,
    /// The pause that the server asks for, if it does.
    pub(super) wait: Option<Duration>,
    /// The server's words, or the words for the end of the connection.
    pub(super) words: String,
}

impl KubeFailure {
    pub(super) fn new(meaning: Meaning, course: Course, words: impl Into<String>) -> Self {
        Self {
            meaning,
            course,
            wait: None,
            words: words.into(),
        }
    }

    /// Returns the failure of a request whose answer is missing or unreadable. The outcome of a write is then unknown.
    fn unfinished(writes: bool, course: Course, words: impl Into<String>) -> Self {
        let meaning = if writes {
            Meaning::Unknown
        } else {
            Meaning::NotDone
        };
        Self::new(meaning, course, words)
    }
}

/// Returns the failure of a request that was not answered within its limit.
pub(super) fn late(writes: bool) -> KubeAnswer {
    let words = format!("no answer within {ANSWER:?}");
    KubeAnswer::Failed(KubeFailure::unfinished(writes, Course::MovesOn, words))
}

/// Returns the meaning of an error; `writes` is set for a write.
#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "an error that is new is of an answer that did not come"
)]
pub(super) fn of_error(error: &Error, writes: bool) -> KubeAnswer {
    let refused = |refusal, course| {
        KubeAnswer::Failed(KubeFailure::new(
            Meaning::Refused(refusal),
            course,
            told(error),
        ))
    };
    match error {
        Error::Api(status) => of_status(status, writes),
        Error::Auth(_) | Error::RustlsTls(_) | Error::TlsRequired => {
            refused(RegisterRefusal::Credentials, Course::LogsIn)
        }
        Error::Service(source) if is_credentials(&**source) => {
            refused(RegisterRefusal::Credentials, Course::LogsIn)
        }
        Error::Service(source) if refusal::is_refusal(&**source) && was_not_sent(&**source) => {
            refused(RegisterRefusal::Credentials, Course::MovesOn)
        }
        Error::Service(source) if was_not_sent(&**source) => {
            let failure = KubeFailure::new(Meaning::NotDone, Course::MovesOn, told(error));
            KubeAnswer::Failed(failure)
        }
        Error::BuildRequest(_) | Error::HttpError(_) => {
            refused(RegisterRefusal::Other, Course::Final)
        }
        _ => KubeAnswer::Failed(KubeFailure::unfinished(
            writes,
            Course::MovesOn,
            told(error),
        )),
    }
}

fn of_status(status: &Status, writes: bool) -> KubeAnswer {
    let says = |part: &str| status.message.contains(part);
    // The kind of object that the answer is about; empty if the answer comes from another program, such as a proxy.
    let kind = status.details.as_ref().map_or("", |details| &details.kind);
    let words = match &*status.message {
        "" => format!("status {}", status.code),
        said => said.to_owned(),
    };
    let refused = |refusal| KubeFailure::new(Meaning::Refused(refusal), Course::Final, &*words);
    let failure = match status.code {
        401 => KubeFailure::new(Meaning::NotDone, Course::LogsIn, words),
        403 if says("exceeded quota") => refused(RegisterRefusal::Full),
        403 if says("being terminated") => refused(RegisterRefusal::Layout),
        403 => refused(RegisterRefusal::Credentials),
        404 if kind == "namespaces" => refused(RegisterRefusal::Layout),
        404 if !kind.is_empty() => return KubeAnswer::Absent,
        409 if matches!(&*status.reason, "AlreadyExists" | "Conflict") => {
            return KubeAnswer::Conflict;
        }
        410 => KubeFailure::new(Meaning::NotDone, Course::Passes, words),
        429 => KubeFailure {
            wait: Some(asked(status)),
            ..KubeFailure::new(Meaning::NotDone, Course::Passes, words)
        },
        500 if says("webhook") => KubeFailure::unfinished(writes, Course::Passes, words),
        // Codes below 400 occur too: `kube` takes the code from the body, and a proxy's JSON may have no code.
        ..=399 | 500.. => KubeFailure::unfinished(writes, Course::MovesOn, words),
        _ => refused(RegisterRefusal::Other),
    };
    KubeAnswer::Failed(failure)
}

fn asked(status: &Status) -> Duration {
    let details = status.details.as_ref();
    let seconds = details.map_or(0, |details| details.retry_after_seconds);
    Duration::from_secs(u64::from(seconds)).clamp(LEAST_WAIT, MOST_WAIT)
}

/// Returns the text of an error and of all its causes, because the outer errors alone do not show the reason.
fn told(error: &Error) -> String {
    let mut words = error.to_string();
    let mut inner = error.source();
    while let Some(source) = inner {
        let said = source.to_string();
        if !words.contains(&said) {
            words.push_str(": ");
            words.push_str(&said);
        }
        inner = source.source();
    }
    words
}

/// Returns whether no byte of the request can have been sent, since there was no connection.
fn was_not_sent(error: &(dyn std::error::Error + 'static)) -> bool {
    let client = error.downcast_ref::<hyper_util::client::legacy::Error>();
    client.map_or_else(
        || error.source().is_some_and(was_not_sent),
        hyper_util::client::legacy::Error::is_connect,
    )
}

/// Returns whether the credentials of a request were not available.
fn is_credentials(error: &(dyn std::error::Error + 'static)) -> bool {
    error.is::<kube::client::AuthError>() || error.source().is_some_and(is_credentials)
}

/// Shortest pause, and the pause for a server that states no time.
const LEAST_WAIT: Duration = Duration::from_secs(1);
/// Longest pause, also if a server states a longer time, so that no server stops an election for longer.
const MOST_WAIT: Duration = Duration::from_secs(60);

#[cfg(test)]
mod tests {
    use kube::core::response::StatusDetails;

    use super::*;

    use Course::{Final, LogsIn, MovesOn, Passes};
    use Meaning::{NotDone, Refused, Unknown};
    use RegisterRefusal::{Credentials, Full, Layout, Other};

    fn status(code: u16, reason: &str, message: &str, kind: &str) -> Status {
        let details = StatusDetails {
            name: String::new(),
            group: String::new(),
            kind: kind.to_owned(),
            uid: String::new(),
            causes: Vec::new(),
            retry_after_seconds: 0,
        };
        Status {
            code,
            reason: reason.to_owned(),
            message: message.to_owned(),
            details: Some(details),
            ..Status::default()
        }
    }

    /// Code, reason, message and kind of an answer; its meaning for a write; and the next step of the client.
    type Row = (
        u16,
        &'static str,
        &'static str,
        &'static str,
        Meaning,
        Course,
    );
    #[rustfmt::skip]
    const TABLE: &[Row] = &[
        (401, "Unauthorized", "Unauthorized", "", NotDone, LogsIn),
        (403, "Forbidden", "cannot update resource \"leases\"", "leases", Refused(Credentials), Final),
        (403, "Forbidden", "exceeded quota: leases", "leases", Refused(Full), Final),
        (403, "Forbidden", "namespace jobs is being terminated", "leases", Refused(Layout), Final),
        (404, "NotFound", "namespaces \"nope\" not found", "namespaces", Refused(Layout), Final),
        (404, "", "404 page not found", "", Refused(Other), Final),
        (409, "Failed to parse error data", "a proxy", "", Refused(Other), Final),
        (0, "", "Endpoint request timed out", "", Unknown, MovesOn),
        (410, "Expired", "too old resource version", "", NotDone, Passes),
        (429, "TooManyRequests", "slow down", "", NotDone, Passes),
        (500, "InternalError", "failed calling webhook \"x\"", "", Unknown, Passes),
        (500, "InternalError", "etcdserver: leader changed", "", Unknown, MovesOn),
        (502, "", "a proxy", "", Unknown, MovesOn),
        (503, "ServiceUnavailable", "", "", Unknown, MovesOn),
        (504, "Timeout", "the request timed out", "", Unknown, MovesOn),
        (400, "BadRequest", "", "", Refused(Other), Final),
        (405, "MethodNotAllowed", "", "", Refused(Other), Final),
        (413, "RequestEntityTooLarge", "", "", Refused(Other), Final),
        (422, "Invalid", "a policy", "leases", Refused(Other), Final),
    ];

    #[test]
    fn each_answer_of_the_table_has_its_meaning_and_its_course() {
        for (code, reason, message, kind, write, course) in TABLE {
            // A read that may have been done changes nothing.
            let read = if *write == Unknown { NotDone } else { *write };
            for (writes, meaning) in [(true, *write), (false, read)] {
                let found = of_status(&status(*code, reason, message, kind), writes);
                let row = format!("{code} {reason} {message}, writes: {writes}");
                let KubeAnswer::Failed(found) = found else {
                    panic!("{row}: {found:?}");
                };
                assert_eq!((found.meaning, found.course), (meaning, *course), "{row}");
            }
        }
        let found = |code, reason, kind| of_status(&status(code, reason, "", kind), true);
        assert_eq!(found(404, "NotFound", "leases"), KubeAnswer::Absent);
        assert_eq!(found(409, "AlreadyExists", "leases"), KubeAnswer::Conflict);
        assert_eq!(found(409, "Conflict", "leases"), KubeAnswer::Conflict);
    }

    #[test]
    fn a_server_that_is_busy_is_left_alone_for_as_long_as_it_asks() {
        for (seconds, waits) in [(0, 1), (7, 7), (3_600, 60)] {
            let mut busy = status(429, "TooManyRequests", "", "");
            if let Some(details) = &mut busy.details {
                details.retry_after_seconds = seconds;
            }
            let KubeAnswer::Failed(found) = of_status(&busy, true) else {
                panic!("it is a failure");
            };
            assert_eq!(found.wait, Some(Duration::from_secs(waits)));
        }
    }

    #[test]
    fn the_words_have_each_cause_once() {
        #[derive(Debug, thiserror::Error)]
        #[error("no route")]
        struct Outer(#[source] std::io::Error);
        let cause = Outer(std::io::Error::other("the cable is out"));
        let words = told(&Error::Service(Box::new(cause)));
        assert_eq!(words.matches("no route").count(), 1, "{words}");
        assert!(words.ends_with("no route: the cable is out"), "{words}");
    }

    #[test]
    fn without_credentials_the_account_is_read_again() {
        #[derive(Debug, thiserror::Error)]
        #[error("no request")]
        struct Outer(#[source] kube::client::AuthError);
        let cause = kube::client::AuthError::MissingCommand;
        let KubeAnswer::Failed(found) = of_error(&Error::Service(Box::new(Outer(cause))), true)
        else {
            panic!("it is a failure");
        };
        assert_eq!(
            (found.meaning, found.course),
            (Refused(Credentials), LogsIn)
        );
    }

    #[test]
    fn an_answer_that_cannot_be_read_leaves_a_write_unknown() {
        let misread = || Error::SerdeError(serde_json::from_str::<u8>("x").unwrap_err());
        for (writes, meaning) in [(true, Unknown), (false, NotDone)] {
            let KubeAnswer::Failed(found) = of_error(&misread(), writes) else {
                panic!("it is a failure");
            };
            assert_eq!((found.meaning, found.course), (meaning, MovesOn));
        }
    }
}
