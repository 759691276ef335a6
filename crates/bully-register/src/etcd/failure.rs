//! What an answer means that is no success.
//!
//! Decided here: that a write which a member could not finish has an unknown outcome, since the others may have; that
//! one which found the database full is known only after a read; and which answers mean that another member should be asked.

use std::io;

use crate::{Entry, RegisterError, RegisterRefusal, connection::Meaning};

use super::message::Complaint;

/// What is known of a failed request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct EtcdFailure {
    pub(super) meaning: Meaning,
    /// Another member may do it, or this one after a new login.
    pub(super) moves_on: bool,
    /// What the member says, or what became of the connection.
    pub(super) words: String,
}

impl EtcdFailure {
    /// Of a request that was sent and not answered.
    pub(super) fn unfinished(writes: bool, words: String) -> Self {
        let meaning = if writes {
            Meaning::Unknown
        } else {
            Meaning::NotDone
        };
        Self {
            meaning,
            moves_on: true,
            words,
        }
    }

    pub(super) fn error(self) -> RegisterError {
        self.meaning.error(self.words)
    }

    /// Of a request whose connection ended; `refusal` is what TLS says of that, if it was TLS that ended it.
    pub(super) fn lost(
        writes: bool,
        was_sent: bool,
        refusal: Option<String>,
        words: String,
    ) -> Self {
        match refusal {
            // What was sent may have been done, whatever has ended the connection then.
            refusal if was_sent && writes => Self::unfinished(true, refusal.unwrap_or(words)),
            Some(words) => Self::refused(words),
            None if was_sent => Self::unfinished(writes, words),
            None => Self::unsent(words),
        }
    }

    /// Of a client that is refused before anything that it asks is read.
    pub(super) const fn refused(words: String) -> Self {
        Self {
            meaning: Meaning::Refused(RegisterRefusal::Credentials),
            moves_on: true,
            words,
        }
    }

    /// Of a request that was not sent.
    pub(super) const fn unsent(words: String) -> Self {
        let (meaning, moves_on) = (Meaning::NotDone, true);
        Self {
            meaning,
            moves_on,
            words,
        }
    }
}

/// The meaning of an answer of that status; `writes` says whether it was asked to write.
pub(super) fn of_answer(status: u16, complaint: &Complaint, writes: bool) -> EtcdFailure {
    let words = match &*complaint.message {
        "" => format!("status {status}"),
        said => said.to_owned(),
    };
    let told = |meaning, moves_on| EtcdFailure {
        meaning,
        moves_on,
        words: words.clone(),
    };
    let refused = |refusal| told(Meaning::Refused(refusal), false);
    let not_done = |moves_on| told(Meaning::NotDone, moves_on);
    let lost = || EtcdFailure::unfinished(writes, words.clone());
    match complaint.code {
        Some(INVALID_ARGUMENT) if is_login(&complaint.message) => {
            refused(RegisterRefusal::Credentials)
        }
        Some(NOT_FOUND | UNIMPLEMENTED) => refused(RegisterRefusal::Layout),
        Some(PERMISSION_DENIED) => refused(RegisterRefusal::Credentials),
        Some(RESOURCE_EXHAUSTED) if complaint.message.contains("space exceeded") => {
            refused(RegisterRefusal::Full)
        }
        Some(RESOURCE_EXHAUSTED) => not_done(false),
        // The login is over.
        Some(UNAUTHENTICATED) => not_done(true),
        Some(
            CANCELLED | UNKNOWN | DEADLINE_EXCEEDED | ABORTED | INTERNAL | UNAVAILABLE | DATA_LOSS,
        ) => lost(),
        Some(_) => refused(RegisterRefusal::Other),
        // Nothing of etcd's: something between, or another server.
        None => match status {
            401 | 403 => refused(RegisterRefusal::Credentials),
            404 | 405 | 501 => refused(RegisterRefusal::Layout),
            429 => not_done(false),
            500.. => lost(),
            _ => refused(RegisterRefusal::Other),
        },
    }
}

/// What became of a write that was answered with "space exceeded", by what was read afterwards. A member says so of a write
/// that it refuses, and also of the one that it applies while its database grows over the limit. Either is over when it
/// answers, so that an entry as it was expected was not written.
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

