//! All searches, with the expected end of each.
//!
//! Decided here: the limits of each search. The numbers of states are in `states.txt`. A number that changes without a
//! change of the rules shows a fault of the model. After a change of the rules, look at the difference and write the
//! numbers anew.

mod diskless;
mod invitation;
mod lease;
mod memory;
mod others;
mod quorum;
mod sentinel;
mod set;
mod soak;
mod threshold;
mod voters;
mod without_time;

use crate::{case::Case, states};

/// Searches that answer the same question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Group {
    /// What happens without synchrony?
    WithoutTime,
    /// How long must the deadline be?
    Threshold,
    /// Is the quorum election safe?
    Quorum,
    /// Is the quorum election safe where sentinels report ends, and does the search find notices that report too much?
    Sentinel,
    /// Is it safe where the network is a set of messages?
    Set,
    /// Is it safe where a voter loses its store?
    Memory,
    /// Is it safe where voters have no disk?
    Diskless,
    /// Is it safe while its voters change?
    Voters,
    /// Does a lease in a store have one holder?
    Lease,
    /// Do the other elections keep what they promise?
    Others,
    /// Does the invitation election agree within each group?
    Invitation,
    /// The same questions as above, much further.
    Soak,
}

impl Group {
    /// All groups, in order.
    pub const ALL: [Self; 12] = [
        Self::WithoutTime,
        Self::Threshold,
        Self::Quorum,
        Self::Sentinel,
        Self::Set,
        Self::Memory,
        Self::Diskless,
        Self::Voters,
        Self::Lease,
        Self::Others,
        Self::Invitation,
        Self::Soak,
    ];

    /// Returns the name of the group on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::WithoutTime => "without-time",
            Self::Threshold => "threshold",
            Self::Quorum => "quorum",
            Self::Sentinel => "sentinel",
            Self::Set => "set",
            Self::Memory => "memory",
            Self::Diskless => "diskless",
            Self::Voters => "voters",
            Self::Lease => "lease",
            Self::Others => "others",
            Self::Invitation => "invitation",
            Self::Soak => "soak",
        }
    }

    /// Returns the question that the group answers.
    pub fn question(self) -> &'static str {
        match self {
            Self::WithoutTime => "Without time: any timer may fire, any message may wait for ever",
            Self::Threshold => "Plain bully: messages take D ticks at most, the deadline is T",
            Self::Quorum => "Quorum election, three voters",
            Self::Sentinel => "Quorum election, three voters with sentinels",
            Self::Set => "Quorum election, three voters, messages that arrive late and twice",
            Self::Memory => "Quorum election, three voters, of which one loses its store",
            Self::Diskless => "Quorum election, three voters without a disk",
            Self::Voters => "Quorum election, three voters that change",
            Self::Lease => "A lease in a store, two agents and a register",
            Self::Others => "The other elections, three voters",
            Self::Invitation => "Invitation election: agreement within each group, not one leader",
            Self::Soak => "Further",
        }
    }

    /// Returns the searches of the group.
    pub fn cases(self) -> Vec<Case> {
        let cases = match self {
            Self::WithoutTime => without_time::cases(),
            Self::Threshold => threshold::cases(),
            Self::Quorum => quorum::cases(),
            Self::Sentinel => sentinel::cases(),
            Self::Set => set::cases(),
            Self::Memory => memory::cases(),
            Self::Diskless => diskless::cases(),
            Self::Voters => voters::cases(),
            Self::Lease => lease::cases(),
            Self::Others => others::cases(),
            Self::Invitation => invitation::cases(),
            Self::Soak => soak::cases(),
        };
        states::known(self.name(), cases)
    }
}
