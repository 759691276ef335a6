//! The methods of a cluster for the network between its agents.
//!
//! A message's fate is decided when it is sent: a message that is on its way when a cut begins still arrives. Not here:
//! the effect of each method (`apply.rs`).

use super::{Cluster, ClusterError, journal::open};
use crate::{protocol::Election, record::RecordedCommand, testkit::faults::Conditions};
use bully_sim::faults::Network;

impl<E: Election> Cluster<E> {
    /// Separates the agents into sides that do not reach each other. Agents that are on none of the given sides are
    /// together on one more side. The new partition replaces an earlier partition.
    ///
    /// # Errors
    /// [`ClusterError::Unknown`]; [`ClusterError::Refused`] if an agent is on two sides.
    pub fn partition<S, N>(
        &mut self,
        sides: impl IntoIterator<Item = S>,
    ) -> Result<(), ClusterError>
    where
        S: IntoIterator<Item = N>,
        N: AsRef<str>,
    {
        let sides = sides.into_iter().map(|side| self.ids(side));
        let sides = sides.collect::<Result<_, _>>()?;
        self.at_once(&RecordedCommand::Partition(sides))
    }

    /// Cuts the link between two agents, in both directions.
    ///
    /// # Errors
    /// [`ClusterError::Unknown`]; [`ClusterError::Refused`] if both names are the same agent.
    pub fn cut(&mut self, one: &str, other: &str) -> Result<(), ClusterError> {
        let (one, other) = (self.id(one)?, self.id(other)?);
        self.at_once(&RecordedCommand::Cut(one, other))
    }

    /// Cuts the messages from the first agent to the second. The other direction does not change.
    ///
    /// # Errors
    /// The errors of [`cut`](Self::cut).
    pub fn cut_one_way(&mut self, from: &str, to: &str) -> Result<(), ClusterError> {
        let (from, to) = (self.id(from)?, self.id(to)?);
        self.at_once(&RecordedCommand::CutOneWay(from, to))
    }

    /// Cuts an agent off from all other agents.
    ///
    /// # Errors
    /// [`ClusterError::Unknown`].
    pub fn isolate(&mut self, name: &str) -> Result<(), ClusterError> {
        self.at_once(&RecordedCommand::Isolate(self.id(name)?))
    }

    /// Mends the link between two agents, in both directions. A partition or an isolation remains.
    ///
    /// # Errors
    /// The errors of [`cut`](Self::cut).
    pub fn mend(&mut self, one: &str, other: &str) -> Result<(), ClusterError> {
        let (one, other) = (self.id(one)?, self.id(other)?);
        self.at_once(&RecordedCommand::Mend(one, other))
    }

    /// Ends the isolation of an agent. A cut or a partition remains.
    ///
    /// # Errors
    /// [`ClusterError::Unknown`].
    pub fn rejoin(&mut self, name: &str) -> Result<(), ClusterError> {
        self.at_once(&RecordedCommand::Rejoin(self.id(name)?))
    }

    /// Ends every partition, cut and isolation. Delays and losses remain.
    pub fn heal(&mut self) {
        // The command names no agent, so no agent can be missing.
        self.at_once(&RecordedCommand::Heal).ok();
    }

    /// Changes the faults of the network for all messages.
    pub fn set_network(&mut self, conditions: Conditions) {
        // Every value of the type is accepted, so no error is lost.
        self.at_once(&RecordedCommand::Network(conditions.into()))
            .ok();
    }

    /// Returns the faults of the network.
    pub fn conditions(&self) -> Conditions {
        open(&self.journal).network.conditions()
    }

    /// Changes the [network](Network) in any other way. The change is not recorded.
    pub fn with_network<R>(&mut self, change: impl FnOnce(&mut Network) -> R) -> R {
        let mut journal = open(&self.journal);
        journal.acted();
        change(&mut journal.network)
    }
}
