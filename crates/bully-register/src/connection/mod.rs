//! A store that is reached over a connection, with any protocol.
//!
//! ```text
//!   the register of a server ── Job ──▶ worker, a thread ── connect ──▶ Server ──▶ Session: read, swap, list, remove
//!            ▲                                   │
//!            └──────── Told: who listens ────────┘
//! ```
//!
//! Decided here: the interface to a store, the meanings that a failure can have for an operation, and the four courses
//! (the client's next step) after an error. Not here: the course for each error (`failure.rs` of each store has its
//! table), the beginning and the end of a connection (`worker.rs`), the listeners of a change (`told.rs`), the
//! authorities that TLS trusts (`tls.rs`), and the refusals of TLS (`refusal.rs`).

#[cfg(any(feature = "kubernetes", feature = "tls"))]
pub(super) mod refusal;
#[cfg(all(feature = "tls", any(feature = "etcd", feature = "postgres")))]
pub(super) mod tls;
mod told;
mod worker;

use std::io;

use tokio::sync::mpsc;

use super::{Entry, RegisterError, RegisterKey, RegisterRefusal, Removal, Swap};
pub(super) use told::{KeyChange, Listeners, Tellers};
pub(super) use worker::{ANSWER, start};

/// Implements `Register` for a type with the fields `name`, `jobs` and `told`, whose connection belongs to a thread.
macro_rules! register_by_thread {
    ($register:ty $(, { $($more:tt)* })?) => {
        impl $crate::Register for $register {
            fn name(&self) -> &str {
                &self.name
            }

            fn read(&self, key: &$crate::RegisterKey) -> $crate::RegisterReading {
                self.jobs.read(key)
            }

            fn swap(
                &self,
                key: &$crate::RegisterKey,
                expected: Option<&$crate::Entry>,
                value: Vec<u8>,
            ) -> $crate::Swapping {
                self.jobs.swap(key, expected, value)
            }

            fn list(&self, prefix: &$crate::RegisterKey) -> Option<$crate::RegisterListing> {
                Some(self.jobs.list(prefix))
            }

            fn remove(
                &self,
                key: &$crate::RegisterKey,
                expected: &$crate::Entry,
            ) -> Option<$crate::Removing> {
                Some(self.jobs.remove(key, expected))
            }

            fn changes(&self, key: &$crate::RegisterKey) -> Option<$crate::ChangeStream> {
                self.told.changes(key)
            }

            $($($more)*)?
        }
    };
}
pub(super) use register_by_thread;

/// The server of a store, to which connections are made.
pub(super) trait Server: Send + 'static {
    type Session: StoreSession;

    /// Makes a connection and logs in with the present password. `after` is the course with which the last connection
    /// or attempt ended: after [`Course::MovesOn`] another server is tried first. The returned receiver gets the course
    /// of the new connection when the connection ends.
    async fn connect(
        &mut self,
        told: &Tellers,
        after: Course,
    ) -> Result<(Self::Session, mpsc::Receiver<Course>), RegisterError>;
}

/// One connection. Any number of operations may be under way on it.
pub(super) trait StoreSession: 'static {
    /// Reads all the keys, in one exchange if the store can do that; the results have the order of the keys.
    async fn read(&self, keys: &[RegisterKey]) -> Vec<Result<Option<Entry>, RegisterError>>;

    async fn swap(
        &self,
        key: &RegisterKey,
        expected: Option<&Entry>,
        value: &[u8],
    ) -> Result<Swap, RegisterError>;

    /// Reads all entries below a key, in the order of their keys.
    async fn list(&self, prefix: &RegisterKey) -> Result<Vec<(RegisterKey, Entry)>, RegisterError>;

    async fn remove(&self, key: &RegisterKey, expected: &Entry) -> Result<Removal, RegisterError>;

    #[cfg(feature = "postgres")]
    /// Reads the clock of the store, in milliseconds since 1970 began. Not called for a store without a clock.
    async fn clock(&self) -> Result<u64, RegisterError> {
        Err(RegisterError::unreachable(io::Error::other(
            "it has no clock",
        )))
    }
}

/// Whether, and with which settings, the connection to a server is encrypted.
#[cfg(any(feature = "etcd", feature = "postgres"))]
#[derive(Clone, Debug)]
pub(super) enum StoreSecurity {
    Plain,
    #[cfg(feature = "tls")]
    Tls(tls::RegisterTls),
}

/// Next step of a store's client after an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Course {
    /// The client keeps the connection and tries again: the error passes by itself.
    Passes,
    /// The client makes a new connection to the same server, and logs in again.
    LogsIn,
    /// The client connects to another server, or again to the only one.
    MovesOn,
    /// The client keeps the connection, since a new connection would not help, and reports the problem to an operator.
    Final,
}

impl Course {
    /// Returns whether a new connection is needed.
    pub(super) const fn ends_connection(self) -> bool {
        match self {
            Self::LogsIn | Self::MovesOn => true,
            Self::Passes | Self::Final => false,
        }
    }
}

/// Meaning of a failure for the operation that was requested.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Meaning {
    Refused(RegisterRefusal),
    /// The operation was aborted, or was never begun. A later try may succeed.
    NotDone,
    Unknown,
}

impl Meaning {
    /// Returns the error with this meaning, and with the store's own words as its cause.
    pub(super) fn error(self, words: impl Into<String>) -> RegisterError {
        let source = io::Error::other(words.into());
        match self {
            Self::Refused(refusal) => RegisterError::Refused { refusal, source },
            Self::NotDone => RegisterError::Unreachable(source),
            Self::Unknown => RegisterError::Unknown(source),
        }
    }
}
