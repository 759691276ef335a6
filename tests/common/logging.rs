//! Logs of one test among others of its process.

use std::sync::OnceLock;

use tracing::{Dispatch, subscriber::NoSubscriber};

/// Lets a test read what its own thread logs; to be called before its subscriber is set.
///
/// While a process has one subscriber, `tracing` settles what becomes of a line, for all threads, by the thread that
/// comes to the line first, and a test beside this one has no subscriber. With more of them it asks each.
pub(crate) fn beside_others() {
    static KEPT: OnceLock<[Dispatch; 2]> = OnceLock::new();
    KEPT.get_or_init(|| [0; 2].map(|_| Dispatch::new(NoSubscriber::default())));
}
