//! The number of messages of one kind.

/// Number of messages of one kind, by fate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MessageCount {
    /// Number of messages that left. A message to several receivers counts once for each.
    pub sent: u64,
    /// Number of messages that never arrive.
    pub lost: u64,
    /// Number of messages that were handled. A duplicate counts again.
    pub delivered: u64,
    /// Number of messages that arrived and were dropped.
    pub dropped: u64,
}
