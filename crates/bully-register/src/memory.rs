//! A register in memory, for tests and for agents of one process.
//!
//! This file is the shortest implementation of the contract, and decides nothing beyond it.

use std::{
    collections::BTreeMap,
    io,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
};

use futures::stream;
use tokio::sync::watch;

use super::{
    Change, ChangeStream, Entry, MOST_LISTED, Register, RegisterError, RegisterKey,
    RegisterListing, RegisterReading, RegisterRefusal, Removal, Removing, Swap, Swapping, Version,
    key::check_size,
};

/// Keeps values in memory; clones share them.
///
/// ```
/// # use bully_register::{MemoryRegister, Register, Swap};
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// let register = MemoryRegister::new();
/// let key = "orders/holder".parse()?;
/// assert_eq!(register.read(&key).await?, None);
/// assert!(matches!(register.swap(&key, None, b"a".to_vec()).await?, Swap::Done(_)));
/// assert!(matches!(register.swap(&key, None, b"b".to_vec()).await?, Swap::Conflict(Some(_))));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # }).unwrap();
/// ```
#[derive(Clone, Debug)]
pub struct MemoryRegister {
    name: Arc<str>,
    values: Arc<Mutex<Values>>,
}

#[derive(Debug)]
struct Values {
    entries: BTreeMap<RegisterKey, Entry>,
    /// The version of the last write to any key.
    last: u64,
    /// The last change, and its key.
    changes: watch::Sender<Option<(RegisterKey, Change)>>,
}

impl Values {
    fn tell(&self, key: RegisterKey, change: Change) {
        self.changes.send_replace(Some((key, change)));
    }
}

impl MemoryRegister {
    /// Makes an empty register.
    pub fn new() -> Self {
        static MADE: AtomicU64 = AtomicU64::new(1);
        let number = MADE.fetch_add(1, Relaxed);
        Self {
            name: format!("memory {number}").into(),
            values: Arc::new(Mutex::new(Values {
                entries: BTreeMap::new(),
                last: 0,
                changes: watch::Sender::new(None),
            })),
        }
    }

    fn values(&self) -> MutexGuard<'_, Values> {
        // A poisoned lock is used: a value is inserted in one step, so a panic cannot leave half a value.
        self.values.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Default for MemoryRegister {
    fn default() -> Self {
        Self::new()
    }
}

impl Register for MemoryRegister {
    fn name(&self) -> &str {
        &self.name
    }

    fn is_shared(&self) -> bool {
        false
    }

    fn read(&self, key: &RegisterKey) -> RegisterReading {
        let (register, key) = (self.clone(), key.clone());
        Box::pin(async move { Ok(register.values().entries.get(&key).cloned()) })
    }

    fn swap(&self, key: &RegisterKey, expected: Option<&Entry>, value: Vec<u8>) -> Swapping {
        let (register, key, expected) = (self.clone(), key.clone(), expected.cloned());
        Box::pin(async move {
            check_size(&value)?;
            let mut values = register.values();
            let known = values.entries.get(&key);
            if known != expected.as_ref() {
                return Ok(Swap::Conflict(known.cloned()));
            }
            // Checked, because an overflow would give an earlier version again.
            values.last = values.last.checked_add(1).ok_or_else(|| {
                let words = io::Error::other("its versions are at their end");
                RegisterError::refused(RegisterRefusal::Other, words)
            })?;
            let version = Version::from(values.last);
            let entry = Entry {
                version: version.clone(),
                value,
            };
            let change = Change::Written {
                entry: entry.clone(),
                replaced: expected.map(|entry| entry.version),
            };
            values.entries.insert(key.clone(), entry);
            values.tell(key, change);
            Ok(Swap::Done(version))
        })
    }

    fn list(&self, prefix: &RegisterKey) -> Option<RegisterListing> {
        let (register, prefix) = (self.clone(), prefix.clone());
        Some(Box::pin(async move {
            let values = register.values();
            let all = values.entries.iter();
            let below: Vec<_> = all
                .filter(|(key, _)| key.is_below(&prefix))
                .map(|(key, entry)| (key.clone(), entry.clone()))
                .collect();
            if below.len() > MOST_LISTED {
                return Err(RegisterError::TooMany { prefix });
            }
            Ok(below)
        }))
    }

    fn remove(&self, key: &RegisterKey, expected: &Entry) -> Option<Removing> {
        let (register, key, expected) = (self.clone(), key.clone(), expected.clone());
        Some(Box::pin(async move {
            let mut values = register.values();
            let known = values.entries.get(&key);
            if known != Some(&expected) {
                return Ok(Removal::Conflict(known.cloned()));
            }
            values.entries.remove(&key);
            values.tell(key, Change::Unknown);
            Ok(Removal::Done)
        }))
    }

    fn changes(&self, key: &RegisterKey) -> Option<ChangeStream> {
        // All keys share one channel, which keeps only the last change. So if the last change is of another key, a
        // listener must read its own key: the other change may have replaced a change of its key.
        let (key, changes) = (key.clone(), self.values().changes.subscribe());
        Some(Box::pin(stream::unfold(
            (key, changes),
            |(key, mut changes)| async {
                changes.changed().await.ok()?;
                let last = changes.borrow_and_update().clone();
                let change = match last {
                    Some((of, change)) if of == key => change,
                    Some(_) | None => Change::Unknown,
                };
                Some((change, (key, changes)))
            },
        )))
    }
}

#[cfg(test)]
mod tests {
    use futures::FutureExt;

    use super::*;

    #[test]
    fn a_version_at_the_end_of_its_range_is_an_error_and_never_given_twice() {
        let register = MemoryRegister::new();
        register.values().last = u64::MAX - 1;
        let key = "a/b".parse().unwrap();
        let swap = |value: &[u8]| register.swap(&key, None, value.to_vec()).now_or_never();
        assert!(matches!(swap(b"one"), Some(Ok(Swap::Done(_)))));
        register.values().entries.clear();
        let refused = swap(b"two");
        assert!(
            matches!(refused, Some(Err(RegisterError::Refused { .. }))),
            "{refused:?}"
        );
        assert_eq!(register.read(&key).now_or_never().unwrap().unwrap(), None);
    }

    #[test]
    fn two_of_them_are_two_stores() {
        let (one, other) = (MemoryRegister::new(), MemoryRegister::new());
        assert_ne!(one.name(), other.name());
        assert_eq!(one.name(), one.clone().name());
        assert!(!one.is_shared(), "no other process reaches it");
    }
}
