//! The outcomes of a proxy's messages.

use serde::Serialize;

/// The outcomes of the messages of one [`LeaderProxy`](super::LeaderProxy), so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct ProxyCounts {
    /// Messages that an actor of a leader received, as far as is known.
    pub delivered: u64,
    /// Refused messages: the buffer was full, the message too long, or the agent has ended.
    pub refused: u64,
    /// Messages that were sent, and whose outcome is unknown. They are never sent again.
    pub unknown: u64,
    /// Messages that were lost on their way several times, and given up.
    pub undeliverable: u64,
    /// Messages that wait at present, or are on their way.
    pub waiting: u64,
}
