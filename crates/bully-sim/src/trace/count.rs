//! How many messages there were, of one kind.

/// How many messages of one kind met which fate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MessageCount {
    /// Messages that left, each receiver counted.
    pub sent: u64,
    /// Of these, how many will never arrive.
    pub lost: u64,
    /// Messages that were handled; a duplicate counts again.
    pub delivered: u64,
    /// Messages that arrived and were dropped.
    pub dropped: u64,
}
