//! Registers with compare-and-swap, in which processes keep a lease without talking to each other.
//!
//! ```text
//!   actix-bully: lease ──▶ Register ──▶ MemoryRegister: tests
//!                             │    ├──▶ FileRegister: the processes of one host ──▶ RecordFile
//!                             │    ├──▶ PostgresRegister, EtcdRegister, KubernetesRegister: a server (features of their names)
//!                             │    └──▶ yours: a store with a version for each value
//!                             └── conformance: a suite that tests any of them (feature `conformance`)
//! ```
//!
//! # A store of yours
//! A register keeps values of at most [`MOST_BYTES`] under keys of one to four names, each with a [`Version`]. Implement
//! [`Register`] with `name`, `read` and `swap`; `list`, `remove`, `changes` and `clock` may be left out. A lease is kept by these
//! operations, so a clause that does not hold can make two leaders. No lock and no transaction of the store is needed, and its
//! clock for no lease: schedules of a leader compare their own with it.
//!
//! | clause | a register |
//! |---|---|
//! | `one-name` | has the same name on every connection to one store, without a secret. Agents take stores of one name for one |
//! | `absent-is-none` | says `None` for a key that nobody wrote or whose entry was removed, never an error or an empty value |
//! | `reads-what-was-written` | returns the bytes of the value, whichever they are, and the version that the swap returned |
//! | `keys-apart` | has an entry for each key: case, accents, dots and the last of 1,027 bytes count |
//! | `swap-compares` | writes if the entry at the time of the write is the expected one, else says [`Swap::Conflict`] with the entry that is there. A request may arrive late: the comparison is the store's, in one step with the write |
//! | `new-version` | gives each write a version that the key never had, also if the value is the same and after a removal |
//! | `largest-value` | keeps 4,096 bytes whole and refuses more as [`RegisterError::TooLarge`] |
//! | `seen-at-once` | shows a confirmed write to every operation that begins afterwards, on whichever connection. A replica that lags, or a cache, does not |
//! | `one-wins` | lets one swap at most replace an entry |
//! | `applied-once` | applies a swap once at most. A client that sends a write again after it lost the answer must send the same version |
//! | `failure-means-unchanged` | says [`RegisterError::Unknown`] if a write was sent and its answer did not come, also if a time limit ended the wait. Every other error, and a conflict, means that nothing was changed and nothing will be |
//! | `waits-for-poll` | does nothing before its future is polled |
//! | `drop-harms-nothing` | stays usable if a future is dropped at any point; that operation may be done or not |
//! | `removal-compares` | removes the entry if it is the expected one, at the time of the removal |
//! | `lists-below` | lists all entries below a key in the order of their keys, or says [`RegisterError::TooMany`] above [`MOST_LISTED`] |
//! | `tells-changes` | tells of changes if it offers a stream of them. It may tell too much and may miss some: agents read at intervals as well. If it tells what was written, it tells the truth |
//!
//! `conformance::check` (feature `conformance`) tests each of them; an error names the clause by these words. `examples/own_register.rs` of
//! actix-bully is a register in a folder with a hard link for each version, the suite on it, and the suite on a wrong one.
//!
//! Two rules cannot be tested from outside. An operation on a store that hangs has to fail by a time limit of the register's. And an
//! entry that no register could have written, such as a value that is too large, is [`RegisterError::Foreign`] and is not touched.
//!
//! # Errors
//! | an error | the register | the agents |
//! |---|---|---|
//! | passes: a lock, a time limit, too many connections | says `Unreachable`, or `Unknown` after a write | try again, ever less; reads and writes have a back-off each |
//! | needs a new login | logs in, with the password and the certificates of that moment | as above |
//! | needs another server: this one takes no writes, ends or hangs | connects to the next one | as above |
//! | is final: a right, a missing table, another format, a pooler that shares sessions | says `Refused`, with what an operator has to mend | show it in log, diagnosis and health, and go on asking seldom |
//! | is of the entry: something else wrote it | says `Foreign`, and never writes over it | show it |
//!
//! Which error is which stands in a table on the page `failure.rs` of each store.
//!
//! # Features
//! `postgres`, `etcd`, `kubernetes`: the stores; `tls`: encryption to the first two; `conformance`: the suite, for tests.
//!
//! Read on: `contract.rs` has the operations, `key.rs` names and limits, `error.rs` the failures; `memory.rs` is the contract in
//! the fewest lines; `file/`, `postgres/`, `etcd/` and `kubernetes/` are the stores, `jobs.rs` and `connection/` what these share;
//! `outlook.rs` says which errors of the system pass; `record_file/` is one small record that survives a crash, also for a store of votes; `pem.rs` reads certificates and keys.
#![forbid(unsafe_code)]
#![cfg_attr(docsrs, feature(doc_cfg))]

#[doc(hidden)]
#[macro_use(debug_is_text)]
extern crate bully_core;

pub mod calls;
#[cfg(feature = "conformance")]
#[cfg_attr(docsrs, doc(cfg(feature = "conformance")))]
pub mod conformance;
#[cfg(any(feature = "etcd", feature = "kubernetes", feature = "postgres"))]
mod connection;
mod contract;
mod error;
#[cfg(feature = "etcd")]
mod etcd;
mod file;
mod jobs;
mod key;
#[cfg(feature = "kubernetes")]
mod kubernetes;
mod memory;
mod outlook;
#[doc(hidden)]
pub mod password;
#[cfg(feature = "tls")]
pub mod pem;
#[cfg(feature = "postgres")]
mod postgres;
pub mod record_file;

#[cfg(all(feature = "tls", any(feature = "etcd", feature = "postgres")))]
#[cfg_attr(
    docsrs,
    doc(cfg(all(feature = "tls", any(feature = "etcd", feature = "postgres"))))
)]
pub use connection::tls::RegisterTls;
pub use contract::{
    Change, ChangeStream, Register, RegisterListing, RegisterReading, Removal, Removing,
    StoreClock, Swap, Swapping,
};
pub use error::{RegisterError, RegisterRefusal};
#[cfg(feature = "etcd")]
#[cfg_attr(docsrs, doc(cfg(feature = "etcd")))]
pub use etcd::{EtcdBuilder, EtcdRegister};
pub use file::FileRegister;
#[doc(hidden)]
pub use key::entry_of_swap;
pub use key::{Entry, MOST_BYTES, MOST_LISTED, RegisterKey, Version};
#[cfg(feature = "kubernetes")]
#[cfg_attr(docsrs, doc(cfg(feature = "kubernetes")))]
pub use kubernetes::{KubernetesBuilder, KubernetesRegister, KubernetesService};
pub use memory::MemoryRegister;
pub use outlook::{Outlook, Shortage};
#[cfg(feature = "postgres")]
#[cfg_attr(docsrs, doc(cfg(feature = "postgres")))]
pub use postgres::{PostgresBuilder, PostgresRegister};
