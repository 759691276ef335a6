//! The operations of a store that keeps a lease.
//!
//! Decided here: the operations, and their outcomes. Not here: the clauses of the contract in words and their tests
//! ([`crate`], `conformance/`); names and limits of the entries (`key.rs`); the failures, and whether an operation that
//! failed changed anything (`error.rs`).

use std::{fmt::Debug, future::Future, pin::Pin, sync::Arc};

use futures::Stream;

use crate::{Entry, RegisterError, RegisterKey, Version};
#[cfg(doc)]
use crate::{FileRegister, MOST_BYTES, MOST_LISTED, MemoryRegister};

/// A store of small values, each replaced by compare-and-swap.
///
/// The promises about a leader rest on one property of this store: operations on one key are linearizable. Every read
/// that begins after a confirmed swap shows it, in any process. Of two swaps that expect the same entry, only one
/// succeeds. A store whose replicas answer reads by themselves does not have this property.
///
/// [`MemoryRegister`] is for tests, [`FileRegister`] for the processes of one host, `PostgresRegister` (feature
/// `postgres`), `EtcdRegister` (feature `etcd`) and `KubernetesRegister` (feature `kubernetes`) for hosts that share a
/// database or a cluster. Any store with a version for each value can be a register. The example shows a store that you
/// reach by a client, such as Consul (`ModifyIndex`, `?cas=`) or NATS (the revision of a key, `update`). The client
/// here is a stand-in. The module of this trait has the other types:
///
/// ```
/// # use bully_register::{
/// #     Entry, MOST_BYTES, Register, RegisterError, RegisterKey, RegisterReading, Swap, Swapping, Version,
/// # };
/// # use std::{io, sync::{Arc, Mutex}, collections::BTreeMap};
/// # #[derive(Clone, Debug, Default)]
/// # struct Client(Arc<Mutex<BTreeMap<String, (u64, Vec<u8>)>>>);
/// # enum Failure { NotSent(io::Error), NoAnswer(io::Error) }
/// # impl Client {
/// #     async fn get(&self, key: &str) -> io::Result<Option<(u64, Vec<u8>)>> {
/// #         Ok(self.0.lock().expect("never poisoned").get(key).cloned())
/// #     }
/// #     async fn put(&self, key: &str, cas: u64, value: Vec<u8>) -> Result<Option<u64>, Failure> {
/// #         let mut all = self.0.lock().expect("never poisoned");
/// #         let known = all.get(key).map_or(0, |(index, _)| *index);
/// #         Ok((known == cas).then(|| { all.insert(key.into(), (known + 1, value)); known + 1 }))
/// #     }
/// # }
/// /// Keys of a store that numbers each change, and calls "absent" 0.
/// #[derive(Clone, Debug)]
/// struct Numbered { client: Client, name: String }
///
/// impl Register for Numbered {
///     fn name(&self) -> &str {
///         &self.name
///     }
///     fn read(&self, key: &RegisterKey) -> RegisterReading {
///         let (client, key) = (self.client.clone(), key.clone());
///         Box::pin(async move {
///             let found = client.get(key.as_str()).await.map_err(RegisterError::unreachable)?;
///             // A value that no register could have written is refused before it is kept.
///             found.map(|(index, value)| Entry::new(&key, Version::from(index), value)).transpose()
///         })
///     }
///     fn swap(&self, key: &RegisterKey, expected: Option<&Entry>, value: Vec<u8>) -> Swapping {
///         let (register, key) = (self.clone(), key.clone());
///         // A version that is no number came from another store, and is never found here.
///         let cas = expected.map_or(Ok(0), |entry| entry.version.as_str().parse()).unwrap_or(u64::MAX);
///         Box::pin(async move {
///             if value.len() > MOST_BYTES {
///                 return Err(RegisterError::TooLarge { len: value.len() });
///             }
///             match register.client.put(key.as_str(), cas, value).await {
///                 Ok(Some(index)) => Ok(Swap::Done(Version::from(index))),
///                 Ok(None) => Ok(Swap::Conflict(register.read(&key).await?)),
///                 Err(Failure::NotSent(reason)) => Err(RegisterError::unreachable(reason)),
///                 // It was sent: the store may have done it, or may do it yet.
///                 Err(Failure::NoAnswer(reason)) => Err(RegisterError::unknown(reason)),
///             }
///         })
///     }
/// }
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// # let register = Numbered { client: Client::default(), name: "numbered".into() };
/// # let key: RegisterKey = "demo/holder".parse().unwrap();
/// # assert_eq!(register.read(&key).await.unwrap(), None);
/// # assert!(matches!(register.swap(&key, None, b"one".to_vec()).await, Ok(Swap::Done(version)) if version == Version::from(1)));
/// # assert!(matches!(register.swap(&key, None, b"two".to_vec()).await, Ok(Swap::Conflict(Some(_)))));
/// # });
/// ```
pub trait Register: Debug + Send + Sync {
    /// Returns the name of this store for operators, without a secret. Registers with the same name count as the same
    /// store: in one process, all agents of a group then use the first of them.
    fn name(&self) -> &str;

    /// Returns whether other processes can reach the store. Then agents that share the store may be in several
    /// processes, and messages between them need a bridge.
    fn is_shared(&self) -> bool {
        true
    }

    /// Reads the entry of a key; `None` if the key has no entry.
    ///
    /// # Errors
    /// [`RegisterError`] when the entry could not be read.
    fn read(&self, key: &RegisterKey) -> RegisterReading;

