//! A store that is reached over a connection, whichever protocol it speaks.
//!
//! ```text
//!   PostgresRegister, EtcdRegister ── Job ──▶ worker, a thread ── connect ──▶ Server ──▶ Session: read, swap, list, remove
//!            ▲                                   │
//!            └──────── Told: who listens ────────┘
//! ```
//!
//! Decided here: what a store has to bring, and what an answer of it can mean. Not here: when a connection is made and
//! given up (`worker.rs`), who hears of a change (`told.rs`), whom TLS trusts (`tls.rs`).

#[cfg(feature = "tls")]
pub(super) mod tls;
mod told;
mod worker;

use std::io;

use tokio::sync::mpsc;

use super::{Entry, RegisterError, RegisterKey, RegisterRefusal, Removal, Swap};
pub(super) use told::{KeyChange, Listeners, Tellers};
pub(super) use worker::{ANSWER, start};

/// Where connections are made to.
pub(super) trait Server: Send + 'static {
    type Session: StoreSession;

    /// A connection that is ready. The receiver hears, or closes, when it has ended.
    async fn connect(
        &mut self,
        told: &Tellers,
    ) -> Result<(Self::Session, mpsc::Receiver<()>), RegisterError>;
}

/// One connection. Any number of operations may be under way.
pub(super) trait StoreSession: 'static {
    /// Reads all of these in one exchange where the store can; what is found is in the order of the keys.
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
}

/// How a server is spoken to.
#[derive(Clone, Debug)]
pub(super) enum StoreSecurity {
    Plain,
    #[cfg(feature = "tls")]
    Tls(tls::RegisterTls),
}

/// What a failure means for the operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Meaning {
    Refused(RegisterRefusal),
    /// It was aborted, or never begun; another time it may work.
    NotDone,
    Unknown,
}

impl Meaning {
    /// With the store's own words.
    pub(super) fn error(self, words: impl Into<String>) -> RegisterError {
        let source = io::Error::other(words.into());
        match self {
            Self::Refused(refusal) => RegisterError::Refused { refusal, source },
            Self::NotDone => RegisterError::Unreachable(source),
            Self::Unknown => RegisterError::Unknown(source),
        }
    }
}
