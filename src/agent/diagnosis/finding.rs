//! One thing that a diagnosis found, in types and in a sentence that says what to do.
//!
//! Decided here: what can be found, which finding is worse, and its words. Not here: when something is found
//! (`judge.rs`).

use std::{fmt, time::Duration};

use serde::Serialize;

use crate::protocol::{AgentId, Role, shown};

use super::{
    NotLeading,
    words::{Article, ChangeWords, Names, RecoveryWords, Span, UnlinkedWords, WriteWords},
};

/// One thing that a [`Diagnosis`](super::Diagnosis) found. As text it is one sentence that says what to do.
///
/// As JSON it has its name as `kind`, its fields, and the sentence as `text`; spans are milliseconds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Finding {
    /// The agent left or ended for good.
    Ended,
    /// The agent crashed, and its restart policy decides whether it comes back.
    Down,
    /// The agent has done nothing for so long, although it has timers: its thread is blocked, or its host is
    /// overloaded.
    Hangs {
        /// For how long. As JSON: `silent_ms`.
        #[serde(rename = "silent_ms", serialize_with = "shown::millis")]
        silent_for: Duration,
    },
    /// The store failed last time.
    StoreFails {
        /// What it said.
        reason: String,
        /// How long ago. As JSON: `since_ms`.
        #[serde(rename = "since_ms", serialize_with = "shown::millis")]
        since: Duration,
    },
    /// A record is on its way to the store for longer than an election should take.
    StoreIsSlow {
        /// For how long. As JSON: `since_ms`.
        #[serde(rename = "since_ms", serialize_with = "shown::millis")]
        since: Duration,
    },
    /// The agent's clock goes far slower than the timers.
    ClockIsSlow,
    /// Another node follows other rules in this group, is of another epoch or has other voters: nothing crosses
    /// between the two.
    RulesDiffer {
        /// The node.
        node: String,
        /// What its agents follow.
        theirs: String,
        /// What the agents here follow.
        mine: String,
    },
    /// Another node's agents name a later epoch of the voters than this agent, so nothing that one says to the other
    /// counts.
    ListOlder {
        /// The node.
        node: String,
        /// The epoch of its agents.
        theirs: u64,
        /// The epoch of this agent.
        mine: u64,
    },
    /// Two processes say that they are that node: one is linked, and a later one was refused in the last minute.
    PeerNameTwice {
        /// The node.
        node: String,
    },
    /// Another process has the name of this node, or had it later.
    NodeNameTwice {
        /// The node that refused this one.
        node: String,
        /// What it said.
        error: String,
    },
    /// Another node has an agent of a name that another agent has here.
    AgentNameTwice {
        /// The node.
        node: String,
        /// The name.
        agent: AgentId,
    },
    /// Fewer voters can be reached than are needed.
    FewVoters {
        /// So many can be reached, the agent itself included.
        reachable: u32,
        /// So many there are.
        all: u32,
        /// So many are needed.
        needed: u32,
        /// Those that cannot be reached, as far as their names are known here.
        missing: Vec<AgentId>,
    },
    /// A node that the group is carried to is not linked.
    PeerUnlinked {
        /// Its name.
        node: String,
        /// What is dialled; `None` if it has to dial.
        address: Option<String>,
        /// The last error.
        error: Option<String>,
        /// Since when, counted back from now. As JSON: `since_ms`.
        #[serde(rename = "since_ms", serialize_with = "shown::millis")]
        since: Duration,
    },
    /// Messages take longer than the timings assume.
    EchoTooLong {
        /// The node.
        node: String,
        /// How long a question to it and the answer took. As JSON: `echo_ms`.
        #[serde(rename = "echo_ms", serialize_with = "shown::millis")]
        echo: Duration,
        /// How long the timings let a message take, one way. As JSON: `assumed_ms`.
        #[serde(rename = "assumed_ms", serialize_with = "shown::millis")]
        assumed: Duration,
        /// The timings, where they are a preset.
        preset: Option<&'static str>,
        /// The fastest preset that fits, if any does.
        advice: Option<&'static str>,
    },
    /// There is no leader, and the store writes for so long that the round that asks for votes may be over before they come.
    WriteTooLong {
        /// How long a write took of late. As JSON: `write_ms`.
        #[serde(rename = "write_ms", serialize_with = "shown::millis")]
        write: Duration,
        /// How long a round of questions lasts by the timings. As JSON: `round_ms`.
        #[serde(rename = "round_ms", serialize_with = "shown::millis")]
        round: Duration,
        /// The fastest preset that fits, if any does.
        advice: Option<&'static str>,
    },
    /// No member that can be reached may be elected.
    NoneEligible,
    /// This agent is not eligible, because the actor that it is tied to is gone.
    TieBroken,
    /// This agent is not eligible, because it has no score.
    NoScore,
    /// This agent is an observer.
    Observer,
    /// This agent lets others go first, because it stepped down.
    CoolsDown {
        /// For how long still. As JSON: `left_ms`.
        #[serde(rename = "left_ms", serialize_with = "shown::millis")]
        left: Duration,
    },
    /// This agent has started, or its leader is gone, and it waits before it holds an election.
    Waits {
        /// For how long still. As JSON: `left_ms`.
        #[serde(rename = "left_ms", serialize_with = "shown::millis")]
        left: Duration,
    },
    /// This agent keeps no record, and takes no part until others have said what they remember.
    Recovers {
        /// For how long it abstains still; zero if it only waits for answers. As JSON: `left_ms`.
        #[serde(rename = "left_ms", serialize_with = "shown::millis")]
        left: Duration,
        /// So many of the other voters have answered.
        answers: u32,
        /// So many of these recover themselves, and remember nothing.
        recover: u32,
        /// So many that remember are needed.
        needed: u32,
    },
    /// This agent has not begun yet.
    Starting,
    /// These timings have no failure detector, and no agent has been asked to start an election.
    NotAsked,
    /// An election is under way.
    ElectionUnderWay {
        /// This agent's role in it.
        role: Role,
    },
    /// The voters are being changed, or this agent was asked for that.
    VotersChange {
        /// The epoch that the change leads to; `None` as long as this agent does not see it begin.
        epoch: Option<u64>,
        /// Whether somebody waits for it at this agent.
        is_asked_here: bool,
        /// Since when this agent knows, counted back from now. As JSON: `since_ms`.
        #[serde(rename = "since_ms", serialize_with = "shown::millis")]
        since: Duration,
    },
    /// There is a leader and enough voters, but these voters cannot be reached.
    VotersAway {
        /// Their names.
        missing: Vec<AgentId>,
    },
    /// The number of voters is even: no more of them may be down than of one voter less.
    EvenVoters {
        /// How many they are.
        all: u32,
    },
    /// This agent has a store and is not in the list of voters: it follows, and waits to be added.
    Learner {
        /// The epoch of the list.
        epoch: u64,
    },
    /// This agent's configuration names other voters than the list that counts, which was decided later.
    ConfigurationOlder {
        /// The epoch of that list.
        epoch: u64,
        /// Its voters.
        voters: Vec<AgentId>,
    },
    /// The leader cannot be reached: if it stays silent, another one is elected.
    LeaderUnreachable {
        /// Its name.
        leader: AgentId,
    },
    /// The leader hands over, once its work has ended.
    Drains,
    /// A member that can be reached ranks above the leader.
    Outranked {
        /// The leader.
        leader: AgentId,
        /// The member.
        by: AgentId,
        /// Why that one does not lead.
        because: NotLeading,
    },
    /// The leader ranks highest of all members that can be reached.
    HighestLeads {
        /// The leader.
        leader: AgentId,
    },
}

