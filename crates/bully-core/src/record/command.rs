//! What can be done to a group of agents in a test, so that it can be done again.
//!
//! Decided here: how each command is written in the format, and the agents that it names. Not here: what it does
//! (`testkit::cluster`), and its words in a script and in Rust (`script`, `rust_test`).

use serde::{Deserialize, Serialize};

use crate::protocol::{AgentId, MemberKind, Score, VoterChange};

/// A command that was given to a cluster, with the full names of the agents.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum RecordedCommand {
    /// These panic at the same moment.
    Crash(Vec<AgentId>),
    /// These stop at the same moment, without handing over.
    Stop(Vec<AgentId>),
    /// The process of this one ends at once.
    Kill(AgentId),
    /// This one begins its next incarnation.
    Restart(AgentId),
    /// This one handles neither messages nor timers.
    Hang(AgentId),
    /// The process of this one stands still.
    Freeze(AgentId),
    /// This one goes on after a hang.
    Resume(AgentId),
    /// The leadership of this one runs out by its own clock.
    Expire(AgentId),
    /// This one becomes a member.
    Join {
        /// Its name.
        agent: AgentId,
        /// Voter or observer.
        kind: MemberKind,
        /// Its score; `None` if it cannot be elected.
        score: Option<Score>,
    },
    /// This one hands over, and leaves for good.
    Leave(AgentId),
    /// This one has another score from now on.
    Score {
        /// Its name.
        agent: AgentId,
        /// The score; `None` if it can no longer be elected.
        score: Option<Score>,
    },
    /// The leader hands over.
    StepDown {
        /// The leader.
        agent: AgentId,
        /// The agent that shall lead next, if one was named.
        to: Option<AgentId>,
    },
    /// The voters of a quorum are changed.
    ChangeVoters(VoterChange),
    /// This one holds an election.
    Campaign(AgentId),
    /// These sides do not reach each other.
    Partition(Vec<Vec<AgentId>>),
    /// The link between two is cut, both ways.
    Cut(AgentId, AgentId),
    /// What the first says does not reach the second.
    CutOneWay(AgentId, AgentId),
    /// All links of this one are cut.
    Isolate(AgentId),
    /// The link between two is mended, both ways.
    Mend(AgentId, AgentId),
    /// The isolation of this one ends.
    Rejoin(AgentId),
    /// Every partition, cut and isolation ends.
    Heal,
    /// What the network does to all messages from now on.
    Network(NetworkRecord),
    /// It was waited until it was settled which agents lead.
    Settle,
}

impl RecordedCommand {
    /// How long the longest list is that it holds: what is read is bounded.
    pub(super) fn longest_list(&self) -> usize {
        match self {
            Self::Crash(agents) | Self::Stop(agents) => agents.len(),
            Self::Partition(sides) => {
                let longest = sides.iter().map(Vec::len).max().unwrap_or(0);
                longest.max(sides.len())
            }
            Self::Kill(_)
            | Self::Restart(_)
            | Self::Hang(_)
            | Self::Freeze(_)
            | Self::Resume(_)
            | Self::Expire(_)
            | Self::Join { .. }
            | Self::Leave(_)
            | Self::Score { .. }
            | Self::StepDown { .. }
            | Self::ChangeVoters(_)
            | Self::Campaign(_)
            | Self::Cut(..)
            | Self::CutOneWay(..)
            | Self::Isolate(_)
            | Self::Mend(..)
            | Self::Rejoin(_)
            | Self::Heal
            | Self::Network(_)
            | Self::Settle => 0,
        }
    }
}

/// What a network does to messages; shares are of a thousand, times in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NetworkRecord {
    /// The shortest and the longest time that a message is under way.
    pub delay_ns: (u64, u64),
    /// How many messages are lost.
    pub loss: u16,
    /// How many messages arrive twice.
    pub duplication: u16,
    /// How many messages are held for longer.
    pub slow: u16,
    /// And by how much longer.
    pub slow_by_ns: (u64, u64),
    /// Whether messages may overtake each other.
    pub any_order: bool,
}