    /// Replaces the entry of a key, if it is still the `expected` entry. `None` expects that the key has no entry.
    ///
    /// A value of more than [`MOST_BYTES`] is refused as [`RegisterError::TooLarge`]. A store that can compare both the
    /// old version and the old value compares both: after a backup was restored, the same versions are given again, to
    /// other values.
    ///
    /// # Errors
    /// [`RegisterError`]. If the outcome [is unknown](RegisterError::is_unknown), the entry may have been replaced, or
    /// may be replaced later. After any other error it was not replaced.
    fn swap(&self, key: &RegisterKey, expected: Option<&Entry>, value: Vec<u8>) -> Swapping;

    /// Reads all entries [below](RegisterKey::is_below) a key, in the order of their keys: at most [`MOST_LISTED`].
    /// `None` if the store cannot list; then the features that need a list refuse to start.
    ///
    /// Each entry existed at some moment of the listing, but the entries need not have existed at the same moment. The
    /// future may fail with a [`RegisterError`]; with [`RegisterError::TooMany`] if there are more entries.
    fn list(&self, prefix: &RegisterKey) -> Option<RegisterListing> {
        let _ = prefix;
        None
    }

    /// Removes the entry of a key, if it is still the expected entry. `None` if the store cannot remove.
    ///
    /// An entry that is written later under this key gets a version that no earlier entry had. The future may fail with
    /// a [`RegisterError`]; if its outcome [is unknown](RegisterError::is_unknown), the entry may have been removed.
    fn remove(&self, key: &RegisterKey, expected: &Entry) -> Option<Removing> {
        let _ = (key, expected);
        None
    }

    /// Returns a stream that reports possible changes of a key's entry as soon as the store reports them. `None` for a
    /// store without notifications, which is then read at intervals. The stream may report a change that did not
    /// happen, may miss a change, and may end: it only makes waiting shorter.
    ///
    /// If the store reports the written entry and the replaced version, agents read it less often: the change itself
    /// shows that a lease was renewed.
    fn changes(&self, key: &RegisterKey) -> Option<ChangeStream> {
        let _ = key;
        None
    }

    /// Reads the wall clock of the store, in milliseconds since 1970 began (UTC). `None` if the store has no clock of
    /// its own.
    ///
    /// If a group has fewer than three agents, its schedules compare the clock of their host with this clock. No lease
    /// depends on this clock.
    fn clock(&self) -> Option<StoreClock> {
        None
    }
}

impl<R: Register + ?Sized> Register for Arc<R> {
    fn name(&self) -> &str {
        R::name(self)
    }

    fn is_shared(&self) -> bool {
        R::is_shared(self)
    }

    fn read(&self, key: &RegisterKey) -> RegisterReading {
        R::read(self, key)
    }

    fn swap(&self, key: &RegisterKey, expected: Option<&Entry>, value: Vec<u8>) -> Swapping {
        R::swap(self, key, expected, value)
    }

    fn list(&self, prefix: &RegisterKey) -> Option<RegisterListing> {
        R::list(self, prefix)
    }

    fn remove(&self, key: &RegisterKey, expected: &Entry) -> Option<Removing> {
        R::remove(self, key, expected)
    }

    fn changes(&self, key: &RegisterKey) -> Option<ChangeStream> {
        R::changes(self, key)
    }

    fn clock(&self) -> Option<StoreClock> {
        R::clock(self)
    }
}

/// The outcome of a swap.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Swap {
    /// The entry was written, and has this version.
    Done(Version),
    /// The key does not have the expected entry, but this entry, or none. Nothing was changed.
    Conflict(Option<Entry>),
}

/// The outcome of a removal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Removal {
    /// The entry was removed.
    Done,
    /// The key does not have the expected entry, but this entry, or none. Nothing was changed.
    Conflict(Option<Entry>),
}

/// The future of a read. Nothing happens before it is polled; a dropped read has no further effect.
pub type RegisterReading =
    Pin<Box<dyn Future<Output = Result<Option<Entry>, RegisterError>> + Send>>;

/// A swap. Nothing happens before it is polled. If it is dropped, the swap may have happened, or may happen later.
pub type Swapping = Pin<Box<dyn Future<Output = Result<Swap, RegisterError>> + Send>>;

/// A listing. Nothing happens before it is polled; a dropped listing has no further effect.
pub type RegisterListing =
    Pin<Box<dyn Future<Output = Result<Vec<(RegisterKey, Entry)>, RegisterError>> + Send>>;

/// A removal. Nothing happens before it is polled. If it is dropped, the removal may have happened, or may happen
/// later.
pub type Removing = Pin<Box<dyn Future<Output = Result<Removal, RegisterError>> + Send>>;

/// A reading of a store's clock. Nothing happens before it is polled.
pub type StoreClock = Pin<Box<dyn Future<Output = Result<u64, RegisterError>> + Send>>;

/// A change that a stream reports.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Change {
    /// The entry may have changed.
    Unknown,
    /// An entry was written in place of an earlier entry.
    Written {
        /// The entry.
        entry: Entry,
        /// The version of the replaced entry; `None` if the key had no entry.
        replaced: Option<Version>,
    },
}

/// Each item means that an entry may have changed.
pub type ChangeStream = Pin<Box<dyn Stream<Item = Change> + Send>>;
