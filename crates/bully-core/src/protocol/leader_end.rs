//! How a participant noticed the end of a leadership, for the history and the metrics.
//!
//! Decided here: the kinds of such an end. No election depends on them.

use super::Time;

/// How a participant noticed the end of a leadership; see [`Election::last_end`](super::Election::last_end).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LeaderEnd {
    /// The leader has said that it handed over.
    Resigned,
    /// The end of its incarnation was reported.
    Ended,
    /// The leader was not heard any more. Or the lease of the participant's own leadership ran out.
    Silent {
        /// The last sign of life, or the end of the own leadership.
        since: Time,
    },
    /// Another leader announced itself while this one was heard.
    Replaced,
}
