//! Errors of a group, and of a membership in it.

use std::{fmt, sync::Arc};

use crate::protocol::{AgentId, Electorate, IdError, Rules};

/// The reason why a group cannot be made.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum GroupError {
    /// The name breaks the rules, which are the rules of an agent's name.
    #[error("the group's name is not valid: {0} (the rules are those of an agent's name)")]
    Name(#[source] IdError),
    /// The name has the ending that this crate uses for its own groups.
    #[error(
        "the group's name {name} ends in \"!messages\", which is kept for messages of applications: choose another end"
    )]
    Reserved {
        /// The requested name.
        name: AgentId,
    },
}

debug_is_text!(GroupError);

/// The reason why a membership in a group is refused. Nothing was changed.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum JoinError {
    /// The name is in use.
    #[error(
        "{id} is a member of group {group} already, held by {holder}: choose another name, or let that member leave first"
    )]
    Taken {
        /// The requested name.
        id: AgentId,
        /// The group's name.
        group: AgentId,
        /// The place of the member that has the name.
        holder: Holder,
    },
    /// The members follow other rules.
    #[error(
        "group {group} elects by the {theirs} rules and {id} by the {mine} rules: start all members of a group with the same rules"
    )]
    Rules {
        /// The requested name.
        id: AgentId,
        /// The group's name.
        group: AgentId,
        /// The rules of the members.
        theirs: Rules,
        /// The rules of the agent that wants to join.
        mine: Rules,
    },
    /// The members are in another epoch, which has another list of voters.
    #[error(
        "group {group} has the list of voters of epoch {theirs}, and {id} has the list of epoch {mine}: give all members the same list and the same `epoch`; stop every member with the old list before you start a member with the new list"
    )]
    Epoch {
        /// The requested name.
        id: AgentId,
        /// The group's name.
        group: AgentId,
        /// The epoch of the members.
        theirs: u64,
        /// The epoch of the agent that wants to join.
        mine: u64,
    },
    /// The members have other voters or quorums in the same epoch.
    #[error(
        "group {group} has in epoch {epoch} {}, and {id} has {}{unshared}: give all members the same voters and quorums; if they have to change, stop all members, and raise `epoch` by 1 at each",
        Voters(theirs.as_deref()), Voters(mine.as_deref())
    )]
    Voters {
        /// The requested name.
        id: AgentId,
        /// The group's name.
        group: AgentId,
        /// The epoch of the members and of the agent that wants to join.
        epoch: u64,
        /// The voters of the members.
        theirs: Option<Box<Electorate>>,
        /// The voters of the agent that wants to join.
        mine: Option<Box<Electorate>>,
        /// The voters that only one side has, at most five names of each side.
        unshared: Box<str>,
    },
}

debug_is_text!(JoinError);

/// The reason why a group is not opened to other hosts. Nothing was changed.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// A member's store is lost with this process, but other hosts would rely on that store.
    #[error(
        "{id} keeps its votes in memory and would forget them with its process: give it a FileStore before its group reaches other hosts"
    )]
    Volatile {
        /// The agent that has the store.
        id: AgentId,
    },
    /// A member began before the group was opened.
    ///
    /// After a restart of the process, the new incarnation would look like the former incarnation.
    #[error(
        "{id} has joined already: start the bridge that carries the group first, then the agents; otherwise other hosts cannot tell an agent from its former incarnation"
    )]
    TooLate {
        /// The agent that began before.
        id: AgentId,
    },
}

debug_is_text!(OpenError);

/// The process in which the member with a name runs.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Holder {
    /// In this process.
    Here,
    /// On another node, with the name of its route.
    Node(Arc<str>),
}

impl fmt::Display for Holder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Here => f.write_str("this process"),
            Self::Node(name) => write!(f, "node {name}"),
        }
    }
}

/// Voters, in the words of an error text.
struct Voters<'a>(Option<&'a Electorate>);

impl fmt::Display for Voters<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(voters) => voters.fmt(f),
            None => f.write_str("no list of voters"),
        }
    }
}
