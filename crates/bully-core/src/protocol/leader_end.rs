//! How a participant noticed the end of a leadership, for the history and the metrics.
//!
//! Decided here: the kinds of such an end. No election depends on these kinds.

use super::Time;

/// How a participant noticed the end of a leadership; see [`Election::last_end`](super::Election::last_end).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LeaderEnd {
    /// The leader has announced that it handed over.
    Resigned,
    /// The end of the leader's incarnation was reported.
    Ended,
    /// The leader was not heard any more; or the lease of the participant's own leadership ran out.
    Silent {
        /// The time of the leader's last message, or of the end of the participant's own leadership.
        since: Time,
    },
    /// Another leader announced itself while the leader was still heard.
    Replaced,
}
