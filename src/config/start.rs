//! From a configuration to a running agent.
//!
//! Decided here: the order of a start (files, arbiter, bridge, agent, records), that the bridge runs on the same thread
//! as the agent, and which key an error contains. Not here: which values fit together (`check.rs`), and the end
//! (`running.rs`).

use std::{
    fmt,
    path::{Path, PathBuf},
    sync::{Arc, mpsc},
    time::Duration,
};

use crate::{
    agent::{
        AgentBuilder, BullyAgent, BullyHandle, ElectionArbiter, StartError,
        any::{AnyBully, AnyConfig},
    },
    elections::{AnyMessage, quorum::Vote},
    group::Group,
    leader::schedule::ScheduleRecord,
    operate::RecordFolder,
    protocol::Timings,
    remote::{
        BridgeBuilder, BridgeHandle, MayBe, Peer, RemoteBridge, RemoteMessage, Rights,
        transport::Transport,
    },
    store::{FileStore, OpenStore, StoreError},
};
use actix::ArbiterHandle;

use super::{
    Config, ConfigError, PeerSettings, RunError, RunningNode,
    check::Plan,
    credentials::Credentials,
    run_error::{agent_error, bridge_error},
};

impl Config {
    /// Starts the parts of the configuration: the group, the agent, and the bridge if there are peers or an address to
    /// listen at. A configuration with the section `zenoh` is refused here; start it by the crate `actix-bully-zenoh`.
    /// With voters the agent and the bridge run on a thread of their own ([`ElectionArbiter`]), where no other busy
    /// actor can delay a lease. Without voters they run on the current arbiter.
    ///
    /// The call reads the secret or the certificates, and opens the store. It blocks while it reads these files, which
    /// are small.
    ///
    /// # Errors
    /// [`RunError`] contains the wrong key, if a key is wrong. After an error nothing runs. A new store, and the new
    /// incarnation of the node, may already be on the disk.
    ///
    /// # Panics
    /// Outside of the event loop, as every start of an actor does.
    ///
    /// # Examples
    /// ```
    /// use std::time::Duration;
    /// use actix_bully::config::Config;
    ///
    /// actix::System::new().block_on(async {
    ///     let config = Config::from_toml("node = \"api-1\"\ngroup = \"jobs\"")?;
    ///     let running = config.start()?;
    ///     let leader = running.agent().wait_for_leader(Duration::from_secs(5)).await?;
    ///     assert_eq!(leader.id, "api-1");
    ///     running.leave(Duration::from_secs(10)).await?;
    ///     # Ok::<(), Box<dyn std::error::Error>>(())
    /// }).unwrap();
    /// ```
    pub fn start(&self) -> Result<RunningNode, RunError> {
        self.starter()?.start()
    }

    /// Returns a [`Starter`], for a start with settings that a text cannot express.
    ///
    /// # Errors
    /// The errors of [`check`](Self::check).
    pub fn starter(&self) -> Result<Starter, ConfigError> {
        Ok(Starter {
            plan: self.plan()?,
            config: self.clone(),
            bridge: Vec::new(),
            agent: Vec::new(),
            is_here: false,
            has_network: false,
        })
    }
}

/// A checked configuration, to which a program may add settings that a text cannot express.
#[must_use = "nothing runs until `start` is called"]
pub struct Starter {
    config: Config,
    plan: Plan,
    bridge: Vec<ChangeBridge>,
    agent: Vec<ChangeAgent>,
    is_here: bool,
    /// Whether the program has called [`zenoh`](Self::zenoh), which sets the network that the section `zenoh` needs.
    has_network: bool,
}

/// A change of the bridge's builder, which is sent to the arbiter (thread) on which the bridge will run.
type ChangeBridge = Box<dyn FnOnce(BridgeBuilder) -> BridgeBuilder + Send>;
type ChangeAgent = Box<dyn FnOnce(AgentBuilder<AnyBully>) -> AgentBuilder<AnyBully>>;

impl Starter {
    /// Returns the group that the agent will join.
    pub fn group(&self) -> &Group<AnyMessage> {
        &self.plan.group
    }

    /// Returns the durations of the election.
    pub fn timings(&self) -> &Timings {
        match &self.plan.election {
            AnyConfig::Available(config) => &config.timings,
            AnyConfig::Astra(config) => &config.timings,
            AnyConfig::Quorum(config) => &config.timings,
            AnyConfig::Lease(config) => &config.timings,
        }
    }

    /// Returns the longest time that the leader's work on this node may take to end after a step-down.
    pub fn drain(&self) -> Duration {
        match &self.plan.election {
            AnyConfig::Available(config) => config.drain,
            AnyConfig::Astra(config) => config.drain,
            AnyConfig::Quorum(config) => config.drain(),
            AnyConfig::Lease(config) => config.drain(),
        }
    }

