//! The agent of a bully election: its typed messages, and its own settings.
//!
//! Decided here: the settings, the modes that have each setting, and the calls that make a setting. Not here: the
//! meaning of several calls together (`choices.rs`).

use std::{
    sync::{Arc, OnceLock},
    time::Duration,
};

use actix::{Context, Handler};

use crate::{
    agent::any::{AnyBully, AnyConfig},
    elections::{
        lease::LeaseConfig,
        quorum::{Diskless, QuorumConfig},
    },
    group::Envelope,
    protocol::{AgentId, Input, Preemption, Score, Timings},
    register::Register,
};
use bully_core::elections::{
    bully::BullyConfig,
    message::{Elect, Elected, Ok},
};

use super::{
    Agent, AgentBuilder, BullyElection, ElectionHandle,
    choices::{Basis, Choices, Mode, resolve},
};

/// An agent of a bully election.
///
/// The agent receives the messages of other agents. It also receives the messages of the textbook by their own types,
/// each in an [`Envelope`]: [`Elect`], [`Ok`] and [`Elected`]; and the command [`BullyElection`].
pub type BullyAgent = Agent<AnyBully>;

/// An application's handle of a [`BullyAgent`]: an [`ElectionHandle`]. Clones are handles of the same agent.
///
/// | to | call |
/// |---|---|
/// | know who leads | [`is_leader`](ElectionHandle::is_leader), [`leader`](ElectionHandle::leader), [`leader_about`](ElectionHandle::leader_about), [`wait_for_leader`](ElectionHandle::wait_for_leader), [`changes`](ElectionHandle::changes), [`current`](ElectionHandle::current), [`subscribe`](ElectionHandle::subscribe) |
/// | work while the agent leads | [`lead`](ElectionHandle::lead), [`lead_with`](ElectionHandle::lead_with), [`drained`](ElectionHandle::drained), [`subscribe_draining`](ElectionHandle::subscribe_draining) |
/// | run work at certain times | [`every`](ElectionHandle::every), [`schedule`](ElectionHandle::schedule), [`schedule_stream`](ElectionHandle::schedule_stream), [`schedules`](ElectionHandle::schedules), `cron` (feature `cron`) |
/// | decide who leads | [`set_score`](ElectionHandle::set_score), [`withdraw_score`](ElectionHandle::withdraw_score), [`campaign`](ElectionHandle::campaign), [`step_down`](ElectionHandle::step_down) |
/// | change the voters | [`voters`](ElectionHandle::voters), [`add_voter`](ElectionHandle::add_voter), [`remove_voter`](ElectionHandle::remove_voter), [`replace_voter`](ElectionHandle::replace_voter) |
/// | know which features work | [`offers`](ElectionHandle::offers) |
/// | see why | [`diagnosis`](ElectionHandle::diagnosis), [`record`](ElectionHandle::record), [`is_recording`](ElectionHandle::is_recording), [`recorded`](ElectionHandle::recorded), [`recorded_without_leader`](ElectionHandle::recorded_without_leader) |
/// | end the agent | [`leave`](ElectionHandle::leave), [`tie_to`](ElectionHandle::tie_to) |
/// | describe the agent to others | [`set_about`](ElectionHandle::set_about) |
/// | address it | [`id`](ElectionHandle::id), [`addr`](ElectionHandle::addr) |
pub type BullyHandle = ElectionHandle<AnyBully>;

