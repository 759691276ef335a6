//! The fate of one message, and the number of messages by fate.

use std::fmt;

use bully_core::protocol::Time;

/// The fate of one message; see [`Network::fate`](super::Network::fate).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// The message never arrives.
    Lost(Loss),
    /// The message arrives, at least once.
    Arrives(Arrivals),
}

/// The reason why a message never arrives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Loss {
    /// The message is lost by chance.
    Chance,
    /// The link is cut in this direction.
    Cut,
    /// The sender and the receiver are on different sides of a partition.
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

/// The times at which a message arrives: one time, or more if it was duplicated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrivals {
    first: Time,
    again: [Option<Time>; Self::MOST - 1],
}

impl Arrivals {
    /// Largest number of copies of one message.
    pub const MOST: usize = 4;

    /// Returns the arrival of a message that arrives once.
    pub const fn once(at: Time) -> Self {
        Self {
            first: at,
            again: [None; Self::MOST - 1],
        }
    }

    /// Adds a copy, unless the message has [`MOST`](Self::MOST) copies already.
    pub(super) fn add(&mut self, at: Time) {
        if let Some(free) = self.again.iter_mut().find(|slot| slot.is_none()) {
            *free = Some(at);
        }
    }

    /// Returns the arrival of the message itself. A copy may arrive earlier if messages may overtake each other.
    pub const fn first(&self) -> Time {
        self.first
    }

    /// Returns every arrival. If messages may overtake each other, the arrivals are not in the order of their times.
    pub fn iter(&self) -> impl Iterator<Item = Time> + '_ {
        std::iter::once(self.first).chain(self.again.iter().copied().flatten())
    }
}

/// Number of messages by fate. The numbers show whether a fault really happened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Number of messages that were sent.
    pub sent: u64,
    /// Number of messages lost by chance.
    pub lost: u64,
    /// Number of messages lost to a cut link.
    pub cut: u64,
    /// Number of messages lost to a partition.
    pub partitioned: u64,
    /// Number of messages lost because the sender or the receiver was isolated.
    pub isolated: u64,
    /// Number of messages lost because their kind was ignored.
    pub ignored: u64,
    /// Number of messages that arrived more than once.
    pub duplicated: u64,
    /// Number of messages with an additional delay.
    pub slow: u64,
    /// Number of arrivals before a message that was sent earlier on the same link.
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

    /// Returns the number of messages lost because the network separated two members.
    pub const fn separated(&self) -> u64 {
        self.cut
            .saturating_add(self.partitioned)
            .saturating_add(self.isolated)
    }
}
