//! The meaning of an answer that is not a success, and the client's next step.
//!
//! | answer | the operation | course |
//! |---|---|---|
//! | 3 "revision of auth store is old": users or roles changed since the login | not done | logs in |
//! | 3 "user name is empty": the cluster has begun to require a login | refused, `Credentials` | logs in |
//! | 9 "user name not found": the user was removed | refused, `Credentials` | logs in |
//! | 16: the login has expired | not done | logs in |
//! | 3 "authentication failed"; 7: a right | refused, `Credentials` | final |
//! | 8 "space exceeded" | refused, `Full`; after a read (see below) | passes |
//! | 8, or 429: too many requests | not done | passes |
//! | 1, 2, 4, 10, 13, 14, 15, or 5xx: the member could not finish | a write is unknown, a read not done | moves on |
//! | 5, 12, or 404, 405, 501 | refused, `Gateway` | final |
//! | 401, 403 without a code | refused, `Credentials` | final |
//! | any other answer | refused, `Other` | final |
//! | the connection ends | a write is unknown, a read not done | moves on |
//! | TLS refuses, before a write was sent | refused, `Credentials` | moves on |
//!
//! Decided here: this table. A write that a member could not finish has an unknown outcome, since the other members may
//! have finished it. The outcome of a write that found the database full is known only after a read. "revision of auth
//! store is old" occurs only with JSON web tokens, which contain the revision of the users at the login; it does not
//! mean that the user lacks a right.

use std::io;

use crate::{
    Entry, RegisterError, RegisterRefusal,
    connection::{Course, Meaning},
};

use super::message::Complaint;

/// A failed request: its meaning for the operation, the client's next step, and the words for an operator.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct EtcdFailure {
    pub(super) meaning: Meaning,
    pub(super) course: Course,
    /// The words of the member, or the end of the connection in words.
    pub(super) words: String,
}

impl EtcdFailure {
    /// Returns the failure of a request that was sent but not answered. The outcome of a write is then unknown.
    pub(super) fn unfinished(writes: bool, words: String) -> Self {
        let meaning = if writes {
            Meaning::Unknown
        } else {
            Meaning::NotDone
        };
        Self {
            meaning,
            course: Course::MovesOn,
            words,
        }
    }

    pub(super) fn error(self) -> RegisterError {
        self.meaning.error(self.words)
    }

    /// Returns the failure of a request whose connection ended; `refusal` is the reason that TLS gave, if TLS ended it.
    pub(super) fn lost(
        writes: bool,
        was_sent: bool,
        refusal: Option<String>,
        words: String,
    ) -> Self {
        match refusal {
            // A write that was sent may have been done, for any reason of the connection's end.
            refusal if was_sent && writes => Self::unfinished(true, refusal.unwrap_or(words)),
            Some(words) => Self::refused(words),
            None if was_sent => Self::unfinished(writes, words),
            None => Self::unsent(words),
        }
    }

    /// Returns the failure of a request that TLS refused before the server read it.
    pub(super) const fn refused(words: String) -> Self {
        Self {
            meaning: Meaning::Refused(RegisterRefusal::Credentials),
            course: Course::MovesOn,
            words,
        }
    }

    /// Returns the failure of a request that was not sent.
    pub(super) const fn unsent(words: String) -> Self {
        Self {
            meaning: Meaning::NotDone,
            course: Course::MovesOn,
            words,
        }
    }
}