/// Settings of a [`BullyAgent`], made by [`BullyAgent::builder`]: an [`AgentBuilder`].
///
/// | to | call |
/// |---|---|
/// | choose who takes part | [`builder`](BullyAgent::builder), [`join`](AgentBuilder::join), [`score`](AgentBuilder::score), [`ineligible`](AgentBuilder::ineligible), [`about`](AgentBuilder::about), [`observer`](AgentBuilder::observer) |
/// | have one leader at most, by voters | [`quorum`](AgentBuilder::quorum), [`store`](AgentBuilder::store), [`diskless`](AgentBuilder::diskless), [`epoch`](AgentBuilder::epoch), [`learner`](AgentBuilder::learner) |
/// | have one leader at most, by a store | [`lease`](AgentBuilder::lease), [`lease_with`](AgentBuilder::lease_with) |
/// | choose another election | [`astra`](AgentBuilder::astra) |
/// | choose when the leader changes | [`preemption`](AgentBuilder::preemption), [`margin`](AgentBuilder::margin), [`drain`](AgentBuilder::drain), [`cooldown`](AgentBuilder::cooldown) |
/// | set the times of waiting | [`timings`](AgentBuilder::timings), [`worst_case_start`](AgentBuilder::worst_case_start) |
/// | set all of a quorum at once | [`quorum_config`](AgentBuilder::quorum_config) |
/// | receive events | [`parent`](AgentBuilder::parent), [`subscribe`](AgentBuilder::subscribe) |
/// | run it elsewhere, or in a test | [`restart_policy`](AgentBuilder::restart_policy), [`clock`](AgentBuilder::clock), [`recovering`](AgentBuilder::recovering), `wall_clock` and `seed` (feature `testkit`) |
/// | start | [`start`](AgentBuilder::start), [`start_in_arbiter`](AgentBuilder::start_in_arbiter) |
pub type BullyBuilder = AgentBuilder<AnyBully>;

impl BullyAgent {
    /// Makes the settings of an agent. The name is checked at the start.
    ///
    /// # Examples
    /// ```
    /// use std::time::Duration;
    /// use actix_bully::{Group, agent::BullyAgent};
    ///
    /// actix::System::new().block_on(async {
    ///     let group = Group::new("demo")?;
    ///     let low = BullyAgent::builder("a").score(10).join(&group).start()?;
    ///     let high = BullyAgent::builder("b").score(30).join(&group).start()?;
    ///
    ///     let leader = low.wait_for_leader(Duration::from_secs(5)).await?;
    ///     assert_eq!(&leader.id, high.id());
    ///     # Ok::<(), Box<dyn std::error::Error>>(())
    /// }).unwrap();
    /// ```
    pub fn builder(name: &str) -> AgentBuilder<AnyBully> {
        // The default configuration is made once for the process, so that all agents with it share its memory.
        static DEFAULT: OnceLock<Arc<BullyConfig>> = OnceLock::new();
        let config = Arc::clone(DEFAULT.get_or_init(Arc::default));
        let mut builder = Self::with_config(name, AnyConfig::Available(config));
        builder.basis = Basis::Defaults;
        builder
    }

    /// Makes the settings of an agent from a configuration that already has all settings of its election.
    #[cfg(feature = "serde")]
    pub(crate) fn configured(name: &str, config: AnyConfig) -> AgentBuilder<AnyBully> {
        let mut builder = Self::with_config(name, config);
        builder.resolve = resolve;
        builder
    }
}

