//! The number of messages of one kind.

/// Number of messages of one kind, by fate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MessageCount {
    /// Messages that left, each receiver counted.
    pub sent: u64,
    /// Number of these that will never arrive.
    pub lost: u64,
    /// Messages that were handled; a duplicate counts again.
    pub delivered: u64,
    /// Messages that arrived and were dropped.
    pub dropped: u64,
}
