//! The reason why a feature is refused: the missing offer, and the setting that provides it.
//!
//! Decided here: the words of a refusal. They name the setting too, so that a user need not search for it.

use std::fmt;

use super::Feature;

/// A feature is refused, because the mode of its agent lacks an offer that the feature needs. Nothing was changed.
#[derive(Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{feature} needs {}: {}", .lack.missing(), .lack.provided_by())]
#[non_exhaustive]
pub struct NotOffered {
    /// The feature.
    pub(crate) feature: Feature,
    /// The missing offer.
    pub(crate) lack: Lack,
}

debug_is_text!(NotOffered);

impl NotOffered {
    /// Returns the missing offer.
    #[cfg(feature = "testkit")]
    pub const fn lack(self) -> Lack {
        self.lack
    }
}

/// A guarantee that features need, and that some modes of an agent (bully, quorum, lease) do not give.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Lack {
    /// No message of an application reaches the agent that leads.
    Carrier,
    /// The agents themselves keep the marks of schedules, and no command can remove these marks.
    StoredMarks,
    /// The token of a leadership cannot protect a resource from writes of a former leader.
    Fence,
    /// The token of a leadership is a fence only under a condition.
    FenceWithoutCondition,
    /// The election has no list of voters.
    Voters,
    /// The list of voters does not change while the group runs.
    VotersThatChange,
    /// The rules have neither preemption nor a margin.
    Policy,
}

impl Lack {
    /// Returns the missing offer, in words.
    pub(super) const fn missing(self) -> &'static str {
        match self {
            Self::Carrier => {
                "a way for messages to the agent that leads, and agents that only share a store have none"
            }
            Self::StoredMarks => {
                "the progress of schedules (their marks) in a store, and the agents of this group keep it themselves"
            }
            Self::Fence => {
                "at most one leader in each term, and this election does not promise that"
            }
            Self::FenceWithoutCondition => {
                "at most one leader in each term whatever the clocks show, and voters without a disk do not promise that"
            }
            Self::Voters => "a list of voters, and this election has none",
            Self::VotersThatChange => {
                "a list of voters that changes, and a list of voters without a disk cannot change while they run"
            }
            Self::Policy => {
                "a choice of when the leader changes, and the rules of ASTRA allow none"
            }
        }
    }

    /// Returns the setting that provides the offer, or the way to do without it.
    pub(super) const fn provided_by(self) -> &'static str {
        match self {
            Self::Carrier => {
                "add a bridge, by the keys `listen` and `[[peers]]` of the configuration, or by a `RemoteBridge` that carries the group and is started before its agents"
            }
            Self::StoredMarks => {
                "give the schedule another name to begin anew, or elect by `.lease(..)`"
            }
            Self::Fence => "elect by `.quorum([..])` and `.store(..)`, or by `.lease(..)`",
            Self::FenceWithoutCondition => {
                "give each voter a `.store(..)` in place of `.diskless()` (in a configuration: `store_file` in place of `diskless`), or accept the condition by `conditional_fence().accept()`"
            }
            Self::Voters => "elect by `.quorum([..])` and `.store(..)`",
            Self::VotersThatChange => {
                "give each voter a `.store(..)` in place of `.diskless()`, or stop all voters and start them with the new list"
            }
            Self::Policy => "remove `.astra()`",
        }
    }
}

impl fmt::Display for Feature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
