//! Errors of an operation on a register: the reason, and whether the operation may have changed anything.
//!
//! Decided here: a write with an unknown outcome is an error of its own. If an agent treated it as a success, it would
//! rely on a lease that it may not have. If the agent treated it as a failure, it would later not recognize its own
//! record.

use std::{fmt, io};

use super::{MOST_BYTES, MOST_LISTED, RegisterKey};

/// The error of an operation on a register. After every error except [`Unknown`](Self::Unknown), nothing was changed.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum RegisterError {
    /// The store did not answer, or did not answer in time.
    #[error(
        "the store of the lease does not answer: check that it runs and can be reached from here ({0})"
    )]
    Unreachable(#[source] io::Error),
    /// The store did not confirm a write: the write may have been applied, or may still be applied.
    #[error(
        "the store of the lease did not confirm a write, so the write may be done or not: the agent reads it again by itself; if this repeats, check the store and the network ({0})"
    )]
    Unknown(#[source] io::Error),
    /// The store answered, and refuses the operation. A store may refuse a write that it has applied (etcd does when
    /// its database is full). The register of such a store reads the entry before it reports this error.
    #[error("the store of the lease refused the operation: {refusal} ({source})")]
    Refused {
        /// The kind of refusal, as far as it is known.
        refusal: RegisterRefusal,
        /// The words of the store.
        source: io::Error,
    },
    /// The key has a value that no register wrote. The register leaves that value as it is.
    #[error(
        "the value under {key} in the store of the lease is not a lease: find out which program wrote it, and remove it or use another store"
    )]
    Foreign {
        /// The key.
        key: RegisterKey,
    },
    /// The value is larger than a register keeps.
    #[error(
        "a value of {len} bytes for the store of the lease exceeds the limit of {MOST_BYTES}: store less under one key"
    )]
    TooLarge {
        /// Length of the value in bytes.
        len: usize,
    },
    /// There are more entries below a key than a register lists.
    #[error(
        "more than {MOST_LISTED} keys in the store of the lease begin with {prefix}: remove the keys that no agent and no schedule uses"
    )]
    TooMany {
        /// The key above these entries.
        prefix: RegisterKey,
    },
}

debug_is_text!(RegisterError);

impl RegisterError {
    /// Makes the error for a store that could not be reached, or did not answer a read.
    pub fn unreachable(source: impl Into<io::Error>) -> Self {
        Self::Unreachable(source.into())
    }

    /// Makes the error for a write that was sent and not answered.
    pub fn unknown(source: impl Into<io::Error>) -> Self {
        Self::Unknown(source.into())
    }

    /// Makes the error for an operation that the store has refused in its answer.
    pub fn refused(refusal: RegisterRefusal, source: impl Into<io::Error>) -> Self {
        let source = source.into();
        Self::Refused { refusal, source }
    }

    /// Returns whether the write may have been done, or may still be done.
    pub fn is_unknown(&self) -> bool {
        matches!(self, Self::Unknown(_))
    }
}

/// The kind of a store's refusal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RegisterRefusal {
    /// The store takes no writes: it is a replica, or a file without the right to write.
    ReadOnly,
    /// The credentials are wrong, or lack a right.
    Credentials,
    /// The store is full.
    Full,
    /// The place for entries is missing or has another form: in PostgreSQL the table or its schema, in Kubernetes the
    /// namespace.
    Layout,
    /// A connection pooler shares the session of the register's connection with other clients.
    Pooled,
    /// etcd's JSON gateway, which is its interface for clients, does not answer at this address.
    Gateway,
    /// Any other refusal; the store's own words describe it.
    Other,
}

impl fmt::Display for RegisterRefusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::ReadOnly => "it takes no writes; use the primary, or give the right to write",
            Self::Credentials => "check the credentials and their rights",
            Self::Full => "it is full; make room",
            Self::Layout => {
                "its table, schema or namespace is missing or another one; for PostgreSQL set `lease.create_table`, or name its place by `lease.postgres_schema`; for Kubernetes compare `lease.kubernetes_namespace`"
            }
            Self::Pooled => {
                "a pooler shares its sessions with other clients; use session pooling, or the server itself"
            }
            Self::Gateway => {
                "etcd's JSON gateway does not answer there; check the endpoint, and start etcd without --enable-grpc-gateway=false"
            }
            Self::Other => "read the store's own message",
        })
    }
}
