//! Another list of voters for a group that runs: questions, decisions and refusals.
//!
//! The types that the application, the machines and the wire have in common. The election that has voters
//! ([`quorum`](crate::elections::quorum)) decides by which rules one list follows another.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::{AgentId, StoreId, Term};

/// A change of the voters of a group that runs: one voter at a time.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum VoterChange {
    /// One voter more.
    Add(NewVoter),
    /// One voter less.
    Remove(AgentId),
    /// One voter in the place of another, as one decision.
    Replace {
        /// The agent that votes no longer.
        old: AgentId,
        /// The agent that votes instead.
        new: NewVoter,
    },
}

/// A voter, and how its host is reached if others may not know that yet.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NewVoter {
    /// The name.
    pub id: AgentId,
    /// Its host; `None` where each host knows it already.
    pub contact: Option<Contact>,
}

/// The contact of a voter's host. It means nothing to an election: bridges use it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Contact {
    /// The node's name; at most 256 bytes.
    pub node: String,
    /// Its address; at most 256 bytes.
    pub address: String,
}

/// A list of voters that a quorum of the list before has decided.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Decree {
    /// Its number: one more than that of the list before.
    pub epoch: u64,
    /// The voters, in the order of their names.
    pub voters: Vec<NewVoter>,
    /// Qv, if it is not a majority.
    pub vote_quorum: Option<u32>,
    /// Ql, if it is not a majority.
    pub lease_quorum: Option<u32>,
}

/// A change that was made, or had been made before.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Changed {
    /// The epoch of the list.
    pub epoch: u64,
    /// The voters now.
    pub voters: Vec<AgentId>,
    /// Whether the group had the list already, and nothing was changed.
    pub already: bool,
}

impl Changed {
    /// Returns whether the number of voters is even: one voter more would cost nothing, since no more of an even
    /// number may be down than of the odd number below it.
    pub fn is_even(&self) -> bool {
        self.voters.len().is_multiple_of(2)
    }
}

/// Events of the voters, as one agent sees them.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum VotersEvent {
    /// This list holds from now on. An agent whose record knows a later list than its configuration also sends this
    /// once.
    Installed(Decree),
    /// This agent leads and was asked to make an agent a voter that it has not heard. The question names the host of
    /// that agent. A carrier of messages to other hosts may connect to it.
    Wanted(NewVoter),
    /// The answer to a change that this agent was asked for.
    Answered {
        /// The change that was asked for.
        change: VoterChange,
        /// The outcome.
        outcome: Result<Changed, ChangeError>,
    },
    /// A voter comes with another store than the store with which it took part in this epoch: its messages do not count
    /// here. If it is this agent itself, another voter has reported that.
    OtherStore {
        /// The voter.
        id: AgentId,
        /// The store with which it took part.
        kept: StoreId,
        /// The store that it has now.
        found: StoreId,
    },
    /// This agent's record is an old copy: another voter received a later vote or acknowledgement from it than the
    /// record knows. It takes no part any more, and its driver ends it.
    OldRecord {
        /// The voter that heard it.
        by: AgentId,
        /// The term of the record.
        term: Term,
        /// The term in which this agent was heard.
        heard: Term,
    },
}

/// The reason why the voters are not changed.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, thiserror::Error)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
#[non_exhaustive]
pub enum ChangeError {
    /// The leader changes the voters already, or steps down.
    #[error("the leader changes the voters already, or steps down: ask again when that is over")]
    UnderWay,
    /// The agent to replace is not a voter.
    #[error("{id} is no voter: name one that is")]
    NotAVoter {
        /// The name.
        id: AgentId,
    },
    /// The agent that shall replace another one votes already.
    #[error("{id} is a voter already: remove the other one instead")]
    AlreadyAVoter {
        /// The name.
        id: AgentId,
    },
    /// The group would have no voter.
    #[error("the last voter cannot be removed: replace it, or add another one first")]
    LastVoter,
    /// The new voter did not tell the leader of late that it could become a voter: it is down, cannot reach the leader,
    /// or is an observer without a store.
    #[error(
        "{id} was not heard as a learner: start it with a store and `.learner()`, then ask again"
    )]
    NotSeen {
        /// The name.
        id: AgentId,
    },
    /// Too few of the present voters, or of those of the next list, are there: no agent could be elected afterwards.
    #[error(
        "the leader hears {heard} of the {needed} voters that would be needed then: add one that is up, or bring one back, first"
    )]
    NoQuorum {
        /// The voters that the leader heard of late, and itself.
        heard: u32,
        /// The larger quorum.
        needed: u32,
    },
    /// The agent that was asked may only observe, as the leader's host was told.
    #[error("the leader's host lets this agent only observe: ask an agent that may vote")]
    NotAllowed,
    /// More voters than a record has room for.
    #[error("{voters} voters are too many: at most {most}")]
    TooMany {
        /// Number of voters of the new list.
        voters: u32,
        /// The most.
        most: u32,
    },
    /// Names and contacts are longer than a record has room for.
    #[error("names and contacts of {len} bytes are too long: at most {most} together")]
    TooLong {
        /// Size of the list.
        len: u32,
        /// The most.
        most: u32,
    },
    /// The epochs have come to their end.
    #[error("there is no epoch after {epoch}: begin a new group")]
    NoEpoch {
        /// The present epoch.
        epoch: u64,
    },
    /// The quorums that were asked for by number do not fit that many voters.
    #[error(
        "the quorums of the configuration do not fit {voters} voters: change the voters in a new epoch, with other quorums"
    )]
    Quorums {
        /// Number of voters of the new list.
        voters: u32,
    },
    /// Voters without a disk cannot seal an epoch: they would forget it.
    #[error("voters without a disk are not changed while they run: begin a new epoch")]
    Diskless,
}

impl Decree {
    /// The names of the voters.
    pub fn names(&self) -> impl Iterator<Item = &AgentId> {
        self.voters.iter().map(|voter| &voter.id)
    }
}

impl VoterChange {
    /// Returns the agent that votes from then on, and the agent that no longer does.
    pub fn parts(&self) -> (Option<&NewVoter>, Option<&AgentId>) {
        match self {
            Self::Add(new) => (Some(new), None),
            Self::Remove(old) => (None, Some(old)),
            Self::Replace { old, new } => (Some(new), Some(old)),
        }
    }
}

impl fmt::Display for VoterChange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Add(new) => write!(f, "add {}", new.id),
            Self::Remove(old) => write!(f, "remove {old}"),
            Self::Replace { old, new } => write!(f, "replace {old} by {}", new.id),
        }
    }
}

impl fmt::Display for Decree {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "epoch {}:", self.epoch)?;
        self.names().try_for_each(|id| write!(f, " {id}"))
    }
}

impl fmt::Display for VotersEvent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Installed(decree) => write!(f, "has the voters of {decree}"),
            Self::Wanted(new) => write!(f, "wants to hear {}", new.id),
            Self::Answered {
                change,
                outcome: Ok(changed),
            } => write!(f, "did {change}, epoch {}", changed.epoch),
            Self::Answered {
                change,
                outcome: Err(reason),
            } => write!(f, "did not {change}: {reason}"),
            Self::OtherStore { id, kept, found } => write!(
                f,
                "{id} has voted with another store ({kept}, now {found}): raise the epoch, or give the new host a new name"
            ),
            Self::OldRecord { by, term, heard } => write!(
                f,
                "the record is an old copy, of term {term}: {by} heard this agent later, in term {heard}; bring the newest \
                 record back, or raise the epoch, or give this agent a new name"
            ),
        }
    }
}
