//! The order of the findings.
//!
//! Decided here: only the order. Findings that end an agent come first, then findings that keep it from leading, then
//! remarks.

use super::Finding;

impl Finding {
    /// Returns the position of the finding; a smaller number is worse.
    pub(super) const fn order(&self) -> u8 {
        match self {
            Self::Ended => 0,
            Self::Down => 1,
            Self::Hangs { .. } => 2,
            Self::StoreFails { .. }
            | Self::OldRecord { .. }
            | Self::RegisterFails { .. }
            | Self::RegisterTakesNoWrites { .. }
            | Self::RegisterForeign { .. } => 3,
            Self::StoreIsSlow { .. } | Self::WorkFails { .. } | Self::NothingRuns { .. } => 4,
            Self::ClockIsSlow | Self::Schedule(_) => 5,
            Self::RulesDiffer { .. } => 6,
            Self::ListOlder { .. } | Self::OtherListOlder { .. } => 7,
            Self::NodeNameTwice { .. } | Self::PeerNameTwice { .. } | Self::OtherStore { .. } => 8,
            Self::AgentNameTwice { .. } | Self::TwoOfOneName { .. } => 9,
            Self::FewVoters { .. } => 10,
            Self::PeerUnlinked { .. }
            | Self::PeerLacksGroup { .. }
            | Self::ClockAhead { .. }
            | Self::ClocksApart { .. } => 11,
            Self::EchoTooLong { .. }
            | Self::RegisterIsSlow { .. }
            | Self::RegisterListsNobody { .. }
            | Self::WriteTooLong { .. }
            | Self::RenewsLate { .. }
            | Self::Stalls { .. } => 12,
            Self::NoneEligible => 13,
            Self::TieBroken => 14,
            Self::NoScore => 15,
            Self::LeaderUnreachable { .. } | Self::LeaderUnlinked { .. } => 16,
            Self::VotersAway { .. } => 17,
            Self::CoolsDown { .. } => 18,
            Self::Waits { .. } => 19,
            Self::Recovers { .. } => 20,
            Self::Starting => 21,
            Self::NotAsked => 22,
            Self::VotersChange { .. } => 23,
            Self::ElectionUnderWay { .. } => 24,
            Self::Drains => 25,
            Self::Outranked { .. } => 26,
            Self::HighestLeads { .. } | Self::HoldsLease { .. } => 27,
            Self::Observer => 28,
            Self::Learner { .. } => 29,
            Self::ConfigurationOlder { .. } => 30,
            Self::EvenVoters { .. } => 31,
            Self::TimingsDiffer { .. } => 32,
            Self::FasterFits { .. } => 33,
        }
    }
}
