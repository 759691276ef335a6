//! Changes of the list of voters while a group runs: questions, decisions and refusals.
//!
//! Decided here: the types that the application, the machines and the wire share. Not here: the rules by which one list
//! follows another; they belong to the election that has voters ([`quorum`](crate::elections::quorum)).

use std::fmt;

use serde::{Deserialize, Serialize};

use super::{AgentId, Incarnation, StoreId, Term};

/// A change of the voters of a running group, by one voter at a time.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum VoterChange {
    /// Adds one voter.
    Add(NewVoter),
    /// Removes one voter.
    Remove(AgentId),
    /// Replaces one voter by another, as one decision.
    Replace {
        /// The agent that votes no longer.
        old: AgentId,
        /// The agent that votes instead.
        new: NewVoter,
    },
}

/// A voter, and the contact of its host for hosts that may not know it yet.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NewVoter {
    /// The name of the voter.
    pub id: AgentId,
    /// Contact of the voter's host; `None` if each host knows the contact already.
    pub contact: Option<Contact>,
}

/// The contact of a voter's host. Bridges use the contact; an election ignores it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Contact {
    /// The node's name; at most 256 bytes.
    pub node: String,
    /// The node's address; at most 256 bytes.
    pub address: String,
}

/// A list of voters that a quorum of the previous list has decided on.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Decree {
    /// The number of this list: the number of the previous list plus one.
    pub epoch: u64,
    /// The voters, in the order of their names.
    pub voters: Vec<NewVoter>,
    /// Qv, the number of votes that elect a leader; `None` for a majority.
    pub vote_quorum: Option<u32>,
    /// Ql, the number of acknowledgements that keep a leadership; `None` for a majority.
    pub lease_quorum: Option<u32>,
}

/// The outcome of a change that was made now or earlier.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Changed {
    /// The epoch of the list after the change.
    pub epoch: u64,
    /// The voters after the change.
    pub voters: Vec<AgentId>,
    /// Whether the group already had the requested list, so that nothing was changed.
    pub already: bool,
}

impl Changed {
    /// Returns whether the number of voters is even. In a group with an even number of voters, no more voters may be
    /// down than in a group with one voter fewer.
    pub fn is_even(&self) -> bool {
        self.voters.len().is_multiple_of(2)
    }
}

/// Events of the voters, as one agent sees them.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum VotersEvent {
    /// This list is in force from now on. An agent whose record has a later list than its configuration also reports
    /// this once.
    Installed(Decree),
    /// This agent leads and was asked to make another agent a voter, but has not heard from that agent. The request
    /// contains the contact of the agent's host, so the carrier of messages can connect to it.
    Wanted(NewVoter),
    /// The answer to a change that was requested from this agent.
    Answered {
        /// The change that was asked for.
        change: VoterChange,
        /// The outcome of the request: the present voters, or the reason for a refusal.
        outcome: Result<Changed, ChangeError>,
    },
    /// A voter has another store than the store by which this agent knows the voter, so this agent does not count the
    /// voter's messages. If `id` is this agent itself, another voter has reported the other store.
    OtherStore {
        /// The name of the voter.
        id: AgentId,
        /// The store with which the voter took part in this epoch, as far as this agent heard; or the store of `later`.
        kept: StoreId,
        /// The store with which the voter takes part now.
        found: StoreId,
        /// The incarnation of a later process with this name, which took part with the store `kept`. Only messages of
        /// earlier incarnations do not count. `None` if the voter took part with `kept`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        later: Option<Incarnation>,
    },
    /// This agent's record is an old copy: another voter has received a later vote or acknowledgement from this agent
    /// than the record contains. This agent takes part no longer, and its driver ends it.
    OldRecord {
        /// The voter that received the later vote or acknowledgement.
        by: AgentId,
        /// The term of this agent's record.
        term: Term,
        /// The term of the later vote or acknowledgement.
        heard: Term,
    },
}

