//! One thing that a diagnosis found, in types.
//!
//! Decided here: what can be found. Not here: which finding is worse (`order.rs`), when something is found (`judge.rs`), its
//! sentence (`sentence.rs`), and what is found of schedules (`schedule.rs`).

use std::time::Duration;

use serde::Serialize;

use crate::{
    protocol::{AgentId, Incarnation, Role, StoreId, Term},
    shown,
};

use super::{NotLeading, ScheduleFinding};

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
    /// The store has not stored the agent's record.
    StoreFails {
        /// What it said last.
        reason: String,
        /// Since when, counted back from now. As JSON: `since_ms`.
        #[serde(rename = "since_ms", serialize_with = "shown::millis")]
        since: Duration,
        /// Whether the agent saves the same record again, and waits until that is durable.
        is_tried_again: bool,
    },
    /// This agent's record is an old copy, such as a backup: another voter heard it vote, or acknowledge, later.
    OldRecord {
        /// The voter that heard it.
        by: AgentId,
        /// The term of the record.
        term: Term,
        /// The term in which this agent was heard.
        heard: Term,
    },
    /// The store of the lease has failed for so long: this agent cannot take the lease, or loses it.
    RegisterFails {
        /// The name of the store.
        store: String,
        /// Its last answer.
        reason: String,
        /// Since when, counted back from now. As JSON: `since_ms`.
        #[serde(rename = "since_ms", serialize_with = "shown::millis")]
        since: Duration,
    },
    /// The store of the lease answers reads and takes no writes of this process: this agent cannot take the lease, or loses
    /// it.
    RegisterTakesNoWrites {
        /// The name of the store.
        store: String,
        /// Its last answer.
        reason: String,
        /// Since when, counted back from now. As JSON: `since_ms`.
        #[serde(rename = "since_ms", serialize_with = "shown::millis")]
        since: Duration,
    },
    /// The store of the lease does not say which agents are there, so that a hand-over to one of them cannot be checked.
    RegisterListsNobody {
        /// The name of the store.
        store: String,
        /// Its last answer.
        reason: String,
        /// Since when, counted back from now. As JSON: `since_ms`.
        #[serde(rename = "since_ms", serialize_with = "shown::millis")]
        since: Duration,
    },
    /// The store of the lease holds something else where the lease of this group should be. It is not written over.
    RegisterForeign {
        /// The name of the store.
        store: String,
        /// What is there.
        reason: String,
    },
    /// A voter, or this agent, comes with another store than the one with which it has voted in this epoch: its votes
    /// count for nothing where that is known.
    OtherStore {
        /// The voter.
        voter: AgentId,
        /// The store with which it has voted.
        kept: StoreId,
        /// The store that it has now.
        found: StoreId,
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
    /// Another node's agents, or another agent here, name a later epoch of the voters than this agent, so nothing that one
    /// says to the other counts.
    ListOlder {
        /// The node, or the agent where it is in this process.
        node: String,
        /// The epoch that is named there.
        theirs: u64,
        /// The epoch of this agent.
        mine: u64,
    },
    /// The same the other way round: this agent names the later epoch. Where its voters decided that epoch, they tell the
    /// others of it within a moment; where it was configured, no agent ever does.
    OtherListOlder {
        /// The node, or the agent where it is in this process.
        node: String,
        /// The epoch that is named there.
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
        /// The node that refused this one, or an earlier one of this one's name.
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
    /// Another process has an agent of this one's name, by the rows in the store of their lease.
    TwoOfOneName {
        /// The incarnation there.
        #[serde(serialize_with = "shown::text")]
        other: Incarnation,
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
        /// The advice for that error, where there is one.
        advice: Option<&'static str>,
        /// Since when, counted back from now. As JSON: `since_ms`.
        #[serde(rename = "since_ms", serialize_with = "shown::millis")]
        since: Duration,
    },
    /// A node is linked and has no agent of this group.
    PeerLacksGroup {
        /// The node.
        node: String,
        /// The first groups that it has.
        others: Vec<String>,
    },
    /// Another node names terms that are later than the clock of this host allows. They are not heard.
    ClockAhead {
        /// The node.
        node: String,
    },
    /// The wall clock of another voter is more than 10 s from the one here, and the terms go by these clocks.
    ClocksApart {
        /// The voter.
        voter: AgentId,
        /// Whether its clock is ahead of the one here.
        is_ahead: bool,
        /// By how much. As JSON: `by_ms`.
        #[serde(rename = "by_ms", serialize_with = "shown::millis")]
        by: Duration,
    },
    /// Work under the leadership of this agent has failed in the last minutes.
    WorkFails {
        /// How often it panicked, ended or stalled since the agent started.
        failures: u32,
        /// How long ago it did so last. As JSON: `since_ms`.
        #[serde(rename = "since_ms", serialize_with = "shown::millis")]
        since: Duration,
        /// The last failure.
        reason: String,
        /// How long the agent, which leads, waits before it steps down. As JSON: `waits_ms`.
        #[serde(rename = "waits_ms", serialize_with = "shown::optional_millis")]
        waits: Option<Duration>,
    },
    /// This agent leads, and the work that it was given does not run.
    NothingRuns {
        /// Whether the work has run before, or was never begun.
        has_run: bool,
    },
    /// The agents of another node have other timings than this one. That is safe.
    TimingsDiffer {
        /// The node.
        node: String,
        /// Its timings.
        theirs: String,
        /// Those here.
        mine: String,
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
    /// The store of the lease answers later than the timings assume.
    RegisterIsSlow {
        /// The name of the store.
        store: String,
        /// The time of an answer, the median of ten. As JSON: `answer_ms`.
        #[serde(rename = "answer_ms", serialize_with = "shown::millis")]
        answer: Duration,
        /// The longest time that the timings allow. As JSON: `assumed_ms`.
        #[serde(rename = "assumed_ms", serialize_with = "shown::millis")]
        assumed: Duration,
        /// The lease, if three answers do not fit into it: then no leader can hold it. As JSON: `too_short_ms`.
        #[serde(rename = "too_short_ms", serialize_with = "shown::optional_millis")]
        too_short: Option<Duration>,
        /// The fastest preset that fits, if any does.
        advice: Option<&'static str>,
    },
    /// The store writes for longer than a round that asks for votes lasts: without a leader the last write, else most of the
    /// last ten.
    WriteTooLong {
        /// How long a write took of late. As JSON: `write_ms`.
        #[serde(rename = "write_ms", serialize_with = "shown::millis")]
        write: Duration,
        /// How long a round of questions lasts by the timings. As JSON: `round_ms`.
        #[serde(rename = "round_ms", serialize_with = "shown::millis")]
        round: Duration,
        /// Whether most of the last writes took so long: then this voter leaves the leadership to others.
        waits: bool,
        /// The fastest preset that fits, if any does.
        advice: Option<&'static str>,
    },
    /// This agent leads, and its lease is steadily renewed late: it is lost as soon as one more answer is.
    RenewsLate {
        /// How much of the lease was left at the last late renewal. As JSON: `left_ms`.
        #[serde(rename = "left_ms", serialize_with = "shown::millis")]
        left: Duration,
        /// How much of it there was right after that renewal. As JSON: `renewed_ms`.
        #[serde(rename = "renewed_ms", serialize_with = "shown::millis")]
        renewed: Duration,
        /// The fastest preset that fits and is slower, if any does.
        advice: Option<&'static str>,
    },
    /// This agent stood still in the last minute, for longer than the timings tolerate.
    Stalls {
        /// For how long a timer of it was late, the longest. As JSON: `stall_ms`.
        #[serde(rename = "stall_ms", serialize_with = "shown::millis")]
        stall: Duration,
        /// For how long two agents may stand still by the timings, one after the other. As JSON: `tolerated_ms`.
        #[serde(rename = "tolerated_ms", serialize_with = "shown::millis")]
        tolerated: Duration,
        /// The timings, where they are a preset.
        preset: Option<&'static str>,
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
        /// The other voters that remember.
        remember: Vec<AgentId>,
        /// The other voters that have not answered.
        silent: Vec<AgentId>,
        /// How many of the voters in `remember` have to restart for it to go on by the clocks alone; `None` while too few
        /// have answered for that.
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
    /// The leader is known by the store that has the lease, and no link reaches it: messages of applications do not arrive.
    LeaderUnlinked {
        /// Its name.
        leader: AgentId,
        /// The name of the store.
        store: String,
    },
    /// The leader holds the lease in a store. Agents of other processes are known by that store alone.
    HoldsLease {
        /// Its name.
        leader: AgentId,
        /// The name of the store.
        store: String,
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
    /// All is well, and a faster preset has twice the room that was needed of late.
    FasterFits {
        /// The preset.
        preset: &'static str,
        /// After how long it notices a silent leader. As JSON: `detection_ms`.
        #[serde(rename = "detection_ms", serialize_with = "shown::millis")]
        detection: Duration,
        /// After how long the present timings do. As JSON: `present_ms`.
        #[serde(rename = "present_ms", serialize_with = "shown::millis")]
        present: Duration,
    },
    /// A schedule of this agent does not run.
    #[serde(untagged)]
    Schedule(ScheduleFinding),
}
