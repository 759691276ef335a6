//! The messages of an invitation election.
//!
//! | message | paper | meaning | answered by |
//! |---|---|---|---|
//! | [`AreYouCoordinator`] | `Are-You-Coordinator` | I coordinate this group. Which other agents are up? | [`CoordinatorReply`] |
//! | [`Invitation`] | `Invitation(j, gn)` | Join this new group. An invited coordinator passes this on to its members. | [`Accept`], [`Decline`] |
//! | [`Ready`] | `Ready(i, gn, x)` | The group is formed, and this is its task. | – |
//! | [`AreYouThere`] | `Are-You-There(gn, i)` | Do you coordinate my group, and am I in it? | [`There`] |
//! | [`Resign`] | – | I no longer coordinate the group. | – |
//!
//! Every message contains a group. All messages are flat and small; the sender's name and incarnation travel beside
//! them.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::numbered::{ElectionId, Task};
use bully_core::parts::messages;
use bully_core::protocol::{AgentId, Score, Term};

/// "I coordinate this group. Which other agents are up?" This question is sent to all agents again and again. From the
/// question the members of the group also learn that their coordinator is up.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AreYouCoordinator {
    /// The sender's group.
    pub group: ElectionId,
    /// The coordinator's score.
    pub score: Score,
}

/// The role of a voter in a group.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
#[non_exhaustive]
pub enum GroupRole {
    /// The voter coordinates a group.
    Coordinator {
        /// Number of members of the group that the voter coordinates, without itself.
        members: u32,
    },
    /// The voter is in no group.
    Free,
    /// The voter has accepted an invitation to this group.
    Joining {
        /// The group that it joins.
        group: ElectionId,
    },
    /// The voter works in this group.
    Member {
        /// The group in which it works.
        group: ElectionId,
    },
    /// The voter is forming a group.
    Merging,
}

/// "This is the group in which I am."
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CoordinatorReply {
    /// The asker's group, as in the question.
    pub group: ElectionId,
    /// The sender's present score; `None` if it cannot be elected, or lets others lead first.
    pub score: Option<Score>,
    /// The sender's role in a group.
    pub standing: GroupRole,
    /// The highest count that the sender has seen.
    pub seen: Term,
}

/// "Join this new group."
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Invitation {
    /// The new group. Its id contains the name of the coordinator, even if a member passes the message on.
    pub group: ElectionId,
    /// The score of the coordinator of the new group.
    pub score: Score,
}

/// "I join."
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Accept {
    /// The new group, as in the invitation.
    pub group: ElectionId,
}

/// "I do not join."
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Decline {
    /// The new group, as in the invitation.
    pub group: ElectionId,
    /// The highest count that the sender has seen: a new group must have a higher count.
    pub seen: Term,
    /// The sender's present score; `None` if it cannot be elected, or lets others lead first.
    pub score: Option<Score>,
}

/// "The group is formed: work on this task."
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ready {
    /// The new group, which is formed now.
    pub group: ElectionId,
    /// The coordinator's score.
    pub score: Score,
    /// The task, which is the same for all members of the group.
    pub task: Task,
}

/// "Do you coordinate my group, and am I in it?"
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AreYouThere {
    /// The group in which the asker is.
    pub group: ElectionId,
}

/// The answer to [`AreYouThere`].
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct There {
    /// The group in the question.
    pub group: ElectionId,
    /// Whether the sender coordinates the asker's group and the asker is a member of it.
    pub belongs: bool,
}

/// "I no longer coordinate the group." The sender has ended its leadership before it sends this.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Resign {
    /// The group that the sender coordinated.
    pub group: ElectionId,
    /// The agent that shall form the next group at once.
    pub successor: Option<AgentId>,
}

messages! {
    /// All messages of an invitation election.
    pub enum InvitationMessage of group: ElectionId {
        // A coordinator never stops this check.
        AreYouCoordinator(m) => "are_you_coordinator", m.group.count, by Leader, repeated;
        #[serde(rename = "place")]
        CoordinatorReply(m) => "place", m.group.count.max(m.seen).max(m.standing.count()), by Voter, repeated;
        // A member passes its coordinator's invitation on.
        Invitation(m, from) => "invitation", m.group.count, by Voter or Leader if m.group.id == *from;
        Accept(m) => "accept", m.group.count, by Voter;
        // An observer sends this if it already knows a later group than the announced one.
        Decline(m) => "decline", m.group.count.max(m.seen), by Observer;
        Ready(m) => "ready", m.group.count, by Leader;
        AreYouThere(m) => "are_you_there", m.group.count, by Voter;
        There(m) => "there", m.group.count, by Voter;
        Resign(m) => "resign", m.group.count, by Leader;
    }
}

impl InvitationMessage {
    /// Returns whether only the coordinator of the message's group may send this.
    pub(super) const fn is_of_coordinator(&self) -> bool {
        match self {
            Self::AreYouCoordinator(_) | Self::Ready(_) | Self::Resign(_) => true,
            Self::CoordinatorReply(_)
            | Self::Invitation(_)
            | Self::Accept(_)
            | Self::Decline(_)
            | Self::AreYouThere(_)
            | Self::There(_) => false,
        }
    }
}

impl Accept {
    pub(super) fn to(group: &ElectionId) -> Self {
        let group = group.clone();
        Self { group }
    }
}

impl fmt::Display for InvitationMessage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let group = self.group();
        match self {
            Self::AreYouCoordinator(_) => write!(f, "are you coordinator? of {group}"),
            Self::CoordinatorReply(m) => write!(f, "{} (to {group})", m.standing),
            Self::Invitation(m) => write!(f, "invitation to {group} score {}", m.score),
            Self::Accept(_) => write!(f, "accepts {group}"),
            Self::Decline(m) => write!(f, "declines {group}, knows {}", m.seen),
            Self::Ready(m) => write!(f, "ready {group} task {}", m.task),
            Self::AreYouThere(_) => write!(f, "are you there? in {group}"),
            Self::There(m) if m.belongs => write!(f, "there, in {group}"),
            Self::There(_) => write!(f, "not in {group}"),
            Self::Resign(m) => {
                write!(f, "resign {group}")?;
                let successor = m.successor.as_ref();
                successor.map_or(Ok(()), |id| write!(f, " for {id}"))
            }
        }
    }
}

impl fmt::Display for GroupRole {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Coordinator { members } => write!(f, "coordinates {members}"),
            Self::Free => f.write_str("free"),
            Self::Joining { group } => write!(f, "joins {group}"),
            Self::Member { group } => write!(f, "member of {group}"),
            Self::Merging => f.write_str("merging"),
        }
    }
}

impl GroupRole {
    /// Returns the count of the group in this role.
    const fn count(&self) -> Term {
        match self {
            Self::Joining { group } | Self::Member { group } => group.count,
            Self::Coordinator { .. } | Self::Free | Self::Merging => Term::ZERO,
        }
    }
}
