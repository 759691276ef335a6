//! The messages of a reorganization: the five calls of 1982 and their answers.
//!
//! | call | paper | meaning | answered by |
//! |---|---|---|---|
//! | [`AreYouThere`] | `Are-You-There(i)` | Are you up? | [`There`], always |
//! | [`AreYouNormal`] | `Are-You-Normal(i)` | Do you work under me? | [`Normal`], [`NotNormal`] |
//! | [`Halt`] | `Halt(i, j)` | Stop, and obey no other agent. | [`Ack`], [`Nack`] |
//! | [`NewCoordinator`] | `New-Coordinator(i, j)` | I coordinate: reorganize. | [`Ack`], [`Nack`] |
//! | [`Ready`] | `Ready(i, x)` | This is the task: work. | [`Ack`], [`Nack`] |
//! | [`Resign`] | – | I no longer coordinate. | – |
//!
//! Every message contains its election. So the paper's assumption that messages arrive in order is not needed, and a
//! late answer is recognized. All messages are flat and small; the sender's name and incarnation travel beside them.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::numbered::{ElectionId, Task};
use bully_core::parts::messages;
use bully_core::protocol::{AgentId, Score, Term};

/// "Are you up?" Every state answers it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AreYouThere {
    /// The election that the asker wants to hold. From a member that misses its coordinator: the coordinator's
    /// election.
    pub election: ElectionId,
    /// The asker's score; `None` if it cannot be elected.
    pub score: Option<Score>,
}

/// "I am up."
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct There {
    /// The election in the question.
    pub election: ElectionId,
    /// The sender's present score; `None` if it cannot be elected, or cools down and lets others lead.
    pub score: Option<Score>,
    /// Whether the sender coordinates by this election.
    pub coordinates: bool,
    /// The highest count that the sender has seen.
    pub seen: Term,
}

/// "Do you work under me?" Only a coordinator asks this, again and again.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AreYouNormal {
    /// The election by which the sender coordinates.
    pub election: ElectionId,
    /// The coordinator's score.
    pub score: Score,
}

/// "I work under you."
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Normal {
    /// The coordinator's election.
    pub election: ElectionId,
}

/// "I do not work under you."
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NotNormal {
    /// The election in the question.
    pub election: ElectionId,
    /// The highest count that the sender has seen.
    pub seen: Term,
}

/// "Stop your work, and obey no agent below me."
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Halt {
    /// The sender's election.
    pub election: ElectionId,
    /// The sender's score.
    pub score: Score,
}

/// "I coordinate: reorganize under me."
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NewCoordinator {
    /// The sender's election.
    pub election: ElectionId,
}

/// "This is the task: work."
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ready {
    /// The sender's election.
    pub election: ElectionId,
    /// The coordinator's score.
    pub score: Score,
    /// The task, which is the same for all members.
    pub task: Task,
}

/// A call of a coordinator, or of an agent that wants to coordinate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Call {
    /// See [`Halt`].
    Halt,
    /// See [`NewCoordinator`].
    NewCoordinator,
    /// See [`Ready`].
    Ready,
}

/// The answer to a call that the sender of the answer has carried out.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ack {
    /// The call that this answers.
    pub call: Call,
    /// The caller's election.
    pub election: ElectionId,
}

/// The answer to a call that the sender of the answer refuses, with the reason.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Nack {
    /// The call that this answers.
    pub call: Call,
    /// The caller's election.
    pub election: ElectionId,
    /// The highest count that the sender has seen.
    pub seen: Term,
    /// The sender's present score; `None` if it cannot be elected, or cools down and lets others lead.
    pub score: Option<Score>,
}

/// "I no longer coordinate." The sender has ended its leadership before it sends this.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Resign {
    /// The election that has ended.
    pub election: ElectionId,
    /// The agent that shall hold the next election at once.
    pub successor: Option<AgentId>,
}

messages! {
    /// All messages of a reorganization.
    pub enum ReorganizationMessage of election: ElectionId {
        AreYouThere(m) => "are_you_there", m.election.count, by Voter;
        There(m) => "there", m.election.count.max(m.seen), by Voter or Leader if m.coordinates;
        // The two messages below are sent again and again.
        AreYouNormal(m) => "are_you_normal", m.election.count, by Leader, repeated;
        Normal(m) => "normal", m.election.count, by Voter, repeated;
        // An observer sends this message to a coordinator if it knows a later election than the coordinator's election.
        NotNormal(m) => "not_normal", m.election.count.max(m.seen), by Observer;
        Halt(m) => "halt", m.election.count, by Leader;
        NewCoordinator(m) => "new_coordinator", m.election.count, by Leader;
        Ready(m) => "ready", m.election.count, by Leader;
        Ack(m) => m.call.ack(), m.election.count, by Voter;
        Nack(m) => m.call.nack(), m.election.count.max(m.seen), by Voter;
        Resign(m) => "resign", m.election.count, by Leader;
    }
}

impl ReorganizationMessage {
    /// Returns whether only the agent that holds the election of this message may send the message.
    pub(super) const fn is_call(&self) -> bool {
        match self {
            Self::Halt(_)
            | Self::NewCoordinator(_)
            | Self::Ready(_)
            | Self::AreYouNormal(_)
            | Self::Resign(_) => true,
            Self::AreYouThere(_)
            | Self::There(_)
            | Self::Normal(_)
            | Self::NotNormal(_)
            | Self::Ack(_)
            | Self::Nack(_) => false,
        }
    }
}

impl fmt::Display for Call {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Halt => "halt",
            Self::NewCoordinator => "new coordinator",
            Self::Ready => "ready",
        })
    }
}

impl fmt::Display for ReorganizationMessage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let election = self.election();
        match self {
            Self::AreYouThere(_) => write!(f, "are you there? {election}"),
            Self::There(m) if m.score.is_none() => write!(f, "there, not standing {election}"),
            Self::There(_) => write!(f, "there {election}"),
            Self::AreYouNormal(_) => write!(f, "are you normal? {election}"),
            Self::Normal(_) => write!(f, "normal {election}"),
            Self::NotNormal(_) => write!(f, "not normal {election}"),
            Self::Halt(m) => write!(f, "halt {election} score {}", m.score),
            Self::NewCoordinator(_) => write!(f, "new coordinator {election}"),
            Self::Ready(m) => write!(f, "ready {election} task {}", m.task),
            Self::Ack(m) => write!(f, "{} ack {election}", m.call),
            Self::Nack(m) => write!(f, "{} nack {election}, knows {}", m.call, m.seen),
            Self::Resign(m) => {
                write!(f, "resign {election}")?;
                let successor = m.successor.as_ref();
                successor.map_or(Ok(()), |id| write!(f, " for {id}"))
            }
        }
    }
}

impl Call {
    /// Returns the kind of the call's acknowledgement. Each call has a kind of its own, because a newer message may
    /// replace a waiting message of the same kind.
    const fn ack(self) -> &'static str {
        match self {
            Self::Halt => "halt_ack",
            Self::NewCoordinator => "new_coordinator_ack",
            Self::Ready => "ready_ack",
        }
    }

    const fn nack(self) -> &'static str {
        match self {
            Self::Halt => "halt_nack",
            Self::NewCoordinator => "new_coordinator_nack",
            Self::Ready => "ready_nack",
        }
    }
}