/// Returns the meaning of an answer with the status `status`; `writes` is set for a write.
pub(super) fn of_answer(status: u16, complaint: &Complaint, writes: bool) -> EtcdFailure {
    let words = match &*complaint.message {
        "" => format!("status {status}"),
        said => said.to_owned(),
    };
    let told = |meaning, course| EtcdFailure {
        meaning,
        course,
        words: words.clone(),
    };
    let refused = |refusal, course| told(Meaning::Refused(refusal), course);
    let not_done = |course| told(Meaning::NotDone, course);
    let lost = || EtcdFailure::unfinished(writes, words.clone());
    let says = |part: &str| complaint.message.contains(part);
    match complaint.code {
        // The codes below also stand for other wrong arguments and states, so only the words show a problem of the
        // login.
        Some(INVALID_ARGUMENT) if says("revision of auth store is old") => not_done(Course::LogsIn),
        Some(INVALID_ARGUMENT) if says("user name is empty") => {
            refused(RegisterRefusal::Credentials, Course::LogsIn)
        }
        Some(FAILED_PRECONDITION) if says("user name not found") => {
            refused(RegisterRefusal::Credentials, Course::LogsIn)
        }
        Some(UNAUTHENTICATED) => not_done(Course::LogsIn),
        Some(INVALID_ARGUMENT) if says("authentication failed") => {
            refused(RegisterRefusal::Credentials, Course::Final)
        }
        Some(PERMISSION_DENIED) => refused(RegisterRefusal::Credentials, Course::Final),
        Some(RESOURCE_EXHAUSTED) if says("space exceeded") => {
            refused(RegisterRefusal::Full, Course::Passes)
        }
        Some(RESOURCE_EXHAUSTED) => not_done(Course::Passes),
        Some(
            CANCELLED | UNKNOWN | DEADLINE_EXCEEDED | ABORTED | INTERNAL | UNAVAILABLE | DATA_LOSS,
        ) => lost(),
        Some(NOT_FOUND | UNIMPLEMENTED) => refused(RegisterRefusal::Gateway, Course::Final),
        Some(_) => refused(RegisterRefusal::Other, Course::Final),
        // An answer without a code does not come from etcd's gateway: it comes from an etcd without a gateway, from a
        // proxy, or from another server.
        None => match status {
            401 | 403 => refused(RegisterRefusal::Credentials, Course::Final),
            404 | 405 | 501 => refused(RegisterRefusal::Gateway, Course::Final),
            429 => not_done(Course::Passes),
            500.. => lost(),
            _ => refused(RegisterRefusal::Other, Course::Final),
        },
    }
}

/// Returns the outcome of a write that was answered with "space exceeded"; `found` is the result of a later read. A
/// member gives this answer to a write that it refuses, and also to the write that it applies while its database grows
/// over the limit. So if the read still shows the expected entry, nothing was written.
pub(super) fn of_full(
    expected: Option<&Entry>,
    found: &Result<Option<Entry>, RegisterError>,
    source: io::Error,
) -> RegisterError {
    match found {
        Ok(found)
            if found.as_ref().map(|entry| &entry.version)
                == expected.map(|entry| &entry.version) =>
        {
            RegisterError::refused(RegisterRefusal::Full, source)
        }
        Ok(_) | Err(_) => RegisterError::Unknown(source),
    }
}

/// The codes of gRPC.
const CANCELLED: u32 = 1;
const UNKNOWN: u32 = 2;
const INVALID_ARGUMENT: u32 = 3;
const DEADLINE_EXCEEDED: u32 = 4;
const NOT_FOUND: u32 = 5;
const PERMISSION_DENIED: u32 = 7;
const RESOURCE_EXHAUSTED: u32 = 8;
const FAILED_PRECONDITION: u32 = 9;
const ABORTED: u32 = 10;
const UNIMPLEMENTED: u32 = 12;
const INTERNAL: u32 = 13;
const UNAVAILABLE: u32 = 14;
const DATA_LOSS: u32 = 15;
const UNAUTHENTICATED: u32 = 16;

#[cfg(test)]
mod tests {
    use super::*;

    use Course::{Final, LogsIn, MovesOn, Passes};
    use Meaning::{NotDone, Refused, Unknown};
    use RegisterRefusal::{Credentials, Full, Gateway, Other};

