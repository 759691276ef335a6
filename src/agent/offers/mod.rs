//! The offers of each mode: the properties of an election on which features, such as schedules, can rely.
//!
//! ```text
//!   mode, links ─▶ Offers ──check(Feature)──▶ the feature starts
//!                    │                   └──▶ NotOffered: the missing offer, and the setting that provides it
//!                    └─▶ the table on the page of `leader`
//! ```
//!
//! Decided here: the offers of each mode, as data. Not here: the need of a feature (`feature.rs`), and the words of a
//! refusal (`lack.rs`).

mod asked;
mod feature;
mod lack;
#[cfg(test)]
mod tests;

pub use feature::Feature;
#[cfg(feature = "testkit")]
pub use lack::Lack;
#[cfg(not(feature = "testkit"))]
use lack::Lack;
pub use lack::NotOffered;

use crate::protocol::{Leaders, Requirements};

/// The properties that an agent offers to features such as schedules. They depend on the agent's mode, and on whether a
/// bridge carries the agent's group.
///
/// ```
/// use actix_bully::{Group, agent::{BullyAgent, Feature}, register::FileRegister};
///
/// # actix::System::new().block_on(async {
/// # let folder = tempfile::tempdir()?;
/// let group = Group::new("jobs")?;
/// let store = FileRegister::open(folder.path())?;
/// let agent = BullyAgent::builder("api-1").lease(store).join(&group).start()?;
/// // No bridge carries the group.
/// let refused = agent.offers().check(Feature::LeaderProxy).unwrap_err();
/// assert!(refused.to_string().contains("`listen` and `[[peers]]`"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # }).unwrap();
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub struct Offers {
    /// The agents that could lead.
    pub(crate) contenders: Contenders,
    /// The path of an application's message to the agent that leads.
    pub(crate) carrier: Carrier,
    /// The keeper of the marks, from which the next leader learns which work the last leader began.
    pub(crate) keeps: Keeps,
    /// The protection that a leadership's token gives.
    pub tokens: Tokens,
    /// The list of voters.
    pub(crate) voters: VoterList,
    /// Whether preemption and a margin can be set.
    pub(crate) has_policy: bool,
    /// Whether the rules let the agent of the highest rank lead. The rules of an application's election are unknown.
    pub(crate) is_by_rank: bool,
}

/// The agents that could lead, as far as an agent knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Contenders {
    /// The members of the group.
    Members,
    /// The agents that have a record in the store of the lease.
    Store,
}

/// The path of an application's message to the agent that leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Carrier {
    /// All agents are in this process.
    Process,
    /// The links of a bridge.
    Links,
    /// No message of an application reaches the agent that leads.
    None,
}

/// The keeper of the marks, from which the next leader learns which work the last leader began.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Keeps {
    /// A majority of the voters.
    Voters,
    /// The store that has the lease.
    Store,
    /// The members that received the marks.
    BestEffort,
}

/// The protection that a leadership's token gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Tokens {
    /// The token is a [`Fence`](crate::agent::Fence).
    Fence,
    /// The token is a [`ConditionalFence`](crate::agent::ConditionalFence): a fence as long as no clock is set back.
    Conditional,
    /// The token is only an [`Epoch`](crate::agent::Epoch): it distinguishes an old announcement from a new one, but
    /// protects nothing.
    Epoch,
}

/// The list of voters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum VoterList {
    /// The list can be changed while the group runs.
    Changes,
    /// The list is the same until all agents have stopped.
    Fixed,
    /// The mode has no list.
    None,
}

/// The modes that differ in their offers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ElectionMode {
    Available,
    Astra,
    Quorum,
    Diskless,
    /// A lease in a store that no other process reaches.
    LeaseInMemory,
    /// A lease in a store that other processes may reach: files, PostgreSQL, etcd, Kubernetes, or a store of the application.
    LeaseInStore,
    /// An election that the application implements, or one from the literature (`bully-classics`).
    Own {
        has_voters: bool,
        leaders: Leaders,
    },
}

impl ElectionMode {
    /// Returns the mode of an election of the application, or of the literature (crate `bully-classics`).
    pub(super) fn own(requirements: &Requirements) -> Self {
        Self::Own {
            has_voters: requirements.voters.is_some(),
            leaders: requirements.leaders,
        }
    }

    const fn carrier(self, has_links: bool) -> Carrier {
        match (self, has_links) {
            (_, true) => Carrier::Links,
            (Self::LeaseInStore, false) => Carrier::None, // its agents share only the store
            (
                Self::Available
                | Self::Astra
                | Self::Quorum
                | Self::Diskless
                | Self::LeaseInMemory
                | Self::Own { .. },
                false,
            ) => Carrier::Process,
        }
    }

    /// Returns the offers of this mode. `has_links` is `true` if a bridge carries the group.
    pub(crate) const fn offers(self, has_links: bool) -> Offers {
        let carrier = self.carrier(has_links);
        let usual = Offers {
            contenders: Contenders::Members,
            carrier,
            keeps: Keeps::BestEffort,
            tokens: Tokens::Epoch,
            voters: VoterList::None,
            has_policy: true,
            is_by_rank: true,
        };
        match self {
            Self::Available => usual,
            Self::Astra => Offers {
                has_policy: false,
                ..usual
            },
            Self::Quorum => Offers {
                keeps: Keeps::Voters,
                tokens: Tokens::Fence,
                voters: VoterList::Changes,
                ..usual
            },
            Self::Diskless => Offers {
                keeps: Keeps::Voters,
                tokens: Tokens::Conditional,
                voters: VoterList::Fixed,
                ..usual
            },
            Self::LeaseInMemory | Self::LeaseInStore => Offers {
                contenders: Contenders::Store,
                keeps: Keeps::Store,
                tokens: Tokens::Fence,
                ..usual
            },
            Self::Own {
                has_voters,
                leaders,
            } => Offers {
                keeps: if has_voters {
                    Keeps::Voters
                } else {
                    Keeps::BestEffort
                },
                tokens: match leaders {
                    Leaders::PerTerm => Tokens::Fence,
                    Leaders::PerInstant => Tokens::Conditional,
                    Leaders::PerSide | Leaders::Unpromised => Tokens::Epoch,
                },
                is_by_rank: false,
                ..usual
            },
        }
    }
}
