//! Who hears of changes that a store tells.
//!
//! Decided here: that a change is told to those who wait for its key alone, since each of several hundred elections would
//! be woken by all others; and that a connection made anew counts as a change of everything, since nobody listened
//! before. Several changes that nobody has heard of yet are one.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError, Weak},
};

use futures::stream;
use tokio::sync::watch;

use crate::{ChangeStream, RegisterKey};

/// What is heard of the server unasked.
#[derive(Clone, Debug)]
pub(crate) enum KeyChange {
    /// The entry of that key was replaced.
    Key(Box<str>),
    /// Any of them may have been.
    Any,
}

/// Counts the changes of each key that somebody waits for.
#[derive(Debug, Default)]
struct KeyListeners(Mutex<BTreeMap<Box<str>, watch::Sender<u64>>>);

impl KeyListeners {
    fn all(&self) -> MutexGuard<'_, BTreeMap<Box<str>, watch::Sender<u64>>> {
        // Nothing that can panic half-way runs under the lock.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Tells all who listen. What they listen to ends with the last clone.
#[derive(Clone, Debug)]
pub(crate) struct Tellers(Arc<KeyListeners>);

/// Listens, for as long as anybody tells.
#[derive(Clone, Debug)]
pub(crate) struct Listeners(Weak<KeyListeners>);

impl Tellers {
    pub(super) fn new() -> (Self, Listeners) {
        let keys = Arc::default();
        let weak = Arc::downgrade(&keys);
        (Self(keys), Listeners(weak))
    }

    pub(crate) fn tell(&self, told: KeyChange) {
        let change = |changes: &watch::Sender<u64>| {
            changes.send_modify(|count| *count = count.wrapping_add(1));
        };
        let keys = self.0.all();
        match told {
            KeyChange::Key(key) => keys.get(&key).into_iter().for_each(change),
            KeyChange::Any => keys.values().for_each(change),
        }
    }
}

impl Listeners {
    pub(crate) fn changes(&self, key: &RegisterKey) -> Option<ChangeStream> {
        let keys = self.0.upgrade()?;
        let mut keys = keys.all();
        keys.retain(|_, changes| !changes.is_closed());
        let changes = keys.entry(key.as_str().into()).or_default().subscribe();
        Some(Box::pin(stream::unfold(changes, |mut changes| async {
            let is_open = changes.changed().await.is_ok();
            is_open.then_some(((), changes))
        })))
    }
}

#[cfg(test)]
mod tests {
    use futures::{FutureExt, StreamExt};

    use super::*;

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
        for told in [KeyChange::Key("a/b".into()), KeyChange::Any] {
            tellers.tell(KeyChange::Key("a/c".into()));
            assert_eq!(changes.next().now_or_never(), None);
            tellers.tell(told.clone());
            tellers.tell(told);
            assert_eq!(changes.next().now_or_never(), Some(Some(())));
            assert_eq!(changes.next().now_or_never(), None, "both are one");
            assert_eq!(other.next().now_or_never(), Some(Some(())));
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