impl Finding {
    /// The smaller, the worse.
    pub(super) const fn order(&self) -> u8 {
        match self {
            Self::Ended => 0,
            Self::Down => 1,
            Self::Hangs { .. } => 2,
            Self::StoreFails { .. } => 3,
            Self::StoreIsSlow { .. } => 4,
            Self::ClockIsSlow => 5,
            Self::RulesDiffer { .. } => 6,
            Self::ListOlder { .. } => 7,
            Self::NodeNameTwice { .. } | Self::PeerNameTwice { .. } => 8,
            Self::AgentNameTwice { .. } => 9,
            Self::FewVoters { .. } => 10,
            Self::PeerUnlinked { .. } => 11,
            Self::EchoTooLong { .. } | Self::WriteTooLong { .. } => 12,
            Self::NoneEligible => 13,
            Self::TieBroken => 14,
            Self::NoScore => 15,
            Self::LeaderUnreachable { .. } => 16,
            Self::VotersAway { .. } => 17,
            Self::CoolsDown { .. } => 18,
            Self::Waits { .. } => 19,
            Self::Recovers { .. } => 20,
            Self::Starting => 21,
            Self::NotAsked => 22,
            Self::VotersChange { .. } => 23,
            Self::ElectionUnderWay { .. } => 24,
            Self::Drains => 25,
            Self::Outranked { .. } => 26,
            Self::HighestLeads { .. } => 27,
            Self::Observer => 28,
            Self::Learner { .. } => 29,
            Self::ConfigurationOlder { .. } => 30,
            Self::EvenVoters { .. } => 31,
        }
    }
}

