//! The fate of one message, and the counts of fates.

use std::fmt;

use bully_core::protocol::Time;

/// The fate of one message; see [`Network::fate`](super::Network::fate).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It never arrives.
    Lost(Loss),
    /// It arrives, at least once.
    Arrives(Arrivals),
}

/// Why a message never arrives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Loss {
    /// Bad luck.
    Chance,
    /// The link is cut in this direction.
    Cut,
    /// The two are on different sides of a partition.
    Partition,
    /// The sender or the receiver is cut off from all members.
    Isolation,
    /// Messages of this kind are dropped.
    Ignored,
}

impl fmt::Display for Loss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Chance => "bad luck",
            Self::Cut => "cut",
            Self::Partition => "partition",
            Self::Isolation => "isolation",
            Self::Ignored => "ignored",
        })
    }
}

/// The times at which a message arrives: one, or more where it was duplicated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrivals {
    first: Time,
    again: [Option<Time>; Self::MOST - 1],
}

impl Arrivals {
    /// Maximum number of copies of one message.
    pub const MOST: usize = 4;

    /// It arrives once.
    pub const fn once(at: Time) -> Self {
        Self {
            first: at,
            again: [None; Self::MOST - 1],
        }
    }

    /// Adds a copy, unless there are [`MOST`](Self::MOST).
    pub(super) fn add(&mut self, at: Time) {
        if let Some(free) = self.again.iter_mut().find(|slot| slot.is_none()) {
            *free = Some(at);
        }
    }

    /// When the first copy was meant to arrive.
    pub const fn first(&self) -> Time {
        self.first
    }

    /// Every arrival; the copies' order is not that of their times where reordering is allowed.
    pub fn iter(&self) -> impl Iterator<Item = Time> + '_ {
        std::iter::once(self.first).chain(self.again.iter().copied().flatten())
    }
}

/// Number of messages by fate, to show that a fault really happened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Messages that were sent.
    pub sent: u64,
    /// Lost by bad luck.
    pub lost: u64,
    /// Lost to a cut link.
    pub cut: u64,
    /// Lost to a partition.
    pub partitioned: u64,
    /// Lost because one end was isolated.
    pub isolated: u64,
    /// Lost because their kind was ignored.
    pub ignored: u64,
    /// Messages that arrived more than once.
    pub duplicated: u64,
    /// Messages that were held for long.
    pub slow: u64,
    /// Arrivals ahead of a message sent before on the same link.
    pub reordered: u64,
}

impl Tally {
    pub(super) const fn lose(&mut self, why: Loss) {
        let count = match why {
            Loss::Chance => &mut self.lost,
            Loss::Cut => &mut self.cut,
            Loss::Partition => &mut self.partitioned,
            Loss::Isolation => &mut self.isolated,
            Loss::Ignored => &mut self.ignored,
        };
        *count = count.saturating_add(1);
    }

    /// Messages lost because the network kept two members apart.
    pub const fn separated(&self) -> u64 {
        self.cut
            .saturating_add(self.partitioned)
            .saturating_add(self.isolated)
    }
}
