//! Leader election for applications built on [actix]: supervised actors elect the actor of highest rank among them, in
//! milliseconds.
//!
//! ```text
//!   your actix application
//!        │  BullyAgent::builder("api-3").score(30).join(&group).start()? ──▶ BullyHandle
//!        │  handle.is_leader() · handle.changes() · handle.lead(|guard| async …)
//! ┌──────▼──────────────────────────────────────────────────────────────────────────────┐
//! │ dashboard  a live page about a group (feature `dashboard`)                          │
//! │ web        routes for actix-web: reports and commands (feature `actix-web`)         │
//! │ operate    reports of a running node for an operator, and commands to it            │
//! │ config     from a file to a running agent, and its orderly end (feature serde)      │
//! │ leader     tools for an application: a singleton, schedules, fenced writes          │
//! │ agent      one election inside one actor: typed messages in, effects out            │
//! │ remote     the bridge: agents of other hosts as if they were here                   │
//! │ group      the members of one election, and the routes of their messages            │
//! │ supervisor restarts an agent after a panic: same Addr, fresh state, new incarnation │
//! │ clock, store   clocks that a lease may trust; records that survive a crash          │
//! │ register       a lease in a store that all agents can reach, instead of messages    │
//! ├─────────────────────────────────────────────────────────────────────────────────────┤
//! │ elections  the machines, of bully-core and (feature `classics`) of bully-classics   │
//! │ protocol   interface of all machines: inputs, effects, view; ids, ranks, timings    │
//! │            (everything below the line is pure: no actor, no clock, no randomness)   │
//! └─────────────────────────────────────────────────────────────────────────────────────┘
//!   feature testkit, for tests: many agents in one process, commanded (cluster); the machines
//!   alone in a seeded world (sim); faults on purpose; recorded runs (trace); virtual time
//! ```
//!
//! # Words
//! Each idea has one word, everywhere in this crate.
//!
//! | word | meaning | elsewhere |
//! |---|---|---|
//! | *agent* | an actor that takes part in an election | node, process, participant |
//! | *member* | an agent in the records of its group: a *voter* (other agents ask it, and it may lead) or an *observer* (it only hears the result) | |
//! | *node*, *host* | a process whose bridge carries groups to other processes, and the machine that it runs on | |
//! | *peer* | another node, as a bridge sees it (another agent is never called a peer) | |
//! | *score*, *rank* | the number that the application gives an agent; the score together with the name, which orders the agents of a group | priority, id |
//! | *eligible*, *candidate* | a voter with a score, which may be elected; an agent that holds an election | |
//! | *term*, *epoch* | the number of an election that was won; the number of the list of voters that held the election | ballot |
//! | *incarnation* | the number of an agent's start, counted over its crashes | generation, life |
//! | *role* | follower, candidate (sent `Elect`), waiting (got `Ok`), leader | |
//! | `Elect`, `Ok`, `Elected` | the bully's three messages | ELECTION, ANSWER or ALIVE, COORDINATOR or VICTORY |
//! | *message*, `Envelope<M>` | data that one agent sends to another agent; the message with its sender and the sender's incarnation | letter |
//! | *campaign*, *step down*, *resign* | to hold an election; to give a leadership up; to announce this by a message | |
//! | *leave* | an agent leaves its group: if it leads it hands over, then its membership ends | |
//! | *leadership*, *tenure* | the position of the leader, which is held or vacant; one agent's time as leader | |
//! | *lease*, *promise*, *fence* | the time in which a leader is sure to be the only leader; a voter's grant of this time; the number that keeps a former leader out | |
//! | *drain*, *hand-over*, *successor* | the work of a leader ends; the next leader takes its place; the agent that leads next | |
//! | *singleton*, *gate* | an actor that runs on the leader only; an actor or a check that refuses the writes of former leaders | |
//! | *schedule*, *tick* | work that is due at certain times; one due time with its work | cron job |
//! | *mark*, *contender* | the progress of a schedule, as the group or a store keeps it; an agent that may take the lease in a store | |
//! | *learner* | an agent with a store that is not in the list of voters: it follows the leader, and can be made a voter | |
//! | *cool-down* | the time in which an agent that stepped down lets other agents lead first; it may still be elected, in the last slot | |
//! | *slot*, *rank-staggered delay* | the wait of an agent before it holds an election; a lower rank waits longer | |
//! | *wait* | the time for which an agent holds no election: while it is *waiting* for an announcement, until its slot, or in its cool-down | |
//! | *round* | the questions that an agent asks together; an answer names the round that it answers. `E` is the length of a round in quorum mode | |
//! | *probe* | a measurement: of a disk by a write, of work by its reports. In a ring, the question to a skipped member whether it is there | |
//! | *link*, *route* | a connection that the bridges of both nodes accept; the path to a member | |
//! | *grace period*, *back-off* | the time for which an agent waits for a silent agent, or a bridge for a silent peer; the growing pause before another try | |
//! | *confirmed*, *suspected* | an end that a supervisor saw; an end that silence suggests (`certain`, `suspect` in names) | |
//! | *partition*, *cut*, *isolate*, *heal*, *crash*, *hang* | the faults of a test | |
//!
//! # Every public type
//! These are the types of a build without features; the pages of the modules have the others. A first program needs
//! only [`prelude`]. The author of a machine or of its driver finds the contract, the messages and the records in
//! [`bully_core`].
//!
//! | module | types |
//! |---|---|
//! | [`agent`] | `Agent`, `AgentBuilder`, `BullyAgent`, `BullyBuilder`, `BullyElection`, `BullyHandle`, `BullyMember`, `CommandError`, `ConditionalFence`, `Diagnosis`, `Drained`, `DrainingToken`, `ElectionArbiter`, `ElectionHandle`, `Epoch`, `Feature`, `Fence`, `Finding`, `LeadError`, `LeaderGuard`, `LeaveError`, `Lifecycle`, `NotLeading`, `NotOffered`, `Notice`, `Offers`, `OnPanic`, `Progress`, `ProgressError`, `ScheduleFinding`, `StartError`, `Status`, `Subscribe`, `SubscribeDraining`, `Tokens`, `VoterCount`, `Voters`, `VotersError`, `WaitError` |
//! | [`leader`] | `Channel`, `LeaderMessage`, `LeaderProxy`, `Messages`, `MessagesError`, `ProxyBuilder`, `ProxyCounts`, `ProxyError`, `ProxyStartError`, `SendError`, `ShutdownError`, `Singleton`, `SingletonBuilder`, `SingletonError`, `SingletonHandle`, `SingletonState`, `SingletonStatus`, `SteppingDown`, `Stopped`, `Untaken` |
//! | [`leader::fence`] | `FenceNumber`, `Fenced`, `FencingActor`, `FencingGate`, `GatedAnswer`, `NoFence`, `ReadGate`, `Stale` |
//! | [`leader::fence::sql`] | `NotAdmitted` |
//! | [`leader::schedule`] | `DueTimes`, `Misfire`, `ScheduleBuilder`, `ScheduleError`, `ScheduleHandle`, `ScheduleRecord`, `ScheduleState`, `ScheduleStatus`, `SchedulesBuilder`, `Tick`, `TickOutcome` |
//! | [`group`] | `Counts`, `Envelope`, `Group`, `GroupError`, `Holder`, `JoinError`, `OpenError` |
//! | [`history`] | `GroupHistory`, `Leadership`, `LeadershipEnd`, `PastFinding` |
//! | [`store`] | `FileStore`, `Generation`, `Generations`, `Incarnations`, `MemoryStore`, `OpenStore`, `Outlook`, `Saving`, `StoreError`, `StoreIdentity`, `TermStore` |
//! | [`clock`] | `BootClock`, `Clock`, `ClockError`, `RuntimeClock`, `SystemWallClock`, `WallClock`, `WallTime` |
//! | [`register`] | `AttachError`, `Change`, `ChangeStream`, `Entry`, `FileRegister`, `MemoryRegister`, `Register`, `RegisterError`, `RegisterKey`, `RegisterListing`, `RegisterReading`, `RegisterRefusal`, `Removal`, `Removing`, `StoreClock`, `Swap`, `Swapping`, `Version` |
//! | [`remote`] | `BridgeBuilder`, `BridgeCounts`, `BridgeError`, `BridgeEvent`, `BridgeHandle`, `ClusterId`, `DrainTimedOut`, `Limits`, `LimitsBuilder`, `LimitsError`, `LinkId`, `LinkStatus`, `MayBe`, `NodeId`, `NodeIdError`, `NodeIncarnation`, `Peer`, `PeerStatus`, `RemoteBridge`, `RemoteMessage`, `Rights`, `Traffic` |
//! | [`remote::transport`] | `Datagrams`, `IncomingStream`, `Listener`, `Pending`, `StartingBridge`, `Stream`, `Tcp`, `Transport` |
//! | [`supervisor`] | `Exit`, `Guardian`, `GuardianBuilder`, `PolicyError`, `RestartPolicy`, `RestartPolicyBuilder`, `Supervision` |
//! | [`operate`] | `AgentRecording`, `AgentReport`, `BridgeReport`, `Command`, `CommandRefusal`, `ContenderReport`, `Explanation`, `LinkReport`, `MemberReport`, `Operated`, `Order`, `Outcome`, `OutcomeVerdict`, `RecordFolder`, `RecordRequest`, `Report`, `SocketError`, `SocketGuard` |
//! | [`protocol`] | `About`, `AboutError`, `AgentId`, `ChangeError`, `Changed`, `Contact`, `Detector`, `Event`, `IdError`, `Incarnation`, `Leader`, `LostReason`, `Measurement`, `MemberKind`, `NewVoter`, `Presence`, `Role`, `Round`, `Score`, `SettingError`, `StoreId`, `Term`, `Time`, `Timings`, `TimingsBuilder`, `VoterChange`, `VotersEvent` |
//! | [`record`] | `Difference`, `RecordLimits`, `Recording`, `RecordingError` |
//! | [`elections::bully`] | `Elect`, `Elected`, `Ok`, `Preemption` |
//! | [`elections::lease`] | `LeaseConfig` |
//! | [`elections::quorum`] | `QuorumConfig`, `Vote` |
//!
//! # Read on
//! [`guide`] is six pages to read in order, each with a program. [`elections`] has the promise of
//! each election, and leads to its rules. [`agent`] shows how an actor runs an election, [`leader`] how an
//! application uses a leadership, [`remote`] how a group reaches other hosts. `config`, with the feature `serde`, lists
//! the settings of an operator; `testkit` breaks a group on purpose.
//!
//! [actix]: https://docs.rs/actix
#![forbid(unsafe_code)]
#![cfg_attr(docsrs, feature(doc_cfg))]
// This lint holds in builds with `testkit`, which include all tests.
#![cfg_attr(
    not(feature = "testkit"),
    allow(
        unreachable_pub,
        unnameable_types,
        reason = "what tests alone name is public for them alone"
    )
)]
#![cfg_attr(
    feature = "actix-web",
    allow(
        clippy::cognitive_complexity,
        reason = "actix-web has the macros of `tracing` write to `log` as well, and the lint counts what they expand to; the builds without it hold the lint"
    )
)]