    /// Status, code and words of an answer; its meaning for a write; and the next step of the client.
    type Row = (u16, Option<u32>, &'static str, Meaning, Course);
    #[rustfmt::skip]
    const TABLE: &[Row] = &[
        (400, Some(3), "etcdserver: revision of auth store is old", NotDone, LogsIn),
        (400, Some(3), "etcdserver: user name is empty", Refused(Credentials), LogsIn),
        (400, Some(9), "etcdserver: user name not found", Refused(Credentials), LogsIn),
        (401, Some(16), "etcdserver: invalid auth token", NotDone, LogsIn),
        (400, Some(3), "etcdserver: authentication failed, invalid user ID or password", Refused(Credentials), Final),
        (403, Some(7), "etcdserver: permission denied", Refused(Credentials), Final),
        (429, Some(8), "etcdserver: mvcc: database space exceeded", Refused(Full), Passes),
        (429, Some(8), "etcdserver: too many requests", NotDone, Passes),
        (429, None, "", NotDone, Passes),
        (408, Some(1), "context canceled", Unknown, MovesOn),
        (500, Some(2), "rpc error", Unknown, MovesOn),
        (504, Some(4), "context deadline exceeded", Unknown, MovesOn),
        (409, Some(10), "aborted", Unknown, MovesOn),
        (500, Some(13), "internal", Unknown, MovesOn),
        (503, Some(14), "etcdserver: request timed out", Unknown, MovesOn),
        (503, Some(14), "etcdserver: no leader", Unknown, MovesOn),
        (500, Some(15), "etcdserver: corrupt cluster", Unknown, MovesOn),
        (502, None, "a proxy", Unknown, MovesOn),
        (404, None, "", Refused(Gateway), Final),
        (405, None, "", Refused(Gateway), Final),
        (501, None, "", Refused(Gateway), Final),
        (404, Some(5), "Not Found", Refused(Gateway), Final),
        (501, Some(12), "not served", Refused(Gateway), Final),
        (403, None, "", Refused(Credentials), Final),
        (400, Some(3), "etcdserver: key is not provided", Refused(Other), Final),
        (400, Some(9), "a precondition", Refused(Other), Final),
        (302, None, "", Refused(Other), Final),
    ];

    #[test]
    fn each_answer_of_the_table_has_its_meaning_and_its_course() {
        for (status, code, message, write, course) in TABLE {
            let complaint = Complaint {
                code: *code,
                message: (*message).to_owned(),
            };
            // A read that may have been done changes nothing.
            let read = if *write == Unknown { NotDone } else { *write };
            for (writes, meaning) in [(true, *write), (false, read)] {
                let found = of_answer(*status, &complaint, writes);
                let expected = (meaning, *course);
                let row = format!("{status} {code:?} {message}, writes: {writes}");
                assert_eq!((found.meaning, found.course), expected, "{row}");
            }
        }
    }

    #[test]
    fn a_write_that_was_sent_is_unknown_even_if_tls_ended_its_connection() {
        let lost = |writes, was_sent, refusal: Option<&str>| {
            let refusal = refusal.map(str::to_owned);
            EtcdFailure::lost(writes, was_sent, refusal, "gone".into()).meaning
        };
        let refused = Refused(Credentials);
        for refusal in [None, Some("bad record")] {
            assert_eq!(lost(true, true, refusal), Unknown);
        }
        for (writes, was_sent) in [(true, false), (false, true), (false, false)] {
            assert_eq!(lost(writes, was_sent, Some("no certificate")), refused);
            assert_eq!(lost(writes, was_sent, None), NotDone);
        }
    }

    #[test]
    fn a_write_that_found_the_database_full_is_refused_only_where_nothing_changed() {
        use crate::{RegisterKey, Version};
        let key: RegisterKey = "a/fill".parse().expect("a key");
        let entry = |version: u64| {
            Entry::new(&key, Version::from(version), b"x".to_vec()).expect("an entry")
        };
        let is_unknown = |expected: Option<u64>, found: Result<Option<u64>, RegisterError>| {
            let (expected, found) = (expected.map(entry), found.map(|found| found.map(entry)));
            let full = io::Error::other("mvcc: database space exceeded");
            of_full(expected.as_ref(), &found, full).is_unknown()
        };
        assert!(!is_unknown(Some(7), Ok(Some(7))));
        assert!(!is_unknown(None, Ok(None)));
        assert!(is_unknown(Some(7), Ok(Some(8))));
        assert!(is_unknown(None, Ok(Some(1))));
        assert!(is_unknown(Some(7), Ok(None)));
        let unread = RegisterError::unreachable(io::Error::other("away"));
        assert!(is_unknown(Some(7), Err(unread)));
    }
}
