//! The events of a child that its parent receives.
//!
//! Decided here: the kinds of events. Not here: when they are sent (`guardian.rs`), and their order beside the hook
//! (`report.rs`).

use std::time::Duration;

/// Reason for the end of an incarnation.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Exit {
    /// The incarnation stopped by `ctx.stop()` or `ctx.terminate()`, or its last address was dropped.
    Stopped,
    /// The incarnation panicked. The value is the panic's text, or a fixed text if the payload was neither `String` nor
    /// `&str`.
    Panicked(String),
    /// The guardian was dropped with the incarnation: the arbiter was stopped, or the System was dropped.
    Abandoned,
}

/// An event of the child with the key `child`, from a `Guardian` to the child's parent.
///
/// `Down` and `Up` alternate, beginning with `Down`. One exception: a restart that fails is reported by a `Down`
/// without an `Up` before it. The last event is always `Finished` or `GaveUp`, exactly once. `GaveUp` is the
/// escalation: the parent decides what happens next.
#[derive(Clone, Debug, PartialEq, Eq, actix::Message)]
#[rtype(result = "()")]
#[non_exhaustive]
pub enum Supervision<K: 'static> {
    /// An incarnation ended, and the next incarnation is made after `restart_in`. The address stays valid.
    Down {
        /// The child's key.
        child: K,
        /// The reason why the incarnation ended.
        exit: Exit,
        /// The backoff, counted from the moment at which the event is sent.
        restart_in: Duration,
    },
    /// A new incarnation was made. Next it runs `started`, and then handles the messages that waited.
    Up {
        /// The child's key.
        child: K,
        /// Number of restarts of this child so far.
        restarts: u64,
    },
    /// The restart budget is spent, or the arbiter has ended. The mailbox is closed, and the child is not restarted.
    GaveUp {
        /// The child's key.
        child: K,
        /// Reason for the end of the last incarnation, or `Exit::Abandoned`.
        exit: Exit,
    },
    /// The child ended regularly, by a stop or without an address. The mailbox is closed.
    Finished {
        /// The child's key.
        child: K,
    },
}
