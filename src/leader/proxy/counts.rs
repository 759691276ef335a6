//! What became of a proxy's messages.

use serde::Serialize;

/// What became of the messages of one [`LeaderProxy`](super::LeaderProxy), so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct ProxyCounts {
    /// Handed to an actor of a leader, as far as is known.
    pub delivered: u64,
    /// Dropped for newer ones, because the buffer was full.
    pub dropped: u64,
    /// Refused: the buffer was full, the message too long, or the agent has ended.
    pub refused: u64,
    /// Sent, and nothing is known of them: never sent again.
    pub unknown: u64,
    /// Lost on their way several times, and given up.
    pub undeliverable: u64,
    /// Those that wait at present, or are on their way.
    pub waiting: u64,
}
