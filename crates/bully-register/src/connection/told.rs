//! The listeners of the changes that a store reports.
//!
//! Decided here: a change is reported only to the listeners of its key, since otherwise each change would wake several
//! hundred elections. A new connection counts as a change of every key, since changes before it were not reported. If a
//! key changes several times before its listener reads a change, the listener gets only the last change. The listener
//! then has to read the key.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError, Weak},
};

use futures::stream;
#[cfg(feature = "kubernetes")]
use tokio::sync::Notify;
use tokio::sync::watch;

use crate::{Change, ChangeStream, RegisterKey};

/// A change that the server reports.
#[derive(Clone, Debug)]
pub(crate) enum KeyChange {
    /// The entry of this key was replaced; the change may contain the new entry.
    Key(Box<str>, Change),
    /// Any entry may have been replaced: a connection was made, and what changed before it was not reported.
    Any,
}

/// The last change of each key that has a listener.
#[derive(Debug, Default)]
struct KeyListeners {
    all: Mutex<BTreeMap<Box<str>, watch::Sender<Change>>>,
    /// Notified when a caller begins to wait for a key.
    #[cfg(feature = "kubernetes")]
    more: Notify,
}

impl KeyListeners {
    fn all(&self) -> MutexGuard<'_, BTreeMap<Box<str>, watch::Sender<Change>>> {
        // A poisoned lock is used, because no code under the lock can panic with a change half done.
        self.all.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The reporting side of the changes. The listeners' streams end when its last clone is dropped.
#[derive(Clone, Debug)]
pub(crate) struct Tellers(Arc<KeyListeners>);

/// The listening side. The streams of this side end with the last [`Tellers`].
#[derive(Clone, Debug)]
pub(crate) struct Listeners(Weak<KeyListeners>);

impl Tellers {
    pub(super) fn new() -> (Self, Listeners) {
        let keys = Arc::default();
        let weak = Arc::downgrade(&keys);
        (Self(keys), Listeners(weak))
    }

    pub(crate) fn tell(&self, told: KeyChange) {
        let tell = |changes: &watch::Sender<Change>, change: Change| {
            changes.send_replace(change);
        };
        let keys = self.0.all();
        match told {
            KeyChange::Key(key, change) => {
                if let Some(changes) = keys.get(&key) {
                    tell(changes, change);
                }
            }
            KeyChange::Any => keys
                .values()
                .for_each(|changes| tell(changes, Change::Unknown)),
        }
    }
}

/// The methods for a store whose changes are watched key by key.
#[cfg(feature = "kubernetes")]
impl Tellers {
    /// Returns the keys that have a listener.
    pub(crate) fn heard(&self) -> Vec<RegisterKey> {
        let keys = self.0.all();
        let heard = keys.iter().filter(|(_, changes)| !changes.is_closed());
        heard.filter_map(|(key, _)| key.parse().ok()).collect()
    }

    pub(crate) fn is_heard(&self, key: &RegisterKey) -> bool {
        let keys = self.0.all();
        let changes = keys.get(key.as_str());
        changes.is_some_and(|changes| !changes.is_closed())
    }

    /// Waits until a key gets its first listener. Only one task may wait for this at a time.
    pub(crate) async fn more_heard(&self) {
        self.0.more.notified().await;
    }
}

impl Listeners {
    pub(crate) fn changes(&self, key: &RegisterKey) -> Option<ChangeStream> {
        let listeners = self.0.upgrade()?;
        let mut keys = listeners.all();
        // Keys without a listener are removed here, because no code runs when a listener is dropped.
        keys.retain(|_, changes| !changes.is_closed());
        let told = keys.entry(key.as_str().into());
        let changes = told.or_insert_with(|| watch::Sender::new(Change::Unknown));
        let changes = changes.subscribe();
        #[cfg(feature = "kubernetes")]
        listeners.more.notify_one();
        Some(Box::pin(stream::unfold(changes, |mut changes| async {
            changes.changed().await.ok()?;
            let change = changes.borrow_and_update().clone();
            Some((change, changes))
        })))
    }
}

#[cfg(test)]
mod tests {
    use futures::{FutureExt, StreamExt};

    use super::*;
    use crate::{Entry, Version};

    fn key() -> RegisterKey {
        "a/b".parse().unwrap()
    }

    #[test]
    fn a_key_hears_of_itself_and_of_all() {
        let (tellers, listeners) = Tellers::new();
        tellers.tell(KeyChange::Any);
        let mut changes = listeners.changes(&key()).unwrap();
        let mut other = listeners.changes(&"a/c".parse().unwrap()).unwrap();
        assert_eq!(changes.next().now_or_never(), None, "it was before");
        let written = |number: u64| Change::Written {
            entry: Entry {
                version: Version::from(number),
                value: Vec::new(),
            },
            replaced: None,
        };
        for (told, heard) in [
            (KeyChange::Key("a/b".into(), written(7)), written(7)),
            (KeyChange::Any, Change::Unknown),
        ] {
            tellers.tell(KeyChange::Key("a/c".into(), Change::Unknown));
            assert_eq!(changes.next().now_or_never(), None);
            tellers.tell(KeyChange::Key("a/b".into(), written(6)));
            tellers.tell(told);
            assert_eq!(changes.next().now_or_never(), Some(Some(heard)));
            assert_eq!(changes.next().now_or_never(), None, "the last one");
            let other = other.next().now_or_never();
            assert_eq!(other, Some(Some(Change::Unknown)));
        }
        drop(tellers);
        assert_eq!(changes.next().now_or_never(), Some(None));
        assert!(listeners.changes(&key()).is_none());
    }

    #[test]
    fn a_key_that_nobody_waits_for_any_more_is_forgotten() {
        let (tellers, listeners) = Tellers::new();
        for number in 0..10 {
            let key = format!("a/{number}").parse().unwrap();
            drop(listeners.changes(&key));
        }
        let _changes = listeners.changes(&key()).unwrap();
        assert_eq!(tellers.0.all().len(), 1);
    }
}