impl fmt::Display for Finding {
    #[expect(clippy::too_many_lines, reason = "a sentence for each finding")]
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ended => f.write_str("the agent left or ended for good: start it again"),
            Self::Down => f.write_str(
                "the agent crashed: its restart policy decides whether it comes back; the log says why",
            ),
            Self::Hangs { silent_for } => write!(
                f,
                "the agent has done nothing for {}: its thread is blocked, or the host is overloaded; start it with start_in_arbiter on an arbiter of its own",
                Span(*silent_for)
            ),
            Self::StoreFails { reason, since } => write!(
                f,
                "the store failed {} ago: {reason}: mend the disk or the store's path",
                Span(*since)
            ),
            Self::StoreIsSlow { since } => write!(
                f,
                "a record has been on its way to the store for {}: the disk is too slow or hangs",
                Span(*since)
            ),
            Self::ClockIsSlow => f.write_str(
                "the agent's clock goes far slower than the timers: give it another clock",
            ),
            Self::RulesDiffer { node, theirs, mine } => write!(
                f,
                "{node} follows other rules in this group ({theirs}; here {mine}): give both hosts the same election, epoch and voters"
            ),
            Self::ListOlder { node, theirs, mine } => write!(
                f,
                "{node} names epoch {theirs} of the voters, this agent epoch {mine}, which is over: if this lasts, stop this agent, give it the voters and the epoch of {node}, and start it again"
            ),
            Self::PeerNameTwice { node } => write!(
                f,
                "two processes say that they are {node}: the earlier one is linked, and the later one waits: stop one of them, or give it a name of its own"
            ),
            Self::NodeNameTwice { node, error } => write!(
                f,
                "{node} refused this node: {error}: give each process a node name of its own, and the bridge a file to .remember(..) its incarnation in"
            ),
            Self::AgentNameTwice { node, agent } => write!(
                f,
                "{node} has an agent {agent} too, which takes no part: give each agent a name of its own"
            ),
            Self::FewVoters {
                reachable,
                all,
                needed,
                missing,
            } => write!(
                f,
                "{reachable} of {all} voters can be reached, and {needed} are needed: start {} or mend the links",
                Names(missing)
            ),
            Self::PeerUnlinked {
                node,
                address,
                error,
                since,
            } => UnlinkedWords {
                node,
                address: address.as_deref(),
                error: error.as_deref(),
                since: *since,
            }
            .fmt(f),
            Self::EchoTooLong {
                node,
                echo,
                assumed,
                preset,
                advice,
            } => write!(
                f,
                "the echo of {node} takes {}, and {} assumes at most {} one way: use {}",
                Span(*echo),
                preset.unwrap_or("this configuration"),
                Span(*assumed),
                advice.unwrap_or("timings with a longer delay bound")
            ),
            Self::WriteTooLong { write, round, advice } => {
                WriteWords(*write, *round, *advice).fmt(f)
            }
            Self::NoneEligible => f.write_str(
                "no voter that can be reached has a score: give one of them a score",
            ),
            Self::TieBroken => f.write_str(
                "this agent is not eligible, because the actor that it is tied to is gone: start that actor and tie the agent to it",
            ),
            Self::NoScore => f.write_str(
                "this agent is not eligible, because it has no score: give it one if it may lead",
            ),
            Self::Observer => f.write_str("this agent is an observer: it never votes or leads"),
            Self::CoolsDown { left } => write!(
                f,
                "this agent stepped down, and lets others go first for {}: set its score to end that",
                Span(*left)
            ),
            Self::Waits { left } => write!(
                f,
                "this agent holds an election in {}: it lets agents of higher rank go first, and keeps what it promised before",
                Span(*left)
            ),
            Self::Recovers {
                left,
                answers,
                recover,
                needed,
            } => RecoveryWords {
                left: *left,
                answers: *answers,
                recover: *recover,
                needed: *needed,
            }
            .fmt(f),
            Self::Starting => f.write_str(
                "this agent has not begun yet: its arbiter is busy, or was just started",
            ),
            Self::NotAsked => f.write_str(
                "these timings have no failure detector, so an agent has to be asked for an election: call campaign()",
            ),
            Self::ElectionUnderWay { role } => {
                write!(f, "an election is under way, this agent is {}", Article(*role))
            }
            Self::VotersAway { missing } => {
                write!(f, "voters that cannot be reached: {}", Names(missing))
            }
            Self::EvenVoters { all } => write!(
                f,
                "there are {all} voters, an even number: no more of them may be down than of {}, so add one or remove one",
                all.saturating_sub(1)
            ),
            Self::Learner { epoch } => write!(
                f,
                "this agent is a learner: the voters of epoch {epoch} do not name it, and it follows until it is added to them"
            ),
            Self::VotersChange {
                epoch,
                is_asked_here,
                since,
            } => ChangeWords {
                epoch: *epoch,
                is_asked_here: *is_asked_here,
                since: *since,
            }
            .fmt(f),
            Self::ConfigurationOlder { epoch, voters } => write!(
                f,
                "the configuration names other voters than the list of epoch {epoch}, which counts: write {} into it, and leave its epoch as it is",
                Names(voters)
            ),
            Self::LeaderUnreachable { leader } => write!(
                f,
                "the leader {leader} cannot be reached: another one is elected if it stays silent"
            ),
            Self::Drains => f.write_str("the leader hands over as soon as its work has ended"),
            Self::Outranked {
                leader,
                by,
                because,
            } => write!(f, "{by} ranks above the leader {leader}, {because}"),
            Self::HighestLeads { leader } => write!(
                f,
                "{leader} leads, because it ranks highest of the eligible voters that can be reached"
            ),
        }
    }
}
