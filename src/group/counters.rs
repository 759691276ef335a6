//! Counters of messages: messages that were sent, and messages that were lost, by reason.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use serde::Serialize;

/// The counts of a group so far; see [`Group::counters`](super::Group::counters).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Counts {
    /// Messages that were handed to a mailbox, a wire or a link. A message to several receivers counts once for each.
    pub sent: u64,
    /// Messages that were dropped because the receiver's mailbox was full: repeated messages of this process, and any
    /// message of another host.
    pub full: u64,
    /// Messages that were dropped because the receiver's mailbox was closed.
    pub closed: u64,
    /// Messages that a receiver dropped because their sender is not a member.
    pub strangers: u64,
    /// Messages that a receiver dropped because their sender's incarnation has ended.
    pub stale: u64,
}

#[derive(Debug, Default)]
pub(super) struct Counters {
    pub(super) sent: AtomicU64,
    pub(super) full: AtomicU64,
    pub(super) closed: AtomicU64,
    pub(super) strangers: AtomicU64,
    pub(super) stale: AtomicU64,
}

impl Counters {
    pub(super) fn read(&self) -> Counts {
        Counts {
            sent: self.sent.load(Relaxed),
            full: self.full.load(Relaxed),
            closed: self.closed.load(Relaxed),
            strangers: self.strangers.load(Relaxed),
            stale: self.stale.load(Relaxed),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_as_json() {
        let counters = Counters::default();
        counters.sent.store(5, Relaxed);
        counters.stale.store(1, Relaxed);
        assert_eq!(
            serde_json::to_string(&counters.read()).unwrap(),
            r#"{"sent":5,"full":0,"closed":0,"strangers":0,"stale":1}"#
        );
    }
}
