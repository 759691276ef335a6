//! The messages of an invitation election.
//!
//! | message | paper | meaning | answered by |
//! |---|---|---|---|
//! | [`AreYouCoordinator`] | `Are-You-Coordinator` | I coordinate this group. Who else is there? | [`CoordinatorReply`] |
//! | [`Invitation`] | `Invitation(j, gn)` | Join this new group. It is passed on to members. | [`Accept`], [`Decline`] |
//! | [`Ready`] | `Ready(i, gn, x)` | The group is formed, and this is its task. | – |
//! | [`AreYouThere`] | `Are-You-There(gn, i)` | Do you coordinate my group, with me in it? | [`There`] |
//! | [`Resign`] | – | I coordinate the group no longer. | – |
//!
//! Every message names a group. All are flat and small; the sender's name and incarnation travel
//! beside them.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::numbered::{ElectionId, Task};
use bully_core::parts::messages;
use bully_core::protocol::{AgentId, MinimumRole, PeerMessage, Score, Term};

/// "I coordinate this group. Who else is there?" To all, again and again: the members of the group also learn from it
/// that their coordinator is there.
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
    /// It coordinates a group.
    Coordinator {
        /// Number of members that the group has beside it.
        members: u32,
    },
    /// It has no group.
    Free,
    /// It has accepted an invitation to this group.
    Joining {
        /// Which one.
        group: ElectionId,
    },
    /// It works in this group.
    Member {
        /// Which one.
        group: ElectionId,
    },
    /// It is forming a group.
    Merging,
}

/// "This is the group that I am in."
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CoordinatorReply {
    /// The asker's group.
    pub group: ElectionId,
    /// The sender's score now; `None` if it cannot be elected, or defers to others.
    pub score: Option<Score>,
    /// Its role in a group.
    pub standing: GroupRole,
    /// The highest count the sender has seen.
    pub seen: Term,
}

/// "Join this new group."
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Invitation {
    /// The new group; it names its coordinator, whichever member passes this on.
    pub group: ElectionId,
    /// That coordinator's score.
    pub score: Score,
}

/// "I join."
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Accept {
    /// The new group.
    pub group: ElectionId,
}

/// "I do not join."
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Decline {
    /// The new group.
    pub group: ElectionId,
    /// The highest count the sender has seen: a group must exceed those it has been in.
    pub seen: Term,
    /// The sender's score now; `None` if it cannot be elected, or defers to others.
    pub score: Option<Score>,
}

/// "The group is formed: work on this task."
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ready {
    /// The group.
    pub group: ElectionId,
    /// The coordinator's score.
    pub score: Score,
    /// The same for all of the group.
    pub task: Task,
}

/// "Do you coordinate my group, and am I in it?"
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AreYouThere {
    /// The group.
    pub group: ElectionId,
}

/// "I do, and you are", or not.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct There {
    /// The group that was asked about.
    pub group: ElectionId,
    /// Whether the asker belongs to it, and the sender coordinates it.
    pub belongs: bool,
}

/// "I coordinate the group no longer": the leadership has ended before this is sent.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Resign {
    /// The group.
    pub group: ElectionId,
    /// The agent that shall form the next group, without waiting.
    pub successor: Option<AgentId>,
}

messages! {
    /// All messages of an invitation election.
    pub enum InvitationMessage {
        AreYouCoordinator(m) => "are_you_coordinator", m.group.count;
        #[serde(rename = "place")]
        CoordinatorReply(m) => "place", m.group.count.max(m.seen).max(m.standing.count());
        Invitation(m) => "invitation", m.group.count;
        Accept(m) => "accept", m.group.count;
        Decline(m) => "decline", m.group.count.max(m.seen);
        Ready(m) => "ready", m.group.count;
        AreYouThere(m) => "are_you_there", m.group.count;
        There(m) => "there", m.group.count;
        Resign(m) => "resign", m.group.count;
    }
}

impl InvitationMessage {
    /// The group that it is about.
    pub fn group(&self) -> &ElectionId {
        match self {
            Self::AreYouCoordinator(m) => &m.group,
            Self::CoordinatorReply(m) => &m.group,
            Self::Invitation(m) => &m.group,
            Self::Accept(m) => &m.group,
            Self::Decline(m) => &m.group,
            Self::Ready(m) => &m.group,
            Self::AreYouThere(m) => &m.group,
            Self::There(m) => &m.group,
            Self::Resign(m) => &m.group,
        }
    }
}

impl InvitationMessage {
    /// Returns whether only the coordinator of the group that it names may say this.
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

impl PeerMessage for InvitationMessage {
    fn kind(&self) -> &'static str {
        self.name()
    }

    fn needs(&self, from: &AgentId) -> MinimumRole {
        match self {
            // An observer sends this about a group that is older than the last one it knew.
            Self::Decline(_) => MinimumRole::Observer,
            // A member passes its coordinator's invitation on.
            Self::Invitation(m) if m.group.id != *from => MinimumRole::Voter,
            Self::CoordinatorReply(_) | Self::Accept(_) | Self::AreYouThere(_) | Self::There(_) => {
                MinimumRole::Voter
            }
            Self::AreYouCoordinator(_) | Self::Invitation(_) | Self::Ready(_) | Self::Resign(_) => {
                MinimumRole::Leader
            }
        }
    }

    fn term(&self) -> Option<Term> {
        Some(self.term())
    }

    /// The check goes on for ever.
    fn is_repeated(&self) -> bool {
        matches!(self, Self::AreYouCoordinator(_) | Self::CoordinatorReply(_))
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
    /// The count of the group that it names.
    const fn count(&self) -> Term {
        match self {
            Self::Joining { group } | Self::Member { group } => group.count,
            Self::Coordinator { .. } | Self::Free | Self::Merging => Term::ZERO,
        }
    }
}
