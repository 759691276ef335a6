//! The commands to a group of agents in a test, in a form that can be repeated.
//!
//! Decided here: which commands there are, their form in recordings, and the agents that each names. Most of them are
//! faults, but an agent that joins and a wait for an election are commands too. Not here: their words (`words.rs`), and
//! the effects of each (`testkit::cluster`).

use serde::{Deserialize, Serialize};

use crate::protocol::{AgentId, MemberKind, NewVoter, Score, VoterChange};

/// A command to a cluster. A recorded command has the full names of the agents.
///
/// The text of a command is the same in a script, on the page of faults and in a test that repeats a run:
/// [`FORMS`](Self::FORMS) shows each.
///
/// ```
/// use actix_bully::record::RecordedCommand;
/// let cut: RecordedCommand = "cut agent-1 > agent-2".parse()?;
/// assert_eq!(cut.to_string(), "cut agent-1 > agent-2");
/// assert_eq!(
///     "cut agent-1".parse::<RecordedCommand>().unwrap_err().to_string(),
///     "write `cut agent-1 agent-2` or `cut agent-1 > agent-2`"
/// );
/// # Ok::<(), actix_bully::record::CommandError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum RecordedCommand {
    /// These panic at the same moment.
    Crash(Vec<AgentId>),
    /// These stop at the same moment, without handing over.
    Stop(Vec<AgentId>),
    /// The process of this agent ends at once.
    Kill(AgentId),
    /// This agent begins its next incarnation.
    Restart(AgentId),
    /// This agent handles neither messages nor timers.
    Hang(AgentId),
    /// The process of this agent stands still.
    Freeze(AgentId),
    /// This agent goes on after a hang.
    Resume(AgentId),
    /// The leadership of this agent runs out by its own clock.
    Expire(AgentId),
    /// This agent becomes a member.
    Join {
        /// Its name.
        agent: AgentId,
        /// Voter or observer.
        kind: MemberKind,
        /// Its score; `None` if it cannot be elected.
        score: Option<Score>,
    },
    /// This agent hands over, and leaves for good.
    Leave(AgentId),
    /// This agent has another score from now on.
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
    /// This agent holds an election.
    Campaign(AgentId),
    /// These sides do not reach each other.
    Partition(Vec<Vec<AgentId>>),
    /// The link between two is cut, both ways.
    Cut(AgentId, AgentId),
    /// Messages of the first agent do not reach the second.
    CutOneWay(AgentId, AgentId),
    /// All links of this agent are cut.
    Isolate(AgentId),
    /// The link between two is mended, both ways.
    Mend(AgentId, AgentId),
    /// The isolation of this agent ends.
    Rejoin(AgentId),
    /// Every partition, cut and isolation ends.
    Heal,
    /// The faults of the network for all messages from now on.
    Network(NetworkRecord),
    /// The run waited until it was settled which agents lead.
    Settle,
}

impl RecordedCommand {
    /// The agents that it names, each to be replaced by its full name.
    pub fn agents_mut(&mut self) -> Vec<&mut AgentId> {
        match self {
            Self::Crash(agents) | Self::Stop(agents) => agents.iter_mut().collect(),
            Self::Kill(agent)
            | Self::Restart(agent)
            | Self::Hang(agent)
            | Self::Freeze(agent)
            | Self::Resume(agent)
            | Self::Expire(agent)
            | Self::Join { agent, .. }
            | Self::Leave(agent)
            | Self::Score { agent, .. }
            | Self::StepDown { agent, to: None }
            | Self::ChangeVoters(
                VoterChange::Add(NewVoter { id: agent, .. }) | VoterChange::Remove(agent),
            )
            | Self::Campaign(agent)
            | Self::Isolate(agent)
            | Self::Rejoin(agent) => vec![agent],
            Self::StepDown {
                agent: one,
                to: Some(other),
            }
            | Self::ChangeVoters(VoterChange::Replace {
                old: one,
                new: NewVoter { id: other, .. },
            })
            | Self::Cut(one, other)
            | Self::CutOneWay(one, other)
            | Self::Mend(one, other) => vec![one, other],
            Self::Partition(sides) => sides.iter_mut().flatten().collect(),
            Self::Heal | Self::Network(_) | Self::Settle => Vec::new(),
        }
    }
}

/// The faults of a network; shares are of a thousand, times in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NetworkRecord {
    /// The shortest and the longest time that a message is under way.
    pub delay_ns: (u64, u64),
    /// Share of lost messages.
    pub loss: u16,
    /// Share of messages that arrive twice.
    pub duplication: u16,
    /// Share of messages that are slow.
    pub slow: u16,
    /// Shortest and longest additional delay of slow messages.
    pub slow_by_ns: (u64, u64),
    /// Whether messages may overtake each other.
    pub any_order: bool,
}