    /// Changes the settings of the agent: its subscribers, its restart policy, its parent. May be called more than
    /// once.
    pub fn agent(
        mut self,
        change: impl FnOnce(AgentBuilder<AnyBully>) -> AgentBuilder<AnyBully> + 'static,
    ) -> Self {
        self.agent.push(Box::new(change));
        self
    }

    /// Changes the settings of the bridge, such as its restart policy or its [`transport`](BridgeBuilder::transport).
    /// May be called more than once. If the configuration has no peers, no address to listen at and no zenoh, no bridge
    /// starts, and the changes are not called.
    pub fn bridge(
        mut self,
        change: impl FnOnce(BridgeBuilder) -> BridgeBuilder + Send + 'static,
    ) -> Self {
        self.bridge.push(Box::new(change));
        self
    }

    /// Lets the bridge carry another group too. Start the agents of the other group after [`start`](Self::start).
    pub fn carry<M: RemoteMessage>(self, group: &Group<M>) -> Self {
        let group = group.clone();
        self.bridge(move |bridge| bridge.carry(&group))
    }

    /// Runs everything on the current arbiter, also with voters. For tests in virtual time, and for a program that
    /// calls this on an [`ElectionArbiter`] of its own.
    pub fn on_this_arbiter(mut self) -> Self {
        self.is_here = true;
        self
    }

    /// Sets the network that the section `zenoh` describes; the crate `actix-bully-zenoh` calls this. For a network of
    /// your own see [`bridge`](Self::bridge) and [`BridgeBuilder::transport`].
    #[doc(hidden)]
    pub fn zenoh(mut self, transport: impl Transport + 'static) -> Self {
        self.has_network = true;
        self.bridge(move |bridge| bridge.transport(transport))
    }

    /// Starts all parts, as [`Config::start`] does.
    ///
    /// # Errors
    /// The errors of [`Config::start`].
    ///
    /// # Panics
    /// Outside of the event loop, as every start of an actor does.
    pub fn start(mut self) -> Result<RunningNode, RunError> {
        if self.config.has_zenoh() && !self.has_network {
            return Err(ConfigError::NoZenoh.into());
        }
        let mut agent = self.agent_builder()?;
        for change in self.agent.drain(..) {
            agent = change(agent);
        }
        let (records, history) = (self.records()?, self.history_folder());
        let marks = self.marks()?;
        let credentials = Credentials::read(&self.config)?;
        #[cfg(feature = "tls")]
        let tls = credentials.tls.clone();
        let keeps_lease = matches!(
            self.plan.election,
            AnyConfig::Quorum(_) | AnyConfig::Lease(_)
        );
        let arbiter = (keeps_lease && !self.is_here)
            .then(ElectionArbiter::new)
            .transpose()
            .map_err(agent_error)?;
        let on = arbiter.as_ref().map(ElectionArbiter::handle);
        let group = self.plan.group.clone();
        let bridge = self.start_bridge(credentials, on.as_ref())?;
        let agent = agent.join(&group);
        let started = match &on {
            Some(on) => agent.start_in_arbiter(on),
            None => agent.start(),
        };
        let agent: BullyHandle = started.map_err(|reason| {
            if let Some(bridge) = &bridge {
                bridge.stop();
            }
            agent_error(reason)
        })?;
        let running = RunningNode {
            agent,
            group,
            bridge,
            #[cfg(feature = "tls")]
            tls,
            arbiter,
        };
        let begun = marks.map_or(Ok(()), |marks| {
            running.agent.schedules().store(marks).start()
        });
        let begun = begun.map_err(|reason| RunError::Schedules { reason });
        match begun.and_then(|()| keep(&running, records, history.as_deref())) {
            Ok(()) => Ok(running),
            Err(reason) => {
                actix::spawn(async move { running.leave(Duration::ZERO).await.ok() });
                Err(reason)
            }
        }
    }

    /// Returns the folder for the history of the group: the folder of the records, or else the folder of the store of
    /// votes.
    fn history_folder(&self) -> Option<PathBuf> {
        let records = self.config.records_folder.clone();
        records.or_else(|| {
            let store = self.config.quorum.store_file.as_ref()?;
            let beside = store
                .parent()
                .filter(|folder| !folder.as_os_str().is_empty());
            Some(beside.unwrap_or_else(|| Path::new(".")).to_owned())
        })
    }

    /// Returns the folder of the records, and creates it. This is done before any part runs, so that an error stops the
    /// start.
    fn records(&self) -> Result<Option<RecordFolder>, RunError> {
        let Some(path) = &self.config.records_folder else {
            return Ok(None);
        };
        let folder = RecordFolder::new(path);
        let made = folder.make();
        made.map_err(|reason| RunError::Records { reason })?;
        Ok(Some(folder))
    }

