//! The commands to a group of agents in a test, in a form that can be repeated.
//!
//! Decided here: which commands exist, their form in recordings, and the agents in each command. Many commands are
//! faults, but a command may also add an agent or wait for an election. Not here: the words of a command (`words.rs`),
//! and the effects of a command (`testkit::cluster`).

use serde::{Deserialize, Serialize};

use crate::protocol::{AgentId, MemberKind, NewVoter, Score, VoterChange};

/// A command to a cluster. A recorded command contains the full names of the agents.
///
/// The text of a command is the same in a script, on the page of faults and in a test that repeats a run:
/// [`FORMS`](Self::FORMS) shows the form of each command.
///
/// ```
/// use bully_core::record::RecordedCommand;
/// let cut: RecordedCommand = "cut agent-1 > agent-2".parse()?;
/// assert_eq!(cut.to_string(), "cut agent-1 > agent-2");
/// assert_eq!(
///     "cut agent-1".parse::<RecordedCommand>().unwrap_err().to_string(),
///     "the words after `cut` do not fit it: write `cut agent-1 agent-2` or `cut agent-1 > agent-2`"
/// );
/// # Ok::<(), bully_core::record::CommandError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum RecordedCommand {
    /// The listed agents panic at the same moment.
    Crash(Vec<AgentId>),
    /// The listed agents stop at the same moment, without a hand-over.
    Stop(Vec<AgentId>),
    /// The process of this agent ends at once.
    Kill(AgentId),
    /// This agent begins its next incarnation.
    Restart(AgentId),
    /// This agent handles neither messages nor timers.
    Hang(AgentId),
    /// Nothing in the process of this agent runs until [`Resume`](Self::Resume).
    Freeze(AgentId),
    /// This agent runs again after [`Hang`](Self::Hang) or [`Freeze`](Self::Freeze).
    Resume(AgentId),
    /// The leadership of this agent ends at this moment by its own clock.
    Expire(AgentId),
    /// This agent becomes a member.
    Join {
        /// The name of the agent.
        agent: AgentId,
        /// Voter or observer.
        kind: MemberKind,
        /// The score of the agent; `None` if it cannot be elected.
        score: Option<Score>,
    },
    /// This agent hands over, and ends its membership.
    Leave(AgentId),
    /// This agent has another score from now on.
    Score {
        /// The name of the agent.
        agent: AgentId,
        /// The score; `None` if it can no longer be elected.
        score: Option<Score>,
    },
    /// The leader hands over.
    StepDown {
        /// The leader that hands over.
        agent: AgentId,
        /// The agent that shall lead next, if the command names one.
        to: Option<AgentId>,
    },
    /// The list of voters of a quorum changes.
    ChangeVoters(VoterChange),
    /// This agent holds an election.
    Campaign(AgentId),
    /// The listed sides cannot reach each other.
    Partition(Vec<Vec<AgentId>>),
    /// The link between two agents is cut in both directions.
    Cut(AgentId, AgentId),
    /// Messages of the first agent do not reach the second.
    CutOneWay(AgentId, AgentId),
    /// All links of this agent are cut.
    Isolate(AgentId),
    /// The link between two agents is restored in both directions.
    Mend(AgentId, AgentId),
    /// The isolation of this agent ends.
    Rejoin(AgentId),
    /// Every partition, cut and isolation ends.
    Heal,
    /// The network has these faults for all messages from now on.
    Network(NetworkRecord),
    /// The run waits until it is settled which agents lead.
    Settle,
}

impl RecordedCommand {
    /// Returns the agents in the command, so that each can be replaced by its full name.
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

/// The faults of a network. Shares are in thousandths, times in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NetworkRecord {
    /// Shortest and longest time for which a message is on its way.
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
