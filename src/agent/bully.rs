//! The agent of a bully election: its typed messages, and its own settings.

use std::{
    sync::{Arc, OnceLock},
    time::Duration,
};

use actix::{Context, Handler};

use crate::{
    agent::any::{AnyBully, AnyConfig},
    elections::{astra::AstraConfig, bully::BullyConfig, quorum::QuorumConfig},
    group::Envelope,
    protocol::{AgentId, Input, Preemption, Score, Timings},
};
use bully_core::elections::message::{Elect, Elected, Ok};

use super::{
    Agent, AgentBuilder, BullyElection, ElectionHandle,
    choices::{Basis, Choices, Mode, resolve},
};

/// An agent of a bully election.
///
/// Beside what agents say to it, it takes the messages of the textbook by their own types, each in an [`Envelope`]:
/// [`Elect`], [`Ok`] and [`Elected`]; and [`BullyElection`].
pub type BullyAgent = Agent<AnyBully>;

/// An application's side of a [`BullyAgent`]: an [`ElectionHandle`]. Clones stand for the same agent.
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
/// | say something of the agent | [`set_about`](ElectionHandle::set_about) |
/// | address it | [`id`](ElectionHandle::id), [`addr`](ElectionHandle::addr) |
pub type BullyHandle = ElectionHandle<AnyBully>;

/// Settings of a [`BullyAgent`], made by [`BullyAgent::builder`]: an [`AgentBuilder`].
///
/// | to | call |
/// |---|---|
/// | say who takes part | [`builder`](BullyAgent::builder), [`join`](AgentBuilder::join), [`score`](AgentBuilder::score), [`ineligible`](AgentBuilder::ineligible), [`about`](AgentBuilder::about), [`observer`](AgentBuilder::observer) |
/// | have one leader at most, by voters | [`quorum`](AgentBuilder::quorum), [`store`](AgentBuilder::store), [`diskless`](AgentBuilder::diskless), [`epoch`](AgentBuilder::epoch), [`learner`](AgentBuilder::learner) |
/// | have one leader at most, by a store | [`lease`](AgentBuilder::lease), [`lease_with`](AgentBuilder::lease_with) |
/// | choose another election | [`astra`](AgentBuilder::astra) |
/// | say when the leader changes | [`preemption`](AgentBuilder::preemption), [`margin`](AgentBuilder::margin), [`drain`](AgentBuilder::drain), [`cooldown`](AgentBuilder::cooldown) |
/// | say how long to wait | [`timings`](AgentBuilder::timings), [`worst_case_start`](AgentBuilder::worst_case_start) |
/// | set all of an election at once | [`config`](AgentBuilder::config), [`astra_config`](AgentBuilder::astra_config), [`quorum_config`](AgentBuilder::quorum_config) |
/// | be told | [`parent`](AgentBuilder::parent), [`subscribe`](AgentBuilder::subscribe) |
/// | run it elsewhere, or in a test | [`restart_policy`](AgentBuilder::restart_policy), [`clock`](AgentBuilder::clock), [`recovering`](AgentBuilder::recovering), `wall_clock` and `seed` (feature `testkit`) |
/// | start | [`start`](AgentBuilder::start), [`start_in_arbiter`](AgentBuilder::start_in_arbiter) |
pub type BullyBuilder = AgentBuilder<AnyBully>;

impl BullyAgent {
    /// Names an agent; its name is checked when it starts.
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
        static DEFAULT: OnceLock<Arc<BullyConfig>> = OnceLock::new();
        let config = Arc::clone(DEFAULT.get_or_init(Arc::default));
        let mut builder = Self::with_config(name, AnyConfig::Available(config));
        builder.basis = Basis::Defaults;
        builder
    }
}

/// The order of calls does not matter: they are put together when the agent starts, and a contradiction is
/// refused then ([`StartError::Contradiction`](super::StartError::Contradiction)). A setting that is made twice has the
/// latest value.
impl AgentBuilder<AnyBully> {
    /// Turns the quorum mode on: never two leaders. All voters are named, this agent among them
    /// unless it is an observer; every member names the same.
    ///
    /// Settings that no call makes, before or after, have the defaults of [`QuorumConfig`]: a live leader gives
    /// way after 10 s. The agent needs a [`store`](Self::store) for its vote. Its lease is kept by timers: on an
    /// [`ElectionArbiter`](super::ElectionArbiter) no busy neighbour makes them late.
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

