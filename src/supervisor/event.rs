//! What a parent is told about its children.
//!
//! Decided here: the words. Not here: when they are said (`guardian.rs`) and in which order beside the
//! hook (`report.rs`).

use std::time::Duration;

/// Why an incarnation ended.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Exit {
    /// It stopped by `ctx.stop()` or `ctx.terminate()`, or its last address was dropped.
    Stopped,
    /// It panicked, with this text (a fixed text if the payload was neither `String` nor `&str`).
    Panicked(String),
    /// Its guardian was dropped with it: the arbiter was stopped, or the System dropped.
    Abandoned,
}

/// What a `Guardian` tells the parent of the child named `child`.
///
/// `Down` and `Up` alternate, beginning with `Down`, except that a restart that fails is a `Down` without
/// an `Up` before it. `Finished` or `GaveUp` is always the last one, and there is exactly one of them.
/// `GaveUp` is the escalation: it is for the parent to decide what happens now.
#[derive(Clone, Debug, PartialEq, Eq, actix::Message)]
#[rtype(result = "()")]
#[non_exhaustive]
pub enum Supervision<K: 'static> {
    /// An incarnation ended and the next one is made in `restart_in`. The address stays valid.
    Down {
        /// The child's key.
        child: K,
        /// Why the incarnation ended.
        exit: Exit,
        /// The backoff, from now.
        restart_in: Duration,
    },
    /// A new incarnation has been made; its `started` comes next, then the messages that have waited.
    Up {
        /// The child's key.
        child: K,
        /// How often this child has been restarted, all in all.
        restarts: u64,
    },
    /// The restart budget is spent, or there is no arbiter any more. The mailbox is closed.
    GaveUp {
        /// The child's key.
        child: K,
        /// Why the last incarnation ended, or `Exit::Abandoned`.
        exit: Exit,
    },
    /// The child came to its regular end. The mailbox is closed.
    Finished {
        /// The child's key.
        child: K,
    },
}
