//! One finding of a diagnosis, as a type.
//!
//! Decided here: the findings. Not here: which finding is worse (`order.rs`), the condition and the sentence of each
//! (`mod.rs` names their files), and the findings about schedules (`schedule.rs`).

use std::time::Duration;

use serde::Serialize;

use crate::{
    protocol::{AgentId, Incarnation, Role, StoreId, Term},
    shown,
};

use super::{NotLeading, ScheduleFinding};

/// One finding of a [`Diagnosis`](super::Diagnosis). As text it is one sentence, which names the remedy.
///
/// As JSON it has its name as `kind`, its fields, and the sentence as `text`; spans are in milliseconds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Finding {
    /// The agent left or ended for good.
    Ended,
    /// The agent crashed, and its restart policy decides whether it comes back.
    Down,
    /// The agent has done nothing for a long time, although it has timers: its thread is blocked, or its host is
    /// overloaded.
    Hangs {
        /// Time since it last did something. As JSON: `silent_ms`.
        #[serde(rename = "silent_ms", serialize_with = "shown::millis")]
        silent_for: Duration,
    },
    /// The store has not stored the agent's record.
    StoreFails {
        /// The last error of the store.
        reason: String,
        /// Time since the first failure. As JSON: `since_ms`.
        #[serde(rename = "since_ms", serialize_with = "shown::millis")]
        since: Duration,
        /// Whether the agent saves the same record again, and waits until it is durable.
        is_tried_again: bool,
    },
    /// This agent's record is an old copy, such as a backup: another voter received a later vote or acknowledgement of
    /// this agent.
    OldRecord {
        /// The voter that received it.
        by: AgentId,
        /// The term of the record.
        term: Term,
        /// The term in which that voter received it.
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
    /// The store of the lease does not list the agents, so a hand-over to one of them cannot be checked.
    RegisterListsNobody {
        /// The name of the store.
        store: String,
        /// The last answer of the store.
        reason: String,
        /// Time since the first failure. As JSON: `since_ms`.
        #[serde(rename = "since_ms", serialize_with = "shown::millis")]
        since: Duration,
    },
    /// The store of the lease holds something else in place of the lease of this group. It is not overwritten.
    RegisterForeign {
        /// The name of the store.
        store: String,
        /// A description of the content.
        reason: String,
    },
    /// A voter, or this agent, uses another store than the one it has voted with in this epoch. Agents that know of
    /// this do not count its votes.
    OtherStore {
        /// The voter.
        voter: AgentId,
        /// The store that it has voted with.
        kept: StoreId,
        /// The store that it has now.
        found: StoreId,
    },
    /// A record has been on its way to the store for longer than an election should take.
    StoreIsSlow {
        /// Time since the save began. As JSON: `since_ms`.
        #[serde(rename = "since_ms", serialize_with = "shown::millis")]
        since: Duration,
    },
    /// The agent's clock is far slower than the timers.
    ClockIsSlow,
    /// Another node follows other rules in this group, or has another epoch or other voters: no messages pass between
    /// the two.
    RulesDiffer {
        /// The node.
        node: String,
        /// The rules of its agents.
        theirs: String,
        /// The rules of the agents here.
        mine: String,
    },
    /// The agents of another node, or another agent here, name a later epoch of the voters than this agent. Neither
    /// side counts the messages of the other.
    ListOlder {
        /// The node, or the agent if it is in this process.
        node: String,
        /// The epoch that the other side names.
        theirs: u64,
        /// The epoch of this agent.
        mine: u64,
    },
    /// The reverse: this agent names the later epoch. If its voters decided that epoch, they tell the others within a
    /// moment; if it was configured, no agent ever does.
    OtherListOlder {
        /// The node, or the agent if it is in this process.
        node: String,
        /// The epoch that the other side names.
        theirs: u64,
        /// The epoch of this agent.
        mine: u64,
    },
    /// Two processes claim to be that node: one is linked, and a later one was refused in the last minute.
    PeerNameTwice {
        /// The node.
        node: String,
    },
    /// Another process has the name of this node, or got it later.
    NodeNameTwice {
        /// The node that refused this process, or an earlier one with the same name.
        node: String,
        /// The error of that node.
        error: String,
    },
    /// Another node has an agent with the name of an agent here.
    AgentNameTwice {
        /// The node.
        node: String,
        /// The agent's name.
        agent: AgentId,
    },
    /// Another process has an agent with this agent's name, according to the rows in the store of their lease.
    TwoOfOneName {
        /// The incarnation of the other agent.
        #[serde(serialize_with = "shown::text")]
        other: Incarnation,
    },
    /// Fewer voters can be reached than an election needs.
    FewVoters {
        /// Number of voters that can be reached, including the agent itself.
        reachable: u32,
        /// Number of all voters.
        all: u32,
        /// Number of voters that are needed.
        needed: u32,
        /// The unreachable voters, as far as their names are known here.
        missing: Vec<AgentId>,
    },
    /// There is no link to a node that the group is carried to.
    PeerUnlinked {
        /// Its name.
        node: String,
        /// The address that is dialled; `None` if the other node has to dial.
        address: Option<String>,
        /// The last error.
        error: Option<String>,
        /// The advice for that error, if there is one.
        advice: Option<&'static str>,
        /// Time without a link. As JSON: `since_ms`.
        #[serde(rename = "since_ms", serialize_with = "shown::millis")]
        since: Duration,
    },
    /// A node is linked, but has no agent of this group.
    PeerLacksGroup {
        /// The node.
        node: String,
        /// The first groups that it has.
        others: Vec<String>,
    },
    /// Another node names terms that are later than the clock of this host allows. Its messages are ignored.
    ClockAhead {
        /// The node.
        node: String,
    },
    /// The wall clock of another voter differs by more than 10 s from the clock here, and the terms depend on these
    /// clocks.
    ClocksApart {
        /// The voter.
        voter: AgentId,
        /// Whether its clock is ahead of the one here.
        is_ahead: bool,
        /// The difference. As JSON: `by_ms`.
        #[serde(rename = "by_ms", serialize_with = "shown::millis")]
        by: Duration,
    },
    /// The work of this leader has failed in the last minutes.
    WorkFails {
        /// Number of times that it panicked, ended or stalled since the agent started.
        failures: u32,
        /// Time since the last failure. As JSON: `since_ms`.
        #[serde(rename = "since_ms", serialize_with = "shown::millis")]
        since: Duration,
        /// The last failure.
        reason: String,
        /// Time until the agent, which leads, steps down. As JSON: `waits_ms`.
        #[serde(rename = "waits_ms", serialize_with = "shown::optional_millis")]
        waits: Option<Duration>,
    },
    /// This agent leads, but its work does not run.
    NothingRuns {
        /// Whether the work has run before; else it was never begun.
        has_run: bool,
    },
    /// The agents of another node have other timings than this agent. That is safe.
    TimingsDiffer {
        /// The node.
        node: String,
        /// The timings of that node.
        theirs: String,
        /// The timings of this agent.
        mine: String,
    },
    /// Messages take longer than the timings assume.
    EchoTooLong {
        /// The node.
        node: String,
        /// Time of a round trip to the node. As JSON: `echo_ms`.
        #[serde(rename = "echo_ms", serialize_with = "shown::millis")]
        echo: Duration,
        /// Longest time of a message one way, by the timings. As JSON: `assumed_ms`.
        #[serde(rename = "assumed_ms", serialize_with = "shown::millis")]
        assumed: Duration,
        /// The name of the timings, if they are a preset.
        preset: Option<&'static str>,
        /// The fastest preset that fits, if there is one.
        advice: Option<&'static str>,
    },
    /// The store of the lease answers later than the timings assume.
    RegisterIsSlow {
        /// The name of the store.
        store: String,
        /// Time of an answer, the median of ten. As JSON: `answer_ms`.
        #[serde(rename = "answer_ms", serialize_with = "shown::millis")]
        answer: Duration,
        /// The longest time that the timings allow. As JSON: `assumed_ms`.
        #[serde(rename = "assumed_ms", serialize_with = "shown::millis")]
        assumed: Duration,
        /// The lease, if three answers do not fit into it: then no leader can hold it. As JSON: `too_short_ms`.
        #[serde(rename = "too_short_ms", serialize_with = "shown::optional_millis")]
        too_short: Option<Duration>,
        /// The fastest preset that fits, if there is one.
        advice: Option<&'static str>,
    },
    /// A write of the store takes longer than a round that asks for votes. Without a leader the longest recent write
    /// counts, else most of the last ten.
    WriteTooLong {
        /// Time of a recent write. As JSON: `write_ms`.
        #[serde(rename = "write_ms", serialize_with = "shown::millis")]
        write: Duration,
        /// Length of a round by the timings. As JSON: `round_ms`.
        #[serde(rename = "round_ms", serialize_with = "shown::millis")]
        round: Duration,
        /// Whether most of the last writes took longer than a round. Then this voter leaves the leadership to others.
        waits: bool,
        /// The fastest preset that fits, if there is one.
        advice: Option<&'static str>,
    },
    /// This agent leads, but steadily renews its lease late: one more late answer, and the lease is lost.
    RenewsLate {
        /// Rest of the lease at the last late renewal. As JSON: `left_ms`.
        #[serde(rename = "left_ms", serialize_with = "shown::millis")]
        left: Duration,
        /// Rest of the lease right after that renewal. As JSON: `renewed_ms`.
        #[serde(rename = "renewed_ms", serialize_with = "shown::millis")]
        renewed: Duration,
        /// The fastest slower preset that fits, if there is one.
        advice: Option<&'static str>,
    },
    /// This agent stood still in the last minute for longer than the timings tolerate.
    Stalls {
        /// Longest delay of a timer of this agent. As JSON: `stall_ms`.
        #[serde(rename = "stall_ms", serialize_with = "shown::millis")]
        stall: Duration,
        /// Longest standstill of two agents, one after the other, that the timings tolerate. As JSON: `tolerated_ms`.
        #[serde(rename = "tolerated_ms", serialize_with = "shown::millis")]
        tolerated: Duration,
        /// The name of the timings, if they are a preset.
        preset: Option<&'static str>,
        /// The fastest preset that fits, if there is one.
        advice: Option<&'static str>,
    },
    /// No member that can be reached is eligible.
    NoneEligible,
    /// This agent is not eligible, because the actor that it is tied to is gone.
    TieBroken,
    /// This agent is not eligible, because it has no score.
    NoScore,
    /// This agent is an observer.
    Observer,
    /// This agent lets others go first, because it has stepped down.
    CoolsDown {
        /// Rest of the cool-down. As JSON: `left_ms`.
        #[serde(rename = "left_ms", serialize_with = "shown::millis")]
        left: Duration,
    },
    /// This agent has started, or its leader is gone, and it waits before it holds an election.
    Waits {
        /// Time until it holds the election. As JSON: `left_ms`.
        #[serde(rename = "left_ms", serialize_with = "shown::millis")]
        left: Duration,
    },
    /// This agent keeps no record, and takes no part until others have sent it their memory.
    Recovers {
        /// Time for which it still abstains; zero if it only waits for answers. As JSON: `left_ms`.
        #[serde(rename = "left_ms", serialize_with = "shown::millis")]
        left: Duration,
        /// Number of the other voters that have answered.
        answers: u32,
        /// Number of those voters that recover themselves, and remember nothing.
        recover: u32,
        /// Number of voters with a memory that this agent needs.
        needed: u32,
        /// The other voters that remember.
        remember: Vec<AgentId>,
        /// The other voters that have not answered.
        silent: Vec<AgentId>,
        /// Number of the voters in `remember` that have to restart, so that this agent can go on by the clocks alone;
        /// `None` while too few have answered for that.
        restarts: Option<u32>,
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
    /// A change of the voters is under way, or was asked of this agent.
    VotersChange {
        /// The epoch of the new list; `None` until this agent sees the change begin.
        epoch: Option<u64>,
        /// Whether a caller waits for the change at this agent.
        is_asked_here: bool,
        /// Time since this agent knows of the change. As JSON: `since_ms`.
        #[serde(rename = "since_ms", serialize_with = "shown::millis")]
        since: Duration,
    },
    /// There is a leader and enough voters, but these voters cannot be reached.
    VotersAway {
        /// Their names.
        missing: Vec<AgentId>,
    },
    /// The number of voters is even: one voter less would tolerate as many failures.
    EvenVoters {
        /// Number of voters.
        all: u32,
    },
    /// This agent has a store but is not in the list of voters: it follows, and waits to be added.
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
    /// The store of the lease names the leader, but no link reaches it: messages of applications do not arrive.
    LeaderUnlinked {
        /// Its name.
        leader: AgentId,
        /// The name of the store.
        store: String,
    },
    /// The leader holds the lease in a store. Only that store knows the agents of other processes.
    HoldsLease {
        /// Its name.
        leader: AgentId,
        /// The name of the store.
        store: String,
    },
    /// The leader hands over when its work has ended.
    Drains,
    /// A member that can be reached ranks above the leader.
    Outranked {
        /// The leader.
        leader: AgentId,
        /// The member.
        by: AgentId,
        /// The reason why that member does not lead.
        because: NotLeading,
    },
    /// The leader ranks highest of all members that can be reached.
    HighestLeads {
        /// The leader.
        leader: AgentId,
    },
    /// All is well, and a faster preset allows twice the recently measured times.
    FasterFits {
        /// The preset.
        preset: &'static str,
        /// Time after which that preset notices a silent leader. As JSON: `detection_ms`.
        #[serde(rename = "detection_ms", serialize_with = "shown::millis")]
        detection: Duration,
        /// The same time with the present timings. As JSON: `present_ms`.
        #[serde(rename = "present_ms", serialize_with = "shown::millis")]
        present: Duration,
    },
    /// A schedule of this agent does not run.
    #[serde(untagged)]
    Schedule(ScheduleFinding),
}