    /// The voters have no disk, as in containers without a volume: the others' memory and the clocks take the place of a
    /// [`store`](Self::store), which is refused. The same at every member; without [`quorum`](Self::quorum) it is refused.
    ///
    /// One agent leads at any instant, as with disks. The price: each start waits, at the longest for
    /// [`worst_case_start`](Self::worst_case_start), and the token is a
    /// [`ConditionalFence`](super::ConditionalFence). The page [`diskless`](crate::elections::quorum::diskless) has the rules.
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
    pub fn diskless(self) -> Self {
        self.set(|choices| choices.is_diskless = true)
    }

    /// [`QuorumConfig::worst_case_start`] of these settings, if all voters are there: the longest from when a majority of
    /// them has begun until one leads. `None` without voters, and with settings that [`start`](Self::start) refuses.
    pub fn worst_case_start(&self) -> Option<Duration> {
        match self.choices.config((&self.config, self.basis)).ok()? {
            AnyConfig::Available(_) | AnyConfig::Astra(_) | AnyConfig::Lease(_) => None,
            AnyConfig::Quorum(config) => Some(config.worst_case_start(0)),
        }
    }

    /// Which choice of voters it is: one higher with every change of them; the same at every member. Default: 0.
    /// At most 16,777,215; without voters it is refused. The page of [`quorum`](crate::elections::quorum) says how voters are changed.
    ///
    /// Members of different epochs do not vote together: one of an earlier epoch takes part in the later one as soon as
    /// the voters' decision of it reaches it, and not at all where the later one was configured: then a diagnosis says
    /// so at both ends ([`ListOlder`](super::Finding::ListOlder), [`OtherListOlder`](super::Finding::OtherListOlder)).
    /// An agent that took part in a later epoch does not start in an earlier one.
    pub fn epoch(self, epoch: u64) -> Self {
        self.set(|choices| choices.epoch = Some(epoch))
    }

    /// In quorum mode: takes part with its store although it is not listed, as a *learner*. It follows the leader, and
    /// can be made a voter while the group runs ([epochs](crate::elections::quorum::epoch)). A voter that was removed
    /// may start so. Without it, a voter that is not listed is refused.
    pub fn learner(self) -> Self {
        self.set(|choices| choices.is_learner = true)
    }

    /// How long an agent waits for each thing; the same at every member. Default: [`Timings::default`], and
    /// [`Timings::astra`] for the [ASTRA rules](Self::astra).
    pub fn timings(self, timings: Timings) -> Self {
        self.set(|choices| choices.timings = Some(timings))
    }

    /// The plain ASTRA rules ([`astra`](crate::elections::astra)). They have neither a
    /// [`preemption`](Self::preemption) nor a [`margin`](Self::margin), and are refused together with them.
    pub fn astra(self) -> Self {
        self.mode(Mode::Astra)
    }

    /// When the agent, as a leader, gives way to one of a higher rank. Default: at once; in quorum
    /// mode after 10 s.
    pub fn preemption(self, preemption: Preemption) -> Self {
        self.set(|choices| choices.preemption = Some(preemption))
    }

    /// By how much a challenger's score must exceed the leader's. Default: by anything at all.
    /// No part may be negative.
    pub fn margin(self, margin: impl Into<Score>) -> Self {
        let margin = margin.into();
        self.set(|choices| choices.margin = Some(margin))
    }

    /// The longest that work may go on when the agent has to hand over. Default: 5 s, in quorum
    /// mode within the lease; with 0 a hand-over waits for no work.
    pub fn drain(self, drain: Duration) -> Self {
        self.set(|choices| choices.drain = Some(drain))
    }

    /// The cool-down: for how long an agent that stepped down lets the others go first. Default: 60 s.
    pub fn cooldown(self, cooldown: Duration) -> Self {
        self.set(|choices| choices.cooldown = Some(cooldown))
    }

    /// All settings of the available mode at once; agents that share one `Arc` share the memory. No call that makes one
    /// of them stands beside it.
    pub fn config(self, config: Arc<BullyConfig>) -> Self {
        self.mode(Mode::Config(config))
    }

    /// All settings of the ASTRA rules at once, as with [`config`](Self::config).
    pub fn astra_config(self, config: Arc<AstraConfig>) -> Self {
        self.mode(Mode::AstraConfig(config))
    }

    /// All settings of the quorum mode at once, as with [`config`](Self::config).
    pub fn quorum_config(self, config: Arc<QuorumConfig>) -> Self {
        self.mode(Mode::QuorumConfig(config))
    }

    /// Records the mode: `start` refuses two that differ.
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
