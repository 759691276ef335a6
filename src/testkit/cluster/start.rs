//! Starts one agent of a cluster: with the cluster, later, or again.
//!
//! Decided here: the options of each start of an agent, and the parts that a restart replaces. Not here: agents that an
//! application wires (`wiring.rs`).

use super::{
    Cluster, ClusterError,
    agent::ClusterAgent,
    error::refused,
    hub::WatchRoles,
    wiring::{AgentPlan, Making},
};
use crate::{
    agent::{Agent, ElectionHandle},
    protocol::{Election, MemberKind, Score},
    store::MemoryStore,
    testkit::VirtualClock,
};
use bully_sim::trace::Happening;

/// The kind of an agent's start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum StartKind {
    /// The agent starts with the cluster.
    First,
    /// The agent starts after the cluster.
    Late,
    /// The agent starts again after it was down.
    Again,
}

impl<E: Election> Cluster<E> {
    /// Starts a new agent, or starts an agent of the cluster again.
    pub(super) fn agent(
        &mut self,
        plan: AgentPlan<E>,
        kind_of_start: StartKind,
    ) -> Result<(), ClusterError> {
        let AgentPlan {
            name,
            kind,
            score,
            making,
        } = plan;
        // The cluster keeps the store, so that an agent that comes back finds its votes.
        let kept = self.stores.entry(name.clone()).or_default().clone();
        let clock = VirtualClock::from(self.clock);
        let (kind, handle, process) = match &making {
            Making::Plain => {
                let handle = self.plain(&name, kind, score, &clock, kept, kind_of_start)?;
                (kind, handle, None)
            }
            Making::Wired(start) => {
                // All actors and tasks that still run in the agent's former process are ended before the new process
                // begins.
                if let Ok(former) = self.find_mut(&name) {
                    former.kill();
                }
                let comes_back = kind_of_start == StartKind::Again;
                let (handle, process) =
                    self.wire(&name, &**start, clock.clone(), kept, comes_back)?;
                let members = self.group.members();
                let kind = members.get(handle.id()).map_or(kind, |member| member.kind);
                (kind, handle, Some(process))
            }
        };
        let what = match kind_of_start {
            StartKind::First => Happening::Started,
            StartKind::Late => Happening::Joined,
            StartKind::Again => Happening::Restarted,
        };
        self.record(handle.id(), what);
        // do_send: one for each agent of a cluster.
        self.hub.do_send(WatchRoles(handle.clone()));
        let agent = ClusterAgent::new(kind, score, handle, clock, making, process);
        match self.agents.iter_mut().find(|old| old.id() == agent.id()) {
            Some(old) => *old = agent,
            None => self.agents.push(agent),
        }
        Ok(())
    }

    /// Starts an agent that the cluster itself builds.
    fn plain(
        &self,
        name: &str,
        kind: MemberKind,
        score: Option<Score>,
        clock: &VirtualClock,
        kept: MemoryStore<E::Durable>,
        kind_of_start: StartKind,
    ) -> Result<ElectionHandle<E>, ClusterError> {
        let mut agent = Agent::<E>::with_config(name, self.config.clone())
            .join(&self.group)
            .store_if_kept(kept)
            .clock(clock.clone())
            .wall_clock(self.wall.clone())
            .seed(self.seed)
            .restart_policy(self.policy.clone())
            .parent(self.hub.clone().recipient())
            .subscribe(self.hub.clone().recipient());
        agent = match score {
            Some(score) => agent.score(score),
            None => agent.ineligible(),
        };
        if kind == MemberKind::Observer {
            agent = agent.observer();
        }
        if kind_of_start == StartKind::Again {
            agent = agent.recovering();
        }
        agent.start().map_err(|source| refused(name, source))
    }
}
