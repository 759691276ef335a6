//! One finding of a diagnosis, as a type.
//!
//! Decided here: the findings. Not here: which finding is worse (`order.rs`), the condition and the sentence of each
//! (`mod.rs` names their files), and the findings about schedules (`schedule.rs`).

use std::time::Duration;

use serde::Serialize;

use crate::{
    protocol::{AgentId, ChangeError, Incarnation, Role, StoreId, Term},
    shown,
};

use super::{NotLeading, ScheduleFinding};

/// One finding of a [`Diagnosis`](super::Diagnosis). As text it is one sentence, which contains the remedy.
///
/// As JSON the key `kind` has the name of the finding, beside its fields, and `text` has the sentence; spans are in
/// milliseconds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Finding {
    /// The agent has left its group or has ended, for good.
    Ended,
    /// The agent has crashed. Its restart policy decides whether it starts again.
    Down,
    /// The agent has done nothing for a long time, although its timers were due: its thread is blocked, or its host is
    /// overloaded.
    Hangs {
        /// Time since the agent last did anything. As JSON: `silent_ms`.
        #[serde(rename = "silent_ms", serialize_with = "shown::millis")]
        silent_for: Duration,
    },
    /// The agent's store has failed to store the agent's record.
    StoreFails {
        /// The last error of the store.
        reason: String,
        /// Time since the first failure. As JSON: `since_ms`.
        #[serde(rename = "since_ms", serialize_with = "shown::millis")]
        since: Duration,
        /// Whether the agent saves the same record again, and waits until the record is durable.
        is_tried_again: bool,
    },
    /// This agent's record is an old copy, such as a backup: another voter has received a later vote or acknowledgement
    /// from this agent.
    OldRecord {
        /// The voter that has received the later vote or acknowledgement.
        by: AgentId,
        /// The term of the record.
        term: Term,
        /// The term in which that voter has received the vote or acknowledgement.
        heard: Term,
    },
    /// The store of the lease fails: this agent cannot take the lease, or loses it.
    RegisterFails {
        /// The name of the store.
        store: String,
        /// The last answer of the store.
        reason: String,
        /// Time since the first failure. As JSON: `since_ms`.
        #[serde(rename = "since_ms", serialize_with = "shown::millis")]
        since: Duration,
    },
    /// The store of the lease answers reads, but takes no writes of this process: this agent cannot take the lease, or
    /// loses it.
    RegisterTakesNoWrites {
        /// The name of the store.
        store: String,
        /// The last answer of the store.
        reason: String,
        /// Time since the first failure. As JSON: `since_ms`.
        #[serde(rename = "since_ms", serialize_with = "shown::millis")]
        since: Duration,
    },
    /// The store of the lease does not list the agents, so the successor of a hand-over cannot be checked.
    RegisterListsNobody {
        /// The name of the store.
        store: String,
        /// The last answer of the store.
        reason: String,
        /// Time since the first failure. As JSON: `since_ms`.
        #[serde(rename = "since_ms", serialize_with = "shown::millis")]
        since: Duration,
    },
    /// The store of the lease has another record in place of the lease of this group. No agent overwrites that record.
    RegisterForeign {
        /// The name of the store.
        store: String,
        /// A description of the record that was found.
        reason: String,
    },
    /// A voter uses another store than before in this epoch. Agents that know both stores do not count the votes of
    /// that voter. The voter may be this agent.
    OtherStore {
        /// The voter.
        voter: AgentId,
        /// The store with which the voter has voted; if `is_earlier`, the store of the later process.
        kept: StoreId,
        /// Whether a later process had the voter's name, with the store `kept`. Then a restart of the voter is enough.
        is_earlier: bool,
        /// The store that the voter uses now.
        found: StoreId,
    },
    /// The store has been saving a record for longer than an election should take.
    StoreIsSlow {
        /// Time since the save began. As JSON: `since_ms`.
        #[serde(rename = "since_ms", serialize_with = "shown::millis")]
        since: Duration,
    },
    /// The agent's clock is far slower than the timers.
    ClockIsSlow,
    /// Another node follows other rules in this group, or has another epoch or other voters. No messages pass between
    /// the two nodes.
    RulesDiffer {
        /// The node.
        node: String,
        /// The rules of that node's agents.
        theirs: String,
        /// The rules of the agents of this process.
        mine: String,
    },
    /// Another node, or another agent of this process, uses a later list of voters (a later epoch) than this agent.
    /// Messages between the two sides do not count.
    ListOlder {
        /// The node, or the name of the agent if it is in this process.
        node: String,
        /// The epoch of the other side.
        theirs: u64,
        /// The epoch of this agent.
        mine: u64,
    },
    /// The reverse of [`ListOlder`](Self::ListOlder): this agent uses the later list. If voters decided the later list,
    /// they send it to the other side within a moment. If the list comes from a configuration, no agent sends it.
    OtherListOlder {
        /// The node, or the name of the agent if it is in this process.
        node: String,
        /// The epoch of the other side.
        theirs: u64,
        /// The epoch of this agent.
        mine: u64,
    },
    /// Two processes have the name of another node, and this node refuses one of them. A single process is refused too,
    /// if its wall clock was set back before it started.
    PeerNameTwice {
        /// The node.
        node: String,
    },
    /// Another process has the name of this node.
    NodeNameTwice {
        /// The node that refused this process, or an earlier process with the same name.
        node: String,
        /// The error that the other node reported.
        error: String,
    },
    /// Another node has an agent with the name of an agent of this process.
    AgentNameTwice {
        /// The node.
        node: String,
        /// The agent's name.
        agent: AgentId,
    },
    /// Another process has an agent with this agent's name, as the rows in the store of the lease show.
    TwoOfOneName {
        /// The incarnation of the other agent.
        #[serde(serialize_with = "shown::text::serialize")]
        other: Incarnation,
    },
    /// Fewer voters can be reached than an election needs.
    FewVoters {
        /// Number of voters that can be reached, including the agent itself.
        reachable: u32,
        /// Number of all voters.
        all: u32,
        /// Number of voters that are needed for an election.
        needed: u32,
        /// The unreachable voters, as far as this agent knows their names.
        missing: Vec<AgentId>,
    },
    /// There is no link to a node to which the group's messages go.
    PeerUnlinked {
        /// The name of the node.
        node: String,
        /// The address that is dialled; `None` if the other node has to dial.
        address: Option<String>,
        /// The last error.
        error: Option<String>,
        /// The advice for the last error, if there is any.
        advice: Option<&'static str>,
        /// Time without a link. As JSON: `since_ms`.
        #[serde(rename = "since_ms", serialize_with = "shown::millis")]
        since: Duration,
    },
    /// A node is linked to this node, but has no agent of this group.
    PeerLacksGroup {
        /// The node.
        node: String,
        /// The names of the first few groups of this other node.
        others: Vec<String>,
    },
    /// Another node sends terms that are later than the clock of this host allows. This node drops its messages.
    ClockAhead {
        /// The node.
        node: String,
    },
    /// The wall clock of another voter differs by more than 10 s from the clock of this host. The terms come from the
    /// wall clocks of the voters.
    ClocksApart {
        /// The voter.
        voter: AgentId,
        /// Whether the clock of that voter is ahead of the clock of this host.
        is_ahead: bool,
        /// The difference. As JSON: `by_ms`.
        #[serde(rename = "by_ms", serialize_with = "shown::millis")]
        by: Duration,
    },
    /// The work of this leader has failed during the last minutes.
    WorkFails {
        /// Number of times that the work panicked, ended or stalled since the agent started.
        failures: u32,
        /// Time since the last failure. As JSON: `since_ms`.
        #[serde(rename = "since_ms", serialize_with = "shown::millis")]
        since: Duration,
        /// The last failure.
        reason: String,
        /// Time until this agent steps down, if it leads. As JSON: `waits_ms`.
        #[serde(rename = "waits_ms", serialize_with = "shown::optional_millis")]
        waits: Option<Duration>,
    },
    /// This agent leads, but its work does not run.
    NothingRuns {
        /// Whether the work has run before; otherwise it has never begun.
        has_run: bool,
    },
    /// The agents of another node have other timings than this agent. This does not endanger the election.
    TimingsDiffer {
        /// The node.
        node: String,
        /// The timings of that other node.
        theirs: String,
        /// The timings of this agent.
        mine: String,
    },
    /// A message to another node takes longer than the timings assume.
    EchoTooLong {
        /// The node.
        node: String,
        /// Time of a round trip to the node. As JSON: `echo_ms`.
        #[serde(rename = "echo_ms", serialize_with = "shown::millis")]
        echo: Duration,
        /// Longest time that a message takes one way, as the timings assume. As JSON: `assumed_ms`.
        #[serde(rename = "assumed_ms", serialize_with = "shown::millis")]
        assumed: Duration,
        /// The name of the timings, if they are a preset.
        preset: Option<&'static str>,
        /// The fastest preset that allows the measured times, if there is one.
        advice: Option<&'static str>,
    },
    /// The store of the lease takes longer for an answer than the timings assume.
    RegisterIsSlow {
        /// The name of the store.
        store: String,
        /// Time that the store takes for an answer, the median of ten. As JSON: `answer_ms`.
        #[serde(rename = "answer_ms", serialize_with = "shown::millis")]
        answer: Duration,
        /// Longest time of an answer that the timings allow. As JSON: `assumed_ms`.
        #[serde(rename = "assumed_ms", serialize_with = "shown::millis")]
        assumed: Duration,
        /// The duration of the lease, if it is too short for three answers: then no leader can keep it. As JSON:
        /// `too_short_ms`.
        #[serde(rename = "too_short_ms", serialize_with = "shown::optional_millis")]
        too_short: Option<Duration>,
        /// The fastest preset that allows the measured times, if there is one.
        advice: Option<&'static str>,
    },
    /// A write of the store takes longer than a round that asks for votes. Without a leader, the longest recent write
    /// is compared. If there is a leader, this is reported only if most of the last ten writes were slow.
    WriteTooLong {
        /// Time of a recent write. As JSON: `write_ms`.
        #[serde(rename = "write_ms", serialize_with = "shown::millis")]
        write: Duration,
        /// Length of a round by the timings. As JSON: `round_ms`.
        #[serde(rename = "round_ms", serialize_with = "shown::millis")]
        round: Duration,
        /// Whether most of the last writes took longer than a round. Then this voter lets other voters lead.
        waits: bool,
        /// The fastest preset that allows the measured times, if there is one.
        advice: Option<&'static str>,
    },
    /// This agent leads, but renews its lease late again and again: one more late answer, and the lease is lost.
    RenewsLate {
        /// Rest of the lease just before the last late renewal. As JSON: `left_ms`.
        #[serde(rename = "left_ms", serialize_with = "shown::millis")]
        left: Duration,
        /// Rest of the lease right after that renewal. As JSON: `renewed_ms`.
        #[serde(rename = "renewed_ms", serialize_with = "shown::millis")]
        renewed: Duration,
        /// The fastest preset with a longer lease that allows the measured times, if there is one.
        advice: Option<&'static str>,
    },
    /// This agent stood still in the last minute for longer than the timings tolerate.
    Stalls {
        /// Longest delay of a timer of this agent. As JSON: `stall_ms`.
        #[serde(rename = "stall_ms", serialize_with = "shown::millis")]
        stall: Duration,
        /// Longest standstill that the timings tolerate, even if two agents stand still one after the other. As JSON:
        /// `tolerated_ms`.
        #[serde(rename = "tolerated_ms", serialize_with = "shown::millis")]
        tolerated: Duration,
        /// The name of the timings, if they are a preset.
        preset: Option<&'static str>,
        /// The fastest preset that allows the measured times, if there is one.
        advice: Option<&'static str>,
    },
    /// No reachable member is eligible.
    NoneEligible,
    /// This agent is not eligible, because the actor to which it is tied is gone.
    TieBroken,
    /// This agent is not eligible, because it has no score.
    NoScore,
    /// This agent is an observer.
    Observer,
    /// This agent is in its cool-down: it lets other agents lead first, because it has stepped down.
    CoolsDown {
        /// Rest of the cool-down. As JSON: `left_ms`.
        #[serde(rename = "left_ms", serialize_with = "shown::millis")]
        left: Duration,
    },
    /// This agent has started, or its leader is gone, and it waits before it holds an election.
    Waits {
        /// Time until this agent holds the election. As JSON: `left_ms`.
        #[serde(rename = "left_ms", serialize_with = "shown::millis")]
        left: Duration,
    },
    /// This agent keeps its votes on no disk, and remembers none after its start. It takes no part in elections until
    /// other voters have sent it their memory.
    Recovers {
        /// Time for which this agent still takes no part; zero if it only waits for answers. As JSON: `left_ms`.
        #[serde(rename = "left_ms", serialize_with = "shown::millis")]
        left: Duration,
        /// Number of the other voters that have answered.
        answers: u32,
        /// Number of voters that have answered, but recover as well, and so remember nothing.
        recover: u32,
        /// Number of voters that must remember their votes, so that this agent can recover.
        needed: u32,
        /// The other voters that remember their votes.
        remember: Vec<AgentId>,
        /// The other voters that have not answered.
        silent: Vec<AgentId>,
        /// Number of the voters in `remember` that must restart, so that few enough voters remember their votes and
        /// this agent recovers by the clocks alone. `None` while too few voters have answered to know it.
        restarts: Option<u32>,
    },
    /// This agent has not taken its first step.
    Starting,
    /// The agent's timings have no failure detector, so no agent begins an election by itself, and no agent has been
    /// asked to begin one.
    NotAsked,
    /// An election is under way.
    ElectionUnderWay {
        /// The role of this agent in the election.
        role: Role,
    },
    /// The voters are being changed, or this agent was asked to change them.
    VotersChange {
        /// The epoch of the new list; `None` until this agent learns that the change has begun.
        epoch: Option<u64>,
        /// Whether a caller waits for the change at this agent.
        is_asked_here: bool,
        /// Time since this agent learned of the change. As JSON: `since_ms`.
        #[serde(rename = "since_ms", serialize_with = "shown::millis")]
        since: Duration,
        /// The last refusal of the leader, while this agent asks it again; `None` if there was none.
        refused: Option<ChangeError>,
    },
    /// There is a leader, and enough voters can be reached, but not all.
    VotersAway {
        /// The names of the voters that cannot be reached.
        missing: Vec<AgentId>,
    },
    /// The number of voters is even. With one voter less, the group would tolerate the same number of failures.
    EvenVoters {
        /// Number of voters.
        all: u32,
    },
    /// This agent has a store but is not in the list of voters: it follows the leader, and waits to be added.
    Learner {
        /// The epoch of the list.
        epoch: u64,
    },
    /// The list of voters in use was decided later than this agent's configuration, and has other voters.
    ConfigurationOlder {
        /// The epoch of the list that is in use.
        epoch: u64,
        /// The voters of the list that is in use.
        voters: Vec<AgentId>,
    },
    /// The leader cannot be reached. If it stays silent, another agent is elected.
    LeaderUnreachable {
        /// The name of the leader.
        leader: AgentId,
    },
    /// The lease in the store names the leader, but this agent has no link to the leader: messages of applications do
    /// not arrive.
    LeaderUnlinked {
        /// The name of the leader.
        leader: AgentId,
        /// The name of the store.
        store: String,
    },
    /// The leader holds the lease in a store. Only this store knows the agents of other processes.
    HoldsLease {
        /// The name of the leader.
        leader: AgentId,
        /// The name of the store.
        store: String,
    },
    /// The leader hands over when its work has ended.
    Drains,
    /// A reachable member ranks above the leader.
    Outranked {
        /// The leader.
        leader: AgentId,
        /// The member that ranks above the leader.
        by: AgentId,
        /// The reason why that member does not lead.
        because: NotLeading,
    },
    /// The leader has the highest rank of all reachable members.
    HighestLeads {
        /// The leader.
        leader: AgentId,
    },
    /// All is well, and a faster preset would still allow twice the recently measured times.
    FasterFits {
        /// The preset.
        preset: &'static str,
        /// Time after which that preset notices a silent leader. As JSON: `detection_ms`.
        #[serde(rename = "detection_ms", serialize_with = "shown::millis")]
        detection: Duration,
        /// Time after which the present timings notice a silent leader. As JSON: `present_ms`.
        #[serde(rename = "present_ms", serialize_with = "shown::millis")]
        present: Duration,
    },
    /// A schedule of this agent does not run.
    #[serde(untagged)]
    Schedule(ScheduleFinding),
}
