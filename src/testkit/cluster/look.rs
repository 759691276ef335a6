//! Queries of a cluster for a dashboard. None of them waits.
//!
//! Nothing is decided here: each query returns the cluster's knowledge. Not here: the presentation (`dashboard/stage`).

use super::{Cluster, ClusterBuilder, Condition, Obstacle, Settled, journal::open};
use crate::{
    agent::ElectionHandle,
    protocol::{Election, MemberKind, Score, Time},
};
use bully_sim::{faults::Separations, trace::TraceEntry};

/// One agent, and the cluster's knowledge of it beside its handle.
#[derive(Debug)]
pub(crate) struct AgentSight<'a, E: Election> {
    pub(crate) handle: &'a ElectionHandle<E>,
    pub(crate) kind: MemberKind,
    pub(crate) score: Option<Score>,
    pub(crate) condition: Condition,
}

impl<E: Election> Cluster<E> {
    /// Returns the agents, in the order in which they joined.
    pub(crate) fn sights(&self) -> impl Iterator<Item = AgentSight<'_, E>> {
        let list = self.list();
        self.agents.iter().map(move |agent| AgentSight {
            handle: &agent.handle,
            kind: agent.kind_by(list.as_ref()),
            score: agent.score(),
            condition: agent.condition(),
        })
    }

    /// Reads the record from an entry on; returns the number of the next entry. Entries are numbered from the first
    /// entry of the run; entries that are forgotten are skipped.
    pub(crate) fn read_trace(&self, from: u64, mut read: impl FnMut(&TraceEntry)) -> u64 {
        let journal = open(&self.journal);
        let first = journal.trace.forgotten();
        let entries = journal.trace.entries();
        let end = first.saturating_add(u64::try_from(entries.len()).unwrap_or(u64::MAX));
        let skipped = usize::try_from(from.saturating_sub(first)).unwrap_or(usize::MAX);
        entries.skip(skipped).for_each(&mut read);
        end
    }

    /// Returns the settings with which the cluster began, for another cluster that begins in the same way.
    pub(crate) fn begun(&self) -> ClusterBuilder<E> {
        self.begun.again()
    }

    /// Returns a number that grows with each event that may belong to an election.
    pub(crate) fn activity(&self) -> u64 {
        open(&self.journal).activity()
    }

    /// Returns the time at which an agent last changed its leader.
    pub(crate) fn believed(&self) -> Time {
        open(&self.journal).believed()
    }

    /// Returns whether it is settled at this moment which agents lead, with the time and the number of messages since
    /// the last command.
    pub(crate) fn settled_now(&self) -> Result<Settled, Obstacle> {
        let sides = self.judge()?;
        Ok(self.seen_settled(sides))
    }

    /// Returns the number of changes of the list of voters; `None` where no list can be changed.
    pub(crate) fn voters_epoch(&self) -> Option<u64> {
        self.list().map(|list| list.epoch)
    }

    /// Returns the pairs of agents that are cut off from each other.
    pub(crate) fn separations(&self) -> Separations {
        open(&self.journal).network.separations()
    }
}