#[macro_use(debug_is_text)]
extern crate bully_core;

#[macro_use]
mod for_tests;

pub mod agent;
pub mod clock;
#[cfg(feature = "serde")]
#[cfg_attr(docsrs, doc(cfg(feature = "serde")))]
pub mod config;
#[cfg(feature = "dashboard")]
#[cfg_attr(docsrs, doc(cfg(feature = "dashboard")))]
pub mod dashboard;
pub mod elections;
pub mod group;
pub mod guide;
pub mod history;
pub mod leader;
#[cfg(feature = "metrics")]
#[cfg_attr(docsrs, doc(cfg(feature = "metrics")))]
pub mod metrics;
#[cfg(not(feature = "metrics"))]
#[path = "metrics/off.rs"]
mod metrics;
pub mod operate;
pub mod prelude;
pub mod protocol;
pub mod record;
pub mod register;
pub mod remote;
mod shown;
mod similar;
pub mod store;
pub mod supervisor;
#[cfg(feature = "testkit")]
pub mod testkit;
#[cfg(feature = "actix-web")]
#[cfg_attr(docsrs, doc(cfg(feature = "actix-web")))]
pub mod web;

/// The participants of one bully election. [`group::Group`] is the same for any election.
///
/// ```
/// let group = actix_bully::Group::new("schedulers")?;
/// assert_eq!(group.name(), "schedulers");
/// # Ok::<(), actix_bully::group::GroupError>(())
/// ```
// The alias has no type parameter. With one, even with a default, `Group::new("x")` would not compile, because the
// compiler ignores such defaults in expressions.
pub type Group = group::Group<agent::any::AnyMessage>;

/// The README's programs compile, and run unless they are marked `no_run`. Blocks marked `ignore` are pieces of an
/// example (`tests/layering.rs` compares them).
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
pub struct Readme;
