//! Registers with compare-and-swap, in which processes keep a lease without talking to each other.
#![forbid(unsafe_code)]
#![cfg_attr(docsrs, feature(doc_cfg))]

#[doc(hidden)]
pub mod calls;
#[cfg(any(feature = "etcd", feature = "postgres"))]
mod connection;
mod contract;
mod error;
#[cfg(feature = "etcd")]
mod etcd;
mod file;
mod jobs;
mod key;
mod memory;
#[cfg(feature = "tls")]
pub mod pem;
mod planted;
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
    ChangeStream, Register, RegisterListing, RegisterReading, Removal, Removing, Swap, Swapping,
};
pub use error::{RegisterError, RegisterRefusal};
#[cfg(feature = "etcd")]
#[cfg_attr(docsrs, doc(cfg(feature = "etcd")))]
pub use etcd::{EtcdBuilder, EtcdRegister};
pub use file::FileRegister;
#[doc(hidden)]
pub use key::entry_of_swap;
pub use key::{Entry, MOST_BYTES, MOST_LISTED, RegisterKey, Version};
pub use memory::MemoryRegister;
#[cfg(feature = "postgres")]
#[cfg_attr(docsrs, doc(cfg(feature = "postgres")))]
pub use postgres::{PostgresBuilder, PostgresRegister};
