//! Registers with compare-and-swap: in a store, processes keep a lease without messages to each other.
//!
//! ```text
//!   actix-bully: lease ──▶ Register ──▶ MemoryRegister: tests
//!                             │    ├──▶ FileRegister: the processes of one host ──▶ RecordFile
//!                             │    ├──▶ PostgresRegister, EtcdRegister, KubernetesRegister: a server (features of their names)
//!                             │    └──▶ yours: a store with a version for each value
//!                             └── conformance: a suite that tests any of them (feature `conformance`)
//! ```
//!
//! # A store of your own
//! A register keeps values of at most [`MOST_BYTES`] under keys of one to four names, each with a [`Version`].
//! Implement [`Register`] with `name`, `read` and `swap`; `list`, `remove`, `changes` and `clock` may be left out. A
//! lease depends on these operations, so a register that breaks a clause can cause two leaders. The store needs no lock
//! and no transaction. A lease does not use the store's clock; schedules of a leader compare their own clock with it.
//!
//! | clause | a register |
//! |---|---|
//! | `one-name` | has the same name on every connection to one store, without a secret. Agents treat stores with the same name as one store |
//! | `absent-is-none` | returns `None` for a key that was never written or whose entry was removed, never an error or an empty value |
//! | `reads-what-was-written` | returns the bytes of the value unchanged, and the version that the swap returned |
//! | `keys-apart` | has an entry for each key: keys differ if their case, their accents, their dots or the last of 1,027 bytes differ |
//! | `swap-compares` | writes if the entry at the time of the write is the expected one; otherwise returns [`Swap::Conflict`] with the present entry. A request may arrive late: the store itself compares, in one step with the write |
//! | `new-version` | gives each write a version that the key never had, even if the value is the same, and also after a removal |
//! | `largest-value` | keeps 4,096 bytes whole and refuses a longer value with [`RegisterError::TooLarge`] |
//! | `seen-at-once` | shows a confirmed write to every operation that begins afterwards, on any connection. A replica that lags, or a cache, does not satisfy this |
//! | `one-wins` | lets at most one swap replace an entry |
//! | `applied-once` | applies a swap at most once. A client that sends a write again after it lost the answer must send the same version |
//! | `failure-means-unchanged` | returns [`RegisterError::Unknown`] if a write was sent and its answer did not come, also if a time limit ended the wait. Every other error, and a conflict, means that nothing was changed and nothing will be |
//! | `waits-for-poll` | does nothing before its future is polled |
//! | `drop-harms-nothing` | stays usable if a future is dropped at any point; that operation may be done or not |
//! | `removal-compares` | removes the entry if it is the expected one, at the time of the removal |
//! | `lists-below` | lists all entries below a key in the order of their keys, or returns [`RegisterError::TooMany`] above [`MOST_LISTED`] |
//! | `tells-changes` | reports changes if it offers a stream of them. The stream may report too much and may miss changes: agents also read at intervals. If it reports the content of a write, the content is true |
//!
//! `conformance::check` (feature `conformance`) tests each clause; an error contains the name of the clause.
//! `examples/own_register.rs` of actix-bully implements a register in a folder with a hard link for each version. The
//! example runs the suite on this register, and on a wrong register.
//!
//! Two rules cannot be tested from outside. If the store hangs, an operation has to fail after a time limit of the
//! register. An entry that no register could have written, such as a value that is too large, is
//! [`RegisterError::Foreign`] and stays unchanged.
//!
//! # Errors
//! | an error | the register | the agents |
//! |---|---|---|
//! | passes: a lock, a time limit, too many connections | returns `Unreachable`, or `Unknown` after a write | try again at growing intervals; reads and writes have separate back-offs |
//! | needs a new login | logs in, with the password and the certificates of that moment | as above |
//! | needs another server: this one takes no writes, ends or hangs | connects to the next one | as above |
//! | is final: a right, a missing table, another format, a pooler that shares sessions | returns `Refused`, with the repair that an operator has to make | show it in log, diagnosis and health, and keep asking at long intervals |
//! | is of the entry: another program wrote it | returns `Foreign`, and never writes over it | show it |
//!
//! The file `failure.rs` of each store has a table of its errors and their classes.
//!
//! # Features
//! `postgres`, `etcd`, `kubernetes`: the stores; `tls`: encryption to the first two; `conformance`: the suite, for
//! tests.
//!
//! Read on: `contract.rs` has the operations, `key.rs` names and limits, `error.rs` the failures. `memory.rs` is
//! the shortest implementation of the contract. `file/`, `postgres/`, `etcd/` and `kubernetes/` are the stores;
//! `jobs.rs` and `connection/` are shared by them. `outlook.rs` decides which errors of the system pass.
//! `record_file/` is one small record that survives a crash, also for a store of votes. `pem/` reads certificates
//! and keys.
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
