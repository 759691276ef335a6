//! How often each thing happened: a loss that is not counted is a riddle.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use crate::remote::{Closed, DropReason};

/// One counter for each reason; shared by all links of a bridge, read at any time.
#[derive(Debug, Default)]
pub struct BridgeCounters {
    closed: [AtomicU64; Closed::NAMES.len()],
    dropped: [AtomicU64; DropReason::NAMES.len()],
}

impl BridgeCounters {
    /// All at zero.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Counts a link that was closed.
    pub fn closed(&self, why: Closed) {
        count(self.closed.get(why.index()));
    }

    /// Counts a message that was dropped.
    pub fn dropped(&self, why: DropReason) {
        count(self.dropped.get(why.index()));
    }

    /// The numbers as they are now.
    #[must_use]
    pub fn read(&self) -> BridgeCounts {
        BridgeCounts {
            closed: self.closed.each_ref().map(|n| n.load(Relaxed)),
            dropped: self.dropped.each_ref().map(|n| n.load(Relaxed)),
        }
    }
}

fn count(counter: Option<&AtomicU64>) {
    if let Some(counter) = counter {
        counter.fetch_add(1, Relaxed);
    }
}

/// What was counted so far, by the names of [`Closed`] and `DropReason`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BridgeCounts {
    closed: [u64; Closed::NAMES.len()],
    dropped: [u64; DropReason::NAMES.len()],
}

impl BridgeCounts {
    /// How many links were closed for that reason, whatever its details.
    #[must_use]
    pub fn closed(&self, why: Closed) -> u64 {
        self.closed.get(why.index()).copied().unwrap_or_default()
    }

    /// How many messages were dropped for that reason.
    #[must_use]
    #[cfg(feature = "testkit")]
    pub fn dropped(&self, why: DropReason) -> u64 {
        self.dropped.get(why.index()).copied().unwrap_or_default()
    }

    /// Every name with its number: links closed first, then messages dropped.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, u64)> + '_ {
        let closed = Closed::NAMES.iter().zip(&self.closed);
        let dropped = DropReason::NAMES.iter().zip(&self.dropped);
        closed.chain(dropped).map(|(name, n)| (*name, *n))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::remote::wire::WireError;

    #[test]
    fn each_reason_is_counted_under_its_name() {
        let counters = BridgeCounters::new();
        counters.closed(Closed::Malformed(WireError::Truncated));
        counters.closed(Closed::Malformed(WireError::Trailing));
        counters.dropped(DropReason::FormerIncarnation);
        let counts = counters.read();
        assert_eq!(counts.closed(WireError::Depth.into()), 2);
        assert_eq!(counts.dropped(DropReason::FormerIncarnation), 1);
        let counted: Vec<_> = counts.iter().filter(|(_, n)| *n > 0).collect();
        assert_eq!(counted, [("malformed", 2), ("former_incarnation", 1)]);
    }
}