/// What etcd says of users and passwords has the code of any wrong argument.
fn is_login(message: &str) -> bool {
    [
        "authentication failed",
        "user name is empty",
        "invalid user",
    ]
    .iter()
    .any(|words| message.contains(words))
}

/// The codes of gRPC.
const CANCELLED: u32 = 1;
const UNKNOWN: u32 = 2;
const INVALID_ARGUMENT: u32 = 3;
const DEADLINE_EXCEEDED: u32 = 4;
const NOT_FOUND: u32 = 5;
const PERMISSION_DENIED: u32 = 7;
const RESOURCE_EXHAUSTED: u32 = 8;
const ABORTED: u32 = 10;
const UNIMPLEMENTED: u32 = 12;
const INTERNAL: u32 = 13;
const UNAVAILABLE: u32 = 14;
const DATA_LOSS: u32 = 15;
const UNAUTHENTICATED: u32 = 16;

#[cfg(test)]
mod tests {
    use super::*;

    fn of(status: u16, code: impl Into<Option<u32>>, message: &str, writes: bool) -> Meaning {
        let complaint = Complaint {
            code: code.into(),
            message: message.to_owned(),
        };
        of_answer(status, &complaint, writes).meaning
    }

    #[test]
    fn a_write_that_a_member_could_not_finish_is_unknown() {
        for code in [1, 2, 4, 10, 13, 14, 15] {
            assert_eq!(of(503, code, "request timed out", true), Meaning::Unknown);
            assert_eq!(of(503, code, "request timed out", false), Meaning::NotDone);
        }
        assert_eq!(of(502, None, "a proxy", true), Meaning::Unknown);
        assert_eq!(of(502, None, "a proxy", false), Meaning::NotDone);
        for (status, code) in [(401, Some(16)), (429, None), (429, Some(8))] {
            assert_eq!(
                of(status, code, "too many requests", true),
                Meaning::NotDone
            );
        }
    }

    #[test]
    fn a_write_that_was_sent_is_unknown_even_if_tls_ended_its_connection() {
        let lost = |writes, was_sent, refusal: Option<&str>| {
            let refusal = refusal.map(str::to_owned);
            EtcdFailure::lost(writes, was_sent, refusal, "gone".into()).meaning
        };
        let refused = Meaning::Refused(RegisterRefusal::Credentials);
        for refusal in [None, Some("bad record")] {
            assert_eq!(lost(true, true, refusal), Meaning::Unknown);
        }
        for (writes, was_sent) in [(true, false), (false, true), (false, false)] {
            assert_eq!(lost(writes, was_sent, Some("no certificate")), refused);
            assert_eq!(lost(writes, was_sent, None), Meaning::NotDone);
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

    #[test]
    fn what_etcd_refuses_is_told_in_our_words() {
        use RegisterRefusal::{Credentials, Full, Layout, Other};
        for (status, code, message, refusal) in [
            (403, Some(7), "permission denied", Credentials),
            (400, Some(3), "user name is empty", Credentials),
            (
                400,
                Some(3),
                "authentication failed, invalid user ID or password",
                Credentials,
            ),
            (429, Some(8), "mvcc: database space exceeded", Full),
            (400, Some(3), "key is not provided", Other),
            (404, Some(5), "Not Found", Layout),
            (501, Some(12), "not served", Layout),
            (400, Some(9), "a precondition", Other),
            (404, None, "", Layout),
            (403, None, "", Credentials),
            (302, None, "", Other),
        ] {
            let found = of(status, code, message, true);
            assert_eq!(
                found,
                Meaning::Refused(refusal),
                "{status} {code:?} {message}"
            );
        }
    }

    #[test]
    fn another_member_is_asked_where_that_may_help() {
        let moves_on = |status, code| {
            let message = String::new();
            of_answer(status, &Complaint { code, message }, true).moves_on
        };
        for code in [14, 16, 2] {
            assert!(moves_on(503, Some(code)), "{code}");
        }
        for code in [3, 7, 8, 9] {
            assert!(!moves_on(400, Some(code)), "{code}");
        }
        assert!(moves_on(502, None) && !moves_on(404, None));
    }
}
