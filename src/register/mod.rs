//! The register: the store with compare-and-swap in which the agents of a group keep their lease. The agents send each
//! other no messages.
//!
//! ```text
//!   lease machine ── ReadRegister, SwapRegister ──▶ keeper ── read, swap ──▶ Register ──▶ MemoryRegister: tests
//!        ▲                                           │ coalesces                      ├─▶ FileRegister: one host
//!        └────────────── RegisterShown ──────────────┴◀── entry, changes             ├─▶ PostgresRegister, EtcdRegister, KubernetesRegister: a server
//!                                                                                    └─▶ yours: a store with versions
//! ```
//!
//! Decided here: how the agents of a process share a store (`keeper/`). Not here: the meaning of a lease, which its
//! election decides; the contract of a store, and the stores. The crate `bully-register` contains both. The front page
//! of the crate lists the clauses of the contract, and
//! [`conformance`](https://docs.rs/bully-register/latest/bully_register/conformance/) (feature `testkit`) tests a store
//! of yours.
//!
//! The table shows three things: the reads and writes of agents per second, the operations per second that the store
//! counts, and the duration of a fail-over in milliseconds in the same run. `cargo run -p actix-bully-register-tests
//! --bin costs -- STORE 2` prints them (an unoptimized build on two busy cores). A holder renews its lease every 60 ms
//! with `lan`, every 180 ms with `default`, and every second with `wan`. The agents of a process share each question. A
//! server announces each renewal to the processes, so they read only rarely: more processes cost the server almost
//! nothing. In a folder each process reads both records once per renewal. Reads that wait at the same time become one
//! query or transaction. PostgreSQL also counts a transaction for each change that a connection receives. All elections
//! of a process share one connection to PostgreSQL, or at most nine connections to etcd. Each agent writes its row
//! every 30 s; the second row of the table includes the first of these rounds.
//!
//! A fail-over is the median of five kills of the holder. After the kill, the holder's process sends nothing more to the
//! store, and the time ends when another agent leads. In the first two rows only an agent stops, and not its process:
//! the other agents of the process learn of the stop, and do not wait for the end of the lease. `benches/README.md`
//! compares these leases with the elections of other libraries on the same stores.
//!
//! | reads, writes: operations; fail-over | files | PostgreSQL | etcd |
//! |---|---|---|---|
//! | 10 agents of a process, one record, `lan` | 33, 16; 12 ms | 32, 16: 49; 10 ms | 33, 16: 35; 10 ms |
//! | 1,000 agents of a process, one record, `lan` | 32, 133; 76 ms | 33, 358: 1,063; 39 ms | 34, 184: 210; 136 ms |
//! | 300 elections of a process, a record each, `wan` | 599, 300 | 595, 300: 894 | 605, 300: 439 |
//! | 10 processes, one record, `lan` | 233, 17; 296 ms | 32, 16: 66; 266 ms | 32, 16: 39; 275 ms |
//! | 3 processes of this crate on one record, with the timings `default` | 23, 5; 1,162 ms | 11, 5: 13; 909 ms | 11, 5: 12; 936 ms |
//! | 30 | 189, 5; 934 ms | 11, 5: 22; 902 ms | 11, 5: 11; 903 ms |
//! | 100 | 652, 5; 876 ms | 11, 5: 19; 896 ms | 11, 5: 14; 896 ms |
//!
//! Any user with write access to the records decides which agent leads, because agents trust the store. Create a user
//! of the database, or of etcd, for these records alone, and use TLS against attackers on the network. Without TLS an
//! attacker on the network can make any process lead, or several processes.
//!
//! Read on: [`Register`] is the contract. [`RegisterError`] is the reason why an operation failed, and shows whether
//! the operation changed anything. `keeper/` uses a register for the agents of a group.

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
#[cfg(feature = "kubernetes")]
#[cfg_attr(docsrs, doc(cfg(feature = "kubernetes")))]
#[doc(inline)]
pub use bully_register::{KubernetesBuilder, KubernetesRegister, KubernetesService};
#[cfg(feature = "postgres")]
#[cfg_attr(docsrs, doc(cfg(feature = "postgres")))]
#[doc(inline)]
pub use bully_register::{PostgresBuilder, PostgresRegister};
pub use keeper::AttachError;
