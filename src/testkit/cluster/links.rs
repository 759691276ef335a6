//! What can be done to the network between the agents.
//!
//! A message's fate is decided when it is sent: what is under way when a cut begins still arrives.

use super::{Cluster, ClusterError, journal::open};
use crate::{
    protocol::{AgentId, Election},
    record::{NetworkRecord, RecordedCommand},
    testkit::faults::{Conditions, Network},
};

impl<E: Election> Cluster<E> {
    /// Separates sides that do not reach each other; an agent that is named on none is on one more side. An
    /// earlier partition is over.
    ///
    /// # Errors
    /// [`ClusterError::Unknown`]; [`ClusterError::Twice`] when an agent is on two sides.
    pub fn partition<S, N>(
        &mut self,
        sides: impl IntoIterator<Item = S>,
    ) -> Result<(), ClusterError>
    where
        S: IntoIterator<Item = N>,
        N: AsRef<str>,
    {
        let mut all = Vec::new();
        let mut resolved = Vec::new();
        for side in sides {
            let side = self.resolve(side)?;
            all.extend(side.iter().cloned());
            resolved.push(side);
        }
        // All sides at once, because an agent may be named on two of them.
        self.resolve(all)?;
        let sides = resolved.iter().map(|side| joined(side, " "));
        let mark = format!("partition {}", joined(sides, " | "));
        let command = RecordedCommand::Partition(resolved.clone());
        self.change(command, mark, |network| network.partition(resolved));
        Ok(())
    }

    /// Cuts the link between two agents.
    ///
    /// # Errors
    /// [`ClusterError::Unknown`]; [`ClusterError::Twice`] when they are the same.
    pub fn cut(&mut self, one: &str, other: &str) -> Result<(), ClusterError> {
        let (one, other) = self.pair(one, other)?;
        let mark = format!("cut {one} {other}");
        let command = RecordedCommand::Cut(one.clone(), other.clone());
        self.change(command, mark, |network| network.cut(&one, &other));
        Ok(())
    }

    /// What the first says does not reach the second any more; the way back stays.
    ///
    /// # Errors
    /// As [`cut`](Self::cut).
    pub fn cut_one_way(&mut self, from: &str, to: &str) -> Result<(), ClusterError> {
        let (from, to) = self.pair(from, to)?;
        let mark = format!("cut {from} > {to}");
        let command = RecordedCommand::CutOneWay(from.clone(), to.clone());
        self.change(command, mark, |network| network.cut_one_way(&from, &to));
        Ok(())
    }

    /// Cuts an agent off from all others.
    ///
    /// # Errors
    /// [`ClusterError::Unknown`].
    pub fn isolate(&mut self, name: &str) -> Result<(), ClusterError> {
        let name = self.find(name)?.id().clone();
        let (command, mark) = (
            RecordedCommand::Isolate(name.clone()),
            format!("isolate {name}"),
        );
        self.change(command, mark, |network| network.isolate(&name));
        Ok(())
    }

    /// Mends the link between two agents, both ways; a partition or an isolation stays.
    ///
    /// # Errors
    /// As [`cut`](Self::cut).
    pub fn mend(&mut self, one: &str, other: &str) -> Result<(), ClusterError> {
        let (one, other) = self.pair(one, other)?;
        let mark = format!("mend {one} {other}");
        let command = RecordedCommand::Mend(one.clone(), other.clone());
        self.change(command, mark, |network| network.mend(&one, &other));
        Ok(())
    }

    /// Ends the isolation of an agent; a cut or a partition stays.
    ///
    /// # Errors
    /// [`ClusterError::Unknown`].
    pub fn rejoin(&mut self, name: &str) -> Result<(), ClusterError> {
        let name = self.find(name)?.id().clone();
        let mark = format!("rejoin {name}");
        let command = RecordedCommand::Rejoin(name.clone());
        self.change(command, mark, |network| network.rejoin(&name));
        Ok(())
    }

    /// Ends every partition, cut and isolation. Delays and losses stay.
    pub fn heal(&mut self) {
        self.change(RecordedCommand::Heal, String::from("heal"), Network::heal);
    }

    /// Changes what the network does to all messages.
    pub fn set_network(&mut self, conditions: Conditions) {
        let mut journal = open(&self.journal);
        journal.command(|| RecordedCommand::Network(NetworkRecord::from(conditions)));
        journal.mark(|| format!("network: {conditions}"));
        journal.network.set_conditions(conditions);
    }

    /// What the network does to all messages.
    pub fn conditions(&self) -> Conditions {
        open(&self.journal).network.conditions()
    }

    /// Everything else that can be done to the [network](Network). Not recorded.
    pub fn with_network<R>(&mut self, change: impl FnOnce(&mut Network) -> R) -> R {
        let mut journal = open(&self.journal);
        journal.acted();
        change(&mut journal.network)
    }

    /// Marked in the trace as the example `cluster` would be told.
    fn change(&self, command: RecordedCommand, mark: String, change: impl FnOnce(&mut Network)) {
        let mut journal = open(&self.journal);
        journal.command(|| command);
        journal.mark(|| mark);
        change(&mut journal.network);
    }

    pub(super) fn pair(&self, one: &str, other: &str) -> Result<(AgentId, AgentId), ClusterError> {
        let (one, other) = (self.find(one)?.id(), self.find(other)?.id());
        if one == other {
            let name = one.clone();
            return Err(ClusterError::Twice { name });
        }
        Ok((one.clone(), other.clone()))
    }
}

fn joined<W: ToString>(words: impl IntoIterator<Item = W>, separator: &str) -> String {
    let words: Vec<_> = words.into_iter().map(|word| word.to_string()).collect();
    words.join(separator)
}
