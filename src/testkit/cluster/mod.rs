//! Many agents in this process, with all events that can happen to them: for demonstrations, and for tests of
//! applications that build on elections.
//!
//! ```text
//!   crash stop hang restart join leave      ┌─────────┐  Envelope   every message, loss, role
//!  ────────────────────────────────────────▶│ agents  │◀─────────┐  and event is recorded
//!   partition cut isolate heal set_network  └────┬────┘      ┌───┴───┐        │
//!  ──────────────────────────────────────────────┼──────────▶│  hub  ├────────▼──┐
//!   settle status believers trace                │ Wire      └───▲───┘ Trace     │
//!  ◀──────────────────────────────────────────── └───────────────┘ to_text, to_mermaid
//! ```
//!
//! ```
//! use actix_bully::testkit::cluster::Cluster;
//!
//! actix::System::new().block_on(async {
//!     let mut cluster = Cluster::builder().agents(5).start()?;
//!     assert_eq!(cluster.settle().await?.leader().unwrap(), "agent-5");
//!
//!     cluster.crash("agent-5").await?;
//!     assert_eq!(cluster.settle().await?.leader().unwrap(), "agent-4");
//!
//!     cluster.partition([["agent-1", "agent-2"]])?;
//!     cluster.settle().await?;
//!     assert_eq!(cluster.believers().len(), 2, "the promise is one leader for each side");
//!     # Ok::<(), actix_bully::testkit::cluster::ClusterError>(())
//! }).unwrap();
//! ```
//!
//! Decided here: nothing about elections. The agents are real agents ([`agent`](crate::agent)); only their messages
//! pass through one actor, which loses, delays and records them.
//!
//! # Messages of applications
//! The messages of the agents' applications ([`Messages`](crate::leader::Messages), and what is built on them: a
//! [`LeaderProxy`](crate::leader::LeaderProxy), schedules) are subject to the same faults: an isolated agent receives
//! no such message and reaches no other agent. Messages of applications arrive at most once and in order, as over a
//! bridge, even if faults duplicate or reorder the agents' own messages. In the trace and for
//! [`Network::ignore`](bully_sim::faults::Network::ignore) their kind is `application`; [`settle`](Cluster::settle)
//! does not wait for them.
//!
//! # Virtual time
//! A cluster creates no runtime. In a System whose clock is paused it runs in virtual time: a wait costs nothing, and
//! two runs with the same seed have the same trace, byte for byte. The feature `testkit` has such a System. By the real
//! clock the order of events varies.
//!
//! # Where to go next
//! `wiring.rs` puts agents that an application wires into a cluster, `register.rs` the register of a lease. `apply.rs`
//! carries out commands, `verbs.rs` and `links.rs` have a method for each command, `voters.rs` has the list of a
//! quorum; `parcel.rs` is a message on its way, `settle.rs` defines when a cluster is settled, `repeat.rs` repeats a
//! recorded run. The example `cluster` offers all of this as text.

mod agent;
mod apply;
mod builder;
mod error;
mod hub;
mod journal;
mod judge;
mod links;
#[cfg(feature = "dashboard")]
mod look;
mod parcel;
mod register;
mod repeat;
mod settle;
mod start;
mod status;
mod verbs;
mod voters;
mod wiring;

use std::{collections::BTreeMap, time::Duration};

use actix::Addr;

pub use agent::Condition;
pub use builder::ClusterBuilder;
pub use error::ClusterError;
pub(crate) use settle::Obstacle;
pub use settle::Settled;
pub use status::{AgentStatus, ClusterStatus};
pub use wiring::Wiring;

#[cfg(feature = "dashboard")]
pub(crate) use look::AgentSight;

use agent::ClusterAgent;
use hub::{Close, Hub};
use journal::{SharedJournal, open};
use start::StartKind;

use crate::{
    agent::{ElectionHandle, any::AnyBully},
    clock::RuntimeClock,
    group::Group,
    protocol::{AgentId, Election, Time},
    store::MemoryStore,
    supervisor::RestartPolicy,
    testkit::{Inject, VirtualWallClock},
};
use bully_sim::trace::Trace;

/// Agents of one election in this process; see the [module's page](self).
///
/// An agent has the name with which it was added; a number `n` means `agent-n`. A drop of the cluster stops the agents.
#[derive(Debug)]
pub struct Cluster<E: Election = AnyBully> {
    config: E::Config,
    policy: RestartPolicy,
    seed: u64,
    timeout: Duration,
    /// Number of voters that a side needs to elect a leader.
    least: usize,
    /// In a cluster with a lease: the register, which keeps the lease and follows no agent. A side without the register
    /// cannot elect a leader.
    register: Option<AgentId>,
    clock: RuntimeClock,
    wall: VirtualWallClock,
    /// The durable record of each agent. A record outlasts crashes of the agent, but not the cluster.
    stores: BTreeMap<String, MemoryStore<E::Durable>>,
    journal: SharedJournal<E::Message>,
    hub: Addr<Hub<E::Message>>,
    group: Group<E::Message>,
    agents: Vec<ClusterAgent<E>>,
    /// The settings with which the cluster began.
    #[cfg(feature = "dashboard")]
    begun: ClusterBuilder<E>,
}

impl<E: Election> Cluster<E> {
    /// Returns the wall clock of all hosts, so that a test can set it. An agent reads the clock when it starts.
    pub const fn wall_clock(&self) -> &VirtualWallClock {
        &self.wall
    }

    /// Returns the handle of this agent, as an application would have it. After a [`restart`](Self::restart) the agent
    /// has another handle.
    ///
    /// # Errors
    /// [`ClusterError::Unknown`].
    pub fn handle(&self, name: &str) -> Result<&ElectionHandle<E>, ClusterError> {
        self.find(name).map(|agent| &agent.handle)
    }

    /// Returns the group of the agents, for messages that no agent sent.
    pub fn group(&self) -> &Group<E::Message> {
        &self.group
    }

    /// Returns the trace so far. The newest events may be missing until the caller awaits something.
    pub fn trace(&self) -> Trace {
        open(&self.journal).trace.clone()
    }

    /// Returns the time since the cluster was started.
    pub fn now(&self) -> Time {
        open(&self.journal).now()
    }
}

impl<E: Election> Drop for Cluster<E> {
    fn drop(&mut self) {
        for agent in &mut self.agents {
            // do_send: one for each agent, at the end.
            agent.handle.addr().do_send(Inject::Stop);
            agent.resume();
        }
        // do_send: the last message of the cluster.
        self.hub.do_send(Close);
    }
}
