//! Agents that an application wires: with its options and its actors, each agent in a process of its own.
//!
//! Decided here: the parts that a cluster adds to such an agent (its group, clock, store and record), and the parts
//! that end together with a process.

use std::{error::Error, fmt, rc::Rc};

use super::{Cluster, ClusterError, hub::Hub};
use crate::{
    agent::{AgentBuilder, ElectionHandle},
    group::Group,
    protocol::{Election, MemberKind, Score},
    store::MemoryStore,
    testkit::{Process, VirtualClock, VirtualWallClock},
};

/// The argument of a closure of [`ClusterBuilder::wired`](super::ClusterBuilder::wired) at each start of its process.
#[derive(Debug)]
pub struct Wiring<E: Election> {
    name: String,
    group: Group<E::Message>,
    clock: VirtualClock,
    wall: VirtualWallClock,
    store: MemoryStore<E::Durable>,
    seed: u64,
    hub: actix::Addr<Hub<E::Message>>,
    process: Process,
    comes_back: bool,
}

impl<E: Election> Wiring<E> {
    /// Returns the name that the agent must have.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the cluster's group, for actors beside the agent that join the group.
    pub fn group(&self) -> &Group<E::Message> {
        &self.group
    }

    /// Returns the process in which the closure runs, with all that it starts.
    pub fn process(&self) -> &Process {
        &self.process
    }

    /// Makes the builder's agent an agent of the cluster: in its group, by its clock, in its trace, and with a store
    /// that outlives the process unless its voters have no disk. All other options, such as score, election and restart
    /// policy, stay as the builder has them. An option that is set after this call replaces the cluster's option, for
    /// example another store. The agent may have more subscribers, but not another parent, group or clock.
    pub fn prepare(&self, agent: AgentBuilder<E>) -> AgentBuilder<E> {
        let agent = agent
            .join(&self.group)
            .store_if_kept(self.store.clone())
            .clock(self.clock.clone())
            .wall_clock(self.wall.clone())
            .seed(self.seed)
            .parent(self.hub.clone().recipient())
            .subscribe(self.hub.clone().recipient());
        if self.comes_back {
            agent.recovering()
        } else {
            agent
        }
    }
}

/// An agent to be started.
#[derive(Debug)]
pub(super) struct AgentPlan<E: Election> {
    pub(super) name: String,
    pub(super) kind: MemberKind,
    pub(super) score: Option<Score>,
    pub(super) making: Making<E>,
}

#[cfg(feature = "dashboard")]
impl<E: Election> AgentPlan<E> {
    pub(super) fn again(&self) -> Self {
        Self {
            name: self.name.clone(),
            kind: self.kind,
            score: self.score,
            making: self.making.clone(),
        }
    }
}

/// Starts an application's agent with its actors.
pub(super) type StartWired<E> =
    dyn Fn(&Wiring<E>) -> Result<ElectionHandle<E>, Box<dyn Error + Send + Sync>>;

/// The way in which an agent of a cluster is started.
pub(super) enum Making<E: Election> {
    /// The cluster starts the agent with its own settings.
    Plain,
    /// The application starts the agent.
    Wired(Rc<StartWired<E>>),
}

impl<E: Election> Clone for Making<E> {
    fn clone(&self) -> Self {
        match self {
            Self::Plain => Self::Plain,
            Self::Wired(start) => Self::Wired(Rc::clone(start)),
        }
    }
}

impl<E: Election> fmt::Debug for Making<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Plain => "Plain",
            Self::Wired(_) => "Wired(..)",
        })
    }
}

impl<E: Election> super::ClusterBuilder<E> {
    /// Adds an agent that the application starts, with its actors. `start` is called in a [`Process`] of the agent's
    /// own: when the cluster starts, and at each [`restart`](Cluster::restart) of the process. `start` has to return
    /// the handle of an agent that was prepared by [`Wiring::prepare`].
    ///
    /// After a [`crash`](Cluster::crash), such an agent is restarted by its own restart policy, behind the same handle.
    /// [`freeze`](Cluster::freeze) stops its whole process, and [`kill`](Cluster::kill) ends it.
    ///
    /// The cluster's own settings decide whether the cluster has [settled](Cluster::settle). If the agents have other
    /// settings, set [`timeout`](Self::timeout) and [`needs_voters`](Self::needs_voters).
    ///
    /// # Examples
    /// ```
    /// use std::time::Duration;
    /// use actix::prelude::*;
    /// use actix_bully::{
    ///     agent::{BullyAgent, BullyBuilder, BullyHandle, LeaderGuard},
    ///     leader::Singleton,
    ///     testkit::{cluster::Cluster, virtual_system},
    /// };
    ///
    /// struct Scheduler { leader: LeaderGuard }
    /// impl Actor for Scheduler { type Context = Context<Self>; }
    ///
    /// // As the application does it; in production `agent` is `BullyAgent::builder(..).join(..)`.
    /// fn serve(agent: BullyBuilder) -> Result<BullyHandle, Box<dyn std::error::Error + Send + Sync>> {
    ///     let agent = agent.quorum(["api-1", "api-2", "api-3"]).start()?;
    ///     Singleton::builder(&agent, |leader| Scheduler { leader }).start_without_handler()?;
    ///     Ok(agent)
    /// }
    ///
    /// virtual_system().block_on(async {
    ///     let mut cluster = Cluster::builder().needs_voters(2).timeout(Duration::from_secs(60));
    ///     for name in ["api-1", "api-2", "api-3"] {
    ///         cluster = cluster.wired(name, move |node| serve(node.prepare(BullyAgent::builder(name))));
    ///     }
    ///     let mut cluster = cluster.start()?;
    ///     assert_eq!(cluster.settle().await?.leader().unwrap(), "api-3");
    ///     cluster.freeze("api-3").await?; // the scheduler as well as the agent
    ///     assert_eq!(cluster.settle().await?.leader().unwrap(), "api-2");
    ///     # Ok::<(), actix_bully::testkit::cluster::ClusterError>(())
    /// }).unwrap();
    /// ```
    pub fn wired(
        mut self,
        name: &str,
        start: impl Fn(&Wiring<E>) -> Result<ElectionHandle<E>, Box<dyn Error + Send + Sync>> + 'static,
    ) -> Self {
        self.plans.push(AgentPlan {
            name: name.to_owned(),
            kind: MemberKind::Voter,
            score: None,
            making: Making::Wired(Rc::new(start)),
        });
        self
    }
}

impl<E: Election> Cluster<E> {
    /// Starts an application's agent in a new process.
    pub(super) fn wire(
        &self,
        name: &str,
        start: &StartWired<E>,
        clock: VirtualClock,
        store: MemoryStore<E::Durable>,
        comes_back: bool,
    ) -> Result<(ElectionHandle<E>, Process), ClusterError> {
        let wiring = Wiring {
            name: name.to_owned(),
            group: self.group.clone(),
            clock,
            wall: self.wall.clone(),
            store,
            seed: self.seed,
            hub: self.hub.clone(),
            process: Process::new(),
            comes_back,
        };
        let started = wiring.process.run(|| start(&wiring));
        let started = started.and_then(|handle| match handle.id() {
            id if *id == *name => Ok(handle),
            other => Err(format!(
                "its start returned an agent with the name {other}: build the agent with the name that it is given"
            )
            .into()),
        });
        let name = name.to_owned();
        let handle = started.map_err(|source| ClusterError::Start { name, source })?;
        Ok((handle, wiring.process))
    }
}
