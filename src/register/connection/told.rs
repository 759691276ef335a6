//! Who hears of changes that a store tells.
//!
//! Decided here: that a connection made anew counts as a change of everything, since nobody listened before, and so do
//! changes that were missed.

use std::sync::Arc;

use futures::stream;
use tokio::sync::broadcast::{self, error::RecvError};

use crate::register::{ChangeStream, RegisterKey, jobs::QUEUE};

/// What is heard of the server unasked.
#[derive(Clone, Debug)]
pub(in crate::register) enum Told {
    /// The entry of that key was replaced.
    Key(Arc<str>),
    /// Any of them may have been.
    Any,
}

/// Tells all who listen.
#[derive(Clone, Debug)]
pub(in crate::register) struct Tellers(broadcast::Sender<Told>);

/// Listens, for as long as anybody tells.
#[derive(Clone, Debug)]
pub(in crate::register) struct Listeners(broadcast::WeakSender<Told>);

impl Tellers {
    pub(super) fn new() -> (Self, Listeners) {
        let told = broadcast::Sender::new(QUEUE);
        let weak = told.downgrade();
        (Self(told), Listeners(weak))
    }

    pub(in crate::register) fn tell(&self, told: Told) {
        // Nobody may listen just now.
        self.0.send(told).ok();
    }
}

impl Listeners {
    pub(in crate::register) fn changes(&self, key: &RegisterKey) -> Option<ChangeStream> {
        let told = self.0.upgrade()?.subscribe();
        let begin = (told, key.clone());
        Some(Box::pin(stream::unfold(begin, |(mut told, key)| async {
            loop {
                match told.recv().await {
                    Ok(Told::Key(of)) if *of != *key.as_str() => {}
                    // Missed ones may have been of this key.
                    Ok(Told::Key(_) | Told::Any) | Err(RecvError::Lagged(_)) => {
                        return Some(((), (told, key)));
                    }
                    Err(RecvError::Closed) => return None,
                }
            }
        })))
    }
}

#[cfg(test)]
mod tests {
    use futures::{FutureExt, StreamExt};

    use super::*;

    #[test]
    fn a_key_hears_of_itself_of_all_and_of_what_was_missed() {
        let (tellers, listeners) = Tellers::new();
        let mut changes = listeners.changes(&"a/b".parse().unwrap()).unwrap();
        let mut heard = || changes.next().now_or_never();
        tellers.tell(Told::Key("a/c".into()));
        assert_eq!(heard(), None);
        tellers.tell(Told::Key("a/b".into()));
        assert_eq!(heard(), Some(Some(())));
        tellers.tell(Told::Any);
        assert_eq!(heard(), Some(Some(())));
        for _ in 0..=QUEUE {
            tellers.tell(Told::Key("a/c".into()));
        }
        assert_eq!(heard(), Some(Some(())), "some were missed");
        drop(tellers);
        assert_eq!(heard(), Some(None));
        assert!(listeners.changes(&"a/b".parse().unwrap()).is_none());
    }
}