/// The settings whose call only stores a value. A row has the documentation and the call of the builder, with the value
/// that the call stores; the modes that have the setting (available, ASTRA, quorum, lease); and the setting's key in a
/// configuration file. The configuration of each of these modes has a field with the setting's name. Another macro
/// receives the table, and takes the parts of the rows that it needs. A key that is missing here is in
/// `Config::choices` (`src/config/settings.rs`).
macro_rules! settings {
    ($to:ident) => { $to! {
        /// Sets the times for which an agent waits. Every member needs the same timings. Default: [`Timings::default`],
        /// or [`Timings::astra`] for the [ASTRA rules](Self::astra).
        timings(timings: Timings) -> Timings { timings } yes yes yes yes;

        /// Sets when the agent, as a leader, yields to an agent of a higher rank. Default: at once; in the quorum mode
        /// and with a lease after 10 s.
        preemption(preemption: Preemption) -> Preemption { preemption } yes no yes yes, preemption;

        /// Sets the amount by which a challenger's score must exceed the leader's score. Default: any amount is enough.
        /// No part of the amount may be negative.
        margin(margin: impl Into<Score>) -> Score { margin.into() } yes no yes yes, margin;

        /// Sets the longest time for which work may go on after the agent was asked to hand over. Default: 5 s; in
        /// quorum mode the length of the lease minus two delay bounds. With 0 a hand-over does not wait for work.
        drain(drain: Duration) -> Duration { drain } yes yes yes yes, drain;

        /// Sets the cool-down: the time for which an agent that stepped down lets other agents lead first. Default: 60
        /// s.
        cooldown(cooldown: Duration) -> Duration { cooldown } yes yes yes yes, cooldown;

        /// Sets the epoch of the list of voters. The epoch grows by one with every change of the list, and is the same
        /// at every member. Default: 0. At most 16,777,215. In a mode without voters the call is refused. The page of
        /// [`quorum`](bully_core::elections::quorum) explains how voters are changed.
        ///
        /// Members of different epochs do not vote together. A member of an earlier epoch takes part in the later epoch
        /// as soon as it receives the voters' decision. If the later epoch was configured, there is no such decision,
        /// and the member never takes part; then a diagnosis reports this on both sides
        /// ([`ListOlder`](super::Finding::ListOlder), [`OtherListOlder`](super::Finding::OtherListOlder)). An agent
        /// that took part in a later epoch does not start in an earlier one.
        epoch(epoch: u64) -> u64 { epoch } no no yes no, quorum.epoch;

        /// Makes the agent a *learner*: it has a store, but is not in the list of voters. A learner follows the leader,
        /// and can be made a voter while the group runs ([epochs](crate::elections::quorum::epoch)). A voter that was
        /// removed may start as a learner. In quorum mode, an agent with a store that is not listed is refused without
        /// this call.
        learner() -> bool { true } no no yes no, quorum.learner;

        /// Declares that the voters have no disk, as in containers without a volume. The memory of the other voters and
        /// the clocks replace the [`store`](Self::store), and a store is refused. All members must make the same
        /// choice. Without [`quorum`](Self::quorum) this call is refused.
        ///
        /// At any instant at most one agent leads, as with disks. The price: each start waits, 2.06 s at most with the
        /// default timings ([`worst_case_start`](Self::worst_case_start)), and the token is a
        /// [`ConditionalFence`](super::ConditionalFence): work that uses the token as a fence must accept its condition
        /// first. The page [`diskless`](crate::elections::quorum::diskless) has the rules.
        ///
        /// # Examples
        /// ```
        /// use actix_bully::{Group, agent::{BullyAgent, StartError}, store::MemoryStore};
        ///
        /// actix::System::new().block_on(async {
        ///     let group = Group::new("demo")?;
        ///     let agent = |name| BullyAgent::builder(name).quorum(["a", "b", "c"]).diskless().join(&group);
        ///     let with_store = agent("a").store(MemoryStore::new()).start();
        ///     assert!(matches!(with_store, Err(StartError::StoreRefused)));
        ///     let agents = [agent("a").start()?, agent("b").start()?, agent("c").start()?];
        ///     let leader = agents[0].wait_for_leader(std::time::Duration::from_secs(10)).await?;
        ///     assert_eq!(leader.id, "c");
        ///     # Ok::<(), Box<dyn std::error::Error>>(())
        /// }).unwrap();
        /// ```
        diskless() -> Diskless { Diskless::default() } no no yes no;
    } };
}
pub(crate) use settings;

