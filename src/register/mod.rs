//! Where a lease is kept that agents hold without talking to each other: a store with compare-and-swap.
//!
//! ```text
//!   lease machine ── ReadRegister, SwapRegister ──▶ keeper ── read, swap ──▶ Register ──▶ MemoryRegister: tests
//!        ▲                                           │ coalesces                      ├─▶ FileRegister: one host
//!        └────────────── RegisterShown ──────────────┴◀── entry, changes             ├─▶ PostgresRegister, EtcdRegister: a server
//!                                                                                    └─▶ yours: a store with versions
//! ```
//!
//! Decided here: how the agents of a process share a store (`keeper/`). Not here: a lease, which is for its election; the
//! contract of a store and the stores, which are in the crate `bully-register`. Its front page has the contract clause by
//! clause, and [`conformance`](https://docs.rs/bully-register/latest/bully_register/conformance/) (feature `testkit`) tests a store of yours.
//!
//! What agents ask for in a second, reads and writes, and the operations that the store counts then, as `cargo run -p
//! actix-bully-register-tests --bin costs` says it (an unoptimized build on two busy cores). Holders renew every 60 ms, in the
//! third row every second. The agents of a process ask as one, so that their number costs the store nothing; each process
//! more that shares a record reads both records of the election once a renewal. Reads that wait at one time are one query or
//! transaction. PostgreSQL also counts a transaction for each change that a connection hears of. Elections of any number
//! share one connection to PostgreSQL, and at most nine to etcd.
//!
//! | | files | PostgreSQL | etcd |
//! |---|---|---|---|
//! | 10 agents of a process, one record | 32, 16 | 53, 16: 70 | 46, 16: 43 |
//! | 1,000 agents of a process, one record | 32, 16 | 52, 16: 75 | 53, 16: 61 |
//! | 300 elections of a process, a record each | 598, 299 | 1,095, 300: 911 | 1,106, 300: 596 |
//! | 10 processes, one record | 234, 16 | 355, 16: 407 | 352, 16: 222 |
//!
//! Whoever may write the records decides who leads, and a store is believed: a user of the database, or of etcd, for these
//! records alone keeps others off, and TLS keeps off whoever stands between. Without TLS such a one can have any process
//! lead, or several.
//!
//! Read on: [`Register`] is the contract, [`RegisterError`] says why an operation fails and whether it changed anything;
//! `keeper/` asks a register for the agents of a group.

pub(crate) mod keeper;

#[cfg(all(feature = "tls", any(feature = "etcd", feature = "postgres")))]
#[cfg_attr(
    docsrs,
    doc(cfg(all(feature = "tls", any(feature = "etcd", feature = "postgres"))))
)]
#[doc(inline)]
pub use bully_register::RegisterTls;
#[cfg(feature = "testkit")]
#[cfg_attr(docsrs, doc(cfg(feature = "testkit")))]
#[doc(inline)]
pub use bully_register::conformance;
#[doc(inline)]
pub use bully_register::{
    Change, ChangeStream, Entry, FileRegister, MOST_BYTES, MOST_LISTED, MemoryRegister, Register,
    RegisterError, RegisterKey, RegisterListing, RegisterReading, RegisterRefusal, Removal,
    Removing, StoreClock, Swap, Swapping, Version,
};
#[cfg(feature = "etcd")]
#[cfg_attr(docsrs, doc(cfg(feature = "etcd")))]
#[doc(inline)]
pub use bully_register::{EtcdBuilder, EtcdRegister};
#[cfg(feature = "postgres")]
#[cfg_attr(docsrs, doc(cfg(feature = "postgres")))]
#[doc(inline)]
pub use bully_register::{PostgresBuilder, PostgresRegister};
pub use keeper::AttachError;
