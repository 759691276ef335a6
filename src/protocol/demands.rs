//! What an election asks of those who take part, before anybody starts.

use super::{AgentId, Electorate};

/// What an agent must bring so that its election can keep its promise.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Demands {
    /// The name of the rules; all members of a group follow the same.
    pub mode: &'static str,
    /// What the rules rest on.
    pub needs: Needs,
    /// Which choice of voters the configuration is: only members of the same hear each other. 0
    /// where there are none to choose.
    pub epoch: u64,
    /// The voters and quorums; `None` where there are none to choose. All members of an epoch have
    /// the same.
    pub voters: Option<Electorate>,
}

impl Demands {
    /// Whether members of both can be in one group: what each [needs](Self::needs) is its own.
    pub fn are_like(&self, other: &Self) -> bool {
        let key = |demands: &Self| (demands.mode, demands.epoch, demands.voters);
        key(self) == key(other)
    }
}

impl Default for Demands {
    fn default() -> Self {
        Self {
            mode: "available",
            needs: Needs::Nothing,
            epoch: 0,
            voters: None,
        }
    }
}

/// What the rules of an election rest on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Needs {
    /// Nothing but messages and timers.
    #[default]
    Nothing,
    /// A record that survives a crash.
    Record,
    /// A record that survives a crash, and a clock that counts a suspended host.
    RecordAndClock,
}

/// Why somebody cannot take part as the configuration says.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Misfit {
    /// A voter that the list of voters does not name.
    #[error(
        "{id} is not among the voters: add it to the list, at every member, or start it as an observer"
    )]
    NotListed {
        /// Its name.
        id: AgentId,
    },
    /// An observer that the list of voters names.
    #[error("{id} is an observer and among the voters: take it off the list, at every member")]
    ListedObserver {
        /// Its name.
        id: AgentId,
    },
    /// A voter that took part in a later epoch, by its record.
    #[error(
        "{id} has taken part in epoch {found} and cannot go back to {epoch}: start it with the configuration of epoch {found} or later"
    )]
    LaterEpoch {
        /// Its name.
        id: AgentId,
        /// The epoch of its record.
        found: u64,
        /// The epoch of the configuration.
        epoch: u64,
    },
}
