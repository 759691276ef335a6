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
//! actix-bully-register-tests --bin costs` says it (an unoptimized build on two busy cores). A holder renews every 60 ms with
//! `lan`, every 180 ms with `default`, every second in the third row. The agents of a process ask as one. A server tells the
//! processes of each renewal, so that they read only now and then: their number costs it next to nothing. In a folder each
//! process reads both records once a renewal. Reads that wait at one time are one query or transaction. PostgreSQL also counts a
//! transaction for each change that a connection hears of. Elections of any number share one connection to PostgreSQL, and
//! at most nine to etcd. Each agent writes its row every 30 s; the second row counts the first of these rounds.
//!
//! | | files | PostgreSQL | etcd |
//! |---|---|---|---|
//! | 10 agents of a process, one record, `lan` | 32, 16 | 32, 16: 54 | 32, 16: 32 |
//! | 1,000 agents of a process, one record, `lan` | 31, 96 | 32, 242: 605 | 40, 130: 152 |
//! | 300 elections of a process, a record each, `wan` | 600, 300 | 600, 300: 718 | 594, 299: 426 |
//! | 10 processes, one record, `lan` | 234, 16 | 32, 16: 51 | 32, 16: 38 |
//! | 3, 30, 100 processes, one record, `default` | 23, 196, 644; 5 | 11, 5: 22, 21, 17 | 11, 5: 12, 13, 13 |
//! | 3, 30, 100 candidates of client-go's rule, as long a lease | 10, 148, 510; 8 | 515, 7: 52, 438, 1,385 | 502, 7: 17, 155, 510 |
//! | the same with a lease of 15 s | 0, 10, 35; 0 | 29, 0: 8, 73, 210 | 32, 0: 1, 10, 32 |
//!
//! Whoever may write the records decides who leads, and a store is believed: a user of the database, or of etcd, for these
//! records alone keeps others off, and TLS keeps off whoever stands between. Without TLS such a one can have any process
//! lead, or several.
//!
//! Read on: [`Register`] is the contract, [`RegisterError`] says why an operation fails and whether it changed anything;
//! `keeper/` asks a register for the agents of a group.

pub(crate) mod keeper;
#[cfg(feature = "serde")]
pub(crate) mod trial;

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