/// The reason why the voters are not changed.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, thiserror::Error)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
#[non_exhaustive]
pub enum ChangeError {
    /// The leader is already changing the voters, or it steps down.
    #[error("the leader is already changing the voters, or it steps down: ask again later")]
    UnderWay,
    /// The agent to replace is not a voter.
    #[error("{id} is not in the list of voters: name an agent of that list")]
    NotAVoter {
        /// The name of the agent.
        id: AgentId,
    },
    /// The agent that shall replace another voter is a voter already.
    #[error(
        "{id} is a voter already, so it cannot replace another voter: remove that voter without a replacement"
    )]
    AlreadyAVoter {
        /// The name of the voter.
        id: AgentId,
    },
    /// The group would have no voter.
    #[error("the last voter cannot be removed: replace it, or add another voter first")]
    LastVoter,
    /// The new voter did not report to the leader recently that it could become a voter: it is down, cannot reach the
    /// leader, or is an observer without a store.
    #[error(
        "the leader has not heard {id} as a learner: start it with a store and `.learner()` (in a configuration `quorum.learner = true`), name its node and address if the leader does not list its node as a peer, then ask again"
    )]
    NotSeen {
        /// The name of the agent that should become a voter.
        id: AgentId,
    },
    /// The leader hears too few voters of the present list or of the next list: no agent could be elected after the
    /// change.
    #[error(
        "the changed group needs {needed} voters, and the leader hears {heard}: first start a voter again, or add an agent that is up"
    )]
    NoQuorum {
        /// Number of voters that the leader heard recently, including itself.
        heard: u32,
        /// The larger quorum of the present and the next list.
        needed: u32,
    },
    /// The leader's host allows the agent that was asked only to observe.
    #[error(
        "the leader's host lets this agent only observe: ask another agent, or widen the `rights` of this node in the `peers` of the leader's node"
    )]
    NotAllowed,
    /// The new list has more voters than a record has room for.
    #[error("{voters} voters exceed the limit of {most}: remove a voter first")]
    TooMany {
        /// Number of voters of the new list.
        voters: u32,
        /// Largest number of voters in a list.
        most: u32,
    },
    /// The name or the address of a contact is too long, or a record has too little room for the new list.
    #[error(
        "the contact, or the list of all voters, has {len} bytes, and the limit is {most}: shorten it"
    )]
    TooLong {
        /// Length of the name or of the address, or size of the list, in bytes.
        len: u32,
        /// The limit for it, in bytes.
        most: u32,
    },
    /// The present epoch has the largest possible number.
    #[error(
        "the epoch {epoch} is the last possible number of a list of voters, so the list cannot change: start the agents in a group with another name"
    )]
    NoEpoch {
        /// The present epoch.
        epoch: u64,
    },
    /// The quorums that the configuration states as numbers do not fit the new number of voters.
    #[error(
        "the configured `vote_quorum` or `lease_quorum` does not fit {voters} voters: stop all voters, write the new list, other quorums and an `epoch` higher by 1 into every configuration, and start them"
    )]
    Quorums {
        /// Number of voters of the new list.
        voters: u32,
    },
    /// Voters without a disk cannot seal an epoch (end it durably), because they would forget the seal.
    #[error(
        "a list of voters without a disk cannot change while they run: stop all voters, write the new list and an `epoch` higher by 1 into every configuration, and start them"
    )]
    Diskless,
}

impl Decree {
    /// Returns the names of the voters.
    pub fn names(&self) -> impl Iterator<Item = &AgentId> {
        self.voters.iter().map(|voter| &voter.id)
    }
}

impl VoterChange {
    /// Returns the agent that becomes a voter, and the agent that is removed.
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
            Self::OtherStore {
                id,
                kept,
                found,
                later: Some(_),
            } => write!(
                f,
                "{id} is not heard with the store {found}: a later process with its name was here, with the store {kept}; \
                 stop the process with the wrong store, and restart the other"
            ),
            Self::OtherStore {
                id,
                kept,
                found,
                later: None,
            } => write!(
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