/// Makes the calls of the table.
macro_rules! setters {
    ($(
        $(#[$doc:meta])*
        $setting:ident($($given:ident: $from:ty)?) -> $type:ty { $value:expr } $($mode:ident)* $(, $($key:ident).+)?;
    )*) => { $(
        $(#[$doc])*
        pub fn $setting(self $(, $given: $from)?) -> Self {
            self.set(|choices| choices.$setting = Some($value))
        }
    )* };
}

/// The calls may come in any order: they are combined when the agent starts. A contradiction is then refused
/// ([`StartError::Contradiction`](super::StartError::Contradiction)), and so is a setting that the mode lacks
/// ([`StartError::NeedsMode`](super::StartError::NeedsMode)). If a setting is made twice, the last value
/// counts.
impl AgentBuilder<AnyBully> {
    /// Turns the quorum mode on: two agents never lead at the same time. List all voters, including this agent unless
    /// it is an observer. Every member lists the same voters.
    ///
    /// Settings that no call makes have the defaults of [`QuorumConfig`]: a running leader yields after 10 s. After a
    /// restart it takes up to 1.47 s until there is a leader ([times](AgentBuilder#time-until-the-first-leader)). The
    /// agent needs a [`store`](Self::store) for its vote. Timers renew a leader's lease: on an
    /// [`ElectionArbiter`](super::ElectionArbiter) no other busy actor delays them.
    ///
    /// # Examples
    /// ```
    /// use actix_bully::{Group, agent::BullyAgent, store::MemoryStore};
    ///
    /// actix::System::new().block_on(async {
    ///     let group = Group::new("demo")?;
    ///     let mut agents = Vec::new();
    ///     for (name, score) in [("a", 1), ("b", 2), ("c", 3)] {
    ///         let agent = BullyAgent::builder(name).score(score).quorum(["a", "b", "c"]);
    ///         agents.push(agent.store(MemoryStore::new()).join(&group).start()?);
    ///     }
    ///     let leader = agents[0].wait_for_leader(std::time::Duration::from_secs(5)).await?;
    ///     assert_eq!(leader.id.as_str(), "c");
    ///     # Ok::<(), Box<dyn std::error::Error>>(())
    /// }).unwrap();
    /// ```
    pub fn quorum<V: AsRef<str>>(self, voters: impl IntoIterator<Item = V>) -> Self {
        let ids = voters
            .into_iter()
            .map(|name| AgentId::new(name.as_ref()))
            .collect();
        self.mode(Mode::Quorum(ids))
    }

    /// Turns on the mode of a lease in a store. The agents of a group, in any number of processes, need not talk to
    /// each other. At most one leads, because a store that all of them reach gives the lease to one agent. The agents
    /// of one process share their requests to the store; all agents of a group use the same store.
    ///
    /// Settings that no call makes have the defaults of [`LeaseConfig`]: a running leader yields after 10 s. The
    /// first leader, and the successor of a leader that crashed, waits for the lease, up to 1.81 s
    /// ([times](AgentBuilder#time-until-the-first-leader)). There are no voters and no votes to keep. The lease has the
    /// name of the group, in the cluster `default`: see [`lease_with`](Self::lease_with).
    ///
    /// ```
    /// use actix_bully::{Group, agent::BullyAgent, register::MemoryRegister};
    ///
    /// actix::System::new().block_on(async {
    ///     // Two processes, as it were: they share nothing but the store.
    ///     let (here, there) = (Group::new("jobs")?, Group::new("jobs")?);
    ///     let store = MemoryRegister::new();
    ///     let low = BullyAgent::builder("a").score(1).lease(store.clone()).join(&here).start()?;
    ///     let leader = low.wait_for_leader(std::time::Duration::from_secs(5)).await?;
    ///     assert_eq!(leader.id, "a");
    ///     let high = BullyAgent::builder("b").score(2).lease(store).join(&there).start()?;
    ///     let leader = high.wait_for_leader(std::time::Duration::from_secs(5)).await?;
    ///     assert_eq!(leader.id, "a"); // for ten seconds
    ///     # Ok::<(), Box<dyn std::error::Error>>(())
    /// }).unwrap();
    /// ```
    pub fn lease(self, register: impl Register + 'static) -> Self {
        self.mode(Mode::Lease(Arc::new(register)))
    }

    /// Turns on the mode of a lease in a store with all settings at once, like [`quorum_config`](Self::quorum_config). The lease
    /// belongs to the group that the agent [joins](Self::join), even if the settings name another group.
    pub fn lease_with(self, config: Arc<LeaseConfig>, register: impl Register + 'static) -> Self {
        self.mode(Mode::LeaseWith(config, Arc::new(register)))
    }

    /// Returns the longest time between the start of a majority of the voters and the first leader, if all voters are
    /// up: [`QuorumConfig::worst_case_start`] of the settings so far. `None` without voters, and with settings that
    /// [`start`](Self::start) refuses.
    pub fn worst_case_start(&self) -> Option<Duration> {
        match self.choices.config((&self.config, self.basis)).ok()? {
            AnyConfig::Available(_) | AnyConfig::Astra(_) | AnyConfig::Lease(_) => None,
            AnyConfig::Quorum(config) => Some(config.worst_case_start(0)),
        }
    }

    /// Chooses the plain ASTRA rules ([`astra`](bully_core::elections::astra)). The rules have neither preemption nor a
    /// margin, so the start refuses this call together with [`preemption`](Self::preemption) or
    /// [`margin`](Self::margin).
    ///
    /// **No agent begins an election by itself**: call [`campaign`](super::ElectionHandle::campaign) at one agent when
    /// the agents have started, and when the leader is silent. The leader is known 2 s later, after the deadline of
    /// [`Timings::astra`]. Only an agent that comes back ([`recovering`](Self::recovering)) begins an election without
    /// a call.
    ///
    /// # Examples
    /// ```
    /// use std::time::Duration;
    /// use actix_bully::{Group, agent::{BullyAgent, WaitError}};
    ///
    /// # actix_bully::testkit::virtual_system().block_on(async {
    /// let group = Group::new("demo")?;
    /// let low = BullyAgent::builder("a").score(1).astra().join(&group).start()?;
    /// let high = BullyAgent::builder("b").score(2).astra().join(&group).start()?;
    /// let in_vain = low.wait_for_leader(Duration::from_secs(10)).await.unwrap_err();
    /// assert!(matches!(in_vain, WaitError::TimedOut { longest: None, .. }));
    /// assert!(in_vain.to_string().ends_with("call `campaign()` at one of them"));
    ///
    /// high.campaign()?;
    /// let leader = low.wait_for_leader(Duration::from_millis(2_100)).await?;
    /// assert_eq!(leader.id, "b");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # }).unwrap();
    /// ```
    pub fn astra(self) -> Self {
        self.mode(Mode::Astra)
    }

    settings!(setters);

    /// Sets all settings of the quorum mode at once. Agents that share one `Arc` share the memory. The start refuses
    /// this call together with a call that makes a single setting of the mode.
    pub fn quorum_config(self, config: Arc<QuorumConfig>) -> Self {
        self.mode(Mode::QuorumConfig(config))
    }

    /// Records the mode. `start` refuses two different modes.
    pub(super) fn mode(self, mode: Mode) -> Self {
        self.set(|choices| choices.choose(mode))
    }

    fn set(mut self, change: impl FnOnce(&mut Choices)) -> Self {
        change(&mut self.choices);
        self.resolve = resolve;
        self
    }
}

impl Handler<BullyElection> for BullyAgent {
    type Result = ();

    fn handle(&mut self, BullyElection: BullyElection, ctx: &mut Context<Self>) {
        self.step(Input::Campaign, ctx);
    }
}

macro_rules! handle_messages {
    ($($message:ident),*) => { $(
        impl Handler<Envelope<$message>> for BullyAgent {
            type Result = ();

            fn handle(&mut self, envelope: Envelope<$message>, ctx: &mut Context<Self>) {
                self.receive(envelope.map(Into::into), ctx);
            }
        }
    )* };
}
handle_messages!(Elect, Ok, Elected);