    fn agent_builder(&mut self) -> Result<AgentBuilder<AnyBully>, RunError> {
        let (name, election) = (self.plan.identity.node.as_str(), &self.plan.election);
        let mut builder = match (election, self.config.register()?) {
            (AnyConfig::Lease(config), Some(register)) => {
                BullyAgent::builder(name).lease_with(Arc::clone(config), register)
            }
            (config, _) => BullyAgent::configured(name, config.clone()),
        };
        builder = match self.config.role {
            MayBe::Leader => builder.score(self.config.score),
            MayBe::Voter => builder.ineligible(),
            MayBe::Observer => builder.observer(),
        };
        if let Some(about) = &self.config.about {
            builder = builder.about(about);
        }
        let Some(store) = self.store()? else {
            return Ok(builder);
        };
        // The store of votes also keeps the node's last incarnation, unless the configuration names a file for it.
        if self.config.memory_file.is_none() {
            let memory = Arc::clone(&store);
            self.bridge
                .insert(0, Box::new(move |bridge| bridge.remember_in(memory)));
        }
        Ok(builder.store(store))
    }

    fn store(&self) -> Result<Option<Arc<FileStore<Vote>>>, RunError> {
        let Some(path) = &self.config.quorum.store_file else {
            return Ok(None);
        };
        let store = FileStore::by(self.config.quorum.store, path, self.plan.identity.clone());
        match store {
            Ok(store) => Ok(Some(Arc::new(store))),
            Err(reason) => Err(RunError::Store { reason }),
        }
    }

    /// Opens the store of the schedules' marks. This is done before any part runs, so that an error stops the start.
    fn marks(&self) -> Result<Option<FileStore<ScheduleRecord>>, RunError> {
        let Some(path) = &self.config.quorum.marks_file else {
            return Ok(None);
        };
        let quorum = &self.config.quorum;
        // A single voter may not make its votes and open them by one word, because no other voter would refuse a second
        // store. Its marks may be added later, and no other voter knows them.
        let how = if quorum.voters.len() == 1 {
            OpenStore::OpenOrCreate
        } else {
            quorum.store
        };
        let store = FileStore::by(how, path, self.plan.identity.clone());
        let failed = |reason: StoreError| RunError::Schedules {
            reason: reason.into(),
        };
        store.map(Some).map_err(failed)
    }

    fn start_bridge(
        self,
        credentials: Credentials,
        on: Option<&ArbiterHandle>,
    ) -> Result<Option<BridgeHandle>, RunError> {
        if !self.config.has_bridge() {
            return Ok(None);
        }
        let Self {
            config,
            plan,
            bridge: changes,
            ..
        } = self;
        let network = config.has_zenoh().then_some("zenoh");
        let memory = match config.memory_file {
            Some(_) => "memory_file",
            None => "lease.folder",
        };
        let start = move || {
            let mut bridge = RemoteBridge::builder(&config.node)
                .cluster(&config.cluster)
                .limits(plan.limits)
                .carry(&plan.group);
            if let Some(listen) = &config.listen {
                bridge = bridge.listen(listen);
            }
            for (_, other) in config.others() {
                bridge = bridge.peer(peer(other));
            }
            if config.dangerous_plaintext {
                bridge = bridge.dangerous_plaintext();
            }
            if let Some(memory) = config.memory() {
                bridge = bridge.remember(memory);
            }
            bridge = credentials.give(bridge);
            for change in changes {
                bridge = change(bridge);
            }
            bridge.start()
        };
        let started = match on {
            None => start(),
            Some(on) => {
                let (tell, told) = mpsc::channel();
                on.spawn_fn(move || drop(tell.send(start())));
                told.recv()
                    .map_err(|_| agent_error(StartError::NoArbiter))?
            }
        };
        let failed = |reason| bridge_error(reason, network, memory);
        started.map(Some).map_err(failed)
    }
}

/// Begins to save the records and the history of a node.
fn keep(
    running: &RunningNode,
    records: Option<RecordFolder>,
    history: Option<&Path>,
) -> Result<(), RunError> {
    let operated = running.operated();
    let saved = records.map_or(Ok(()), |records| operated.save_records(records));
    let kept = saved.and_then(|()| operated.keep_history(history));
    // The folder was there before the parts were started, and has gone since then.
    kept.map_err(|reason| RunError::Records { reason })
}

pub(super) fn peer(peer: &PeerSettings) -> Peer {
    let made = match &peer.address {
        Some(address) => Peer::new(&peer.node, address),
        None => Peer::inbound(&peer.node),
    };
    let Some(grants) = &peer.rights else {
        return made;
    };
    let rights = grants.iter().fold(Rights::none(), |rights, grant| {
        rights.grant(&grant.groups, &grant.agents, grant.may_be)
    });
    made.allow(rights)
}

impl fmt::Debug for Starter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Starter")
            .field("config", &self.config)
            .finish_non_exhaustive()
    }
}
