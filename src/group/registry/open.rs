//! The questions of a bridge to the registry: whether the group may be opened, and when it changes.

use std::sync::Arc;

use crate::{
    group::{OpenError, signal::Signal, snapshot::NodeDigest},
    protocol::{AgentId, Incarnation, PeerMessage, Requirements},
};

use super::{Freshness, NameState, Registry};

impl<M: PeerMessage> Registry<M> {
    /// Notes that the votes of the agent with the name `id` are lost with this process. Returns `false` if the group is
    /// open, because other hosts then rely on the agent's votes.
    pub(in crate::group) fn note_volatile(&mut self, id: &AgentId) -> bool {
        if self.members.is_closed() {
            self.volatile.insert(id.clone());
        }
        self.members.is_closed()
    }

    /// Opens the group to other hosts, which know this process by the name `node`. Every incarnation from now on is
    /// later than `floor`.
    pub(in crate::group) fn open(
        &mut self,
        node: NodeDigest,
        floor: Incarnation,
    ) -> Result<(), OpenError> {
        if let Some(id) = self.volatile.first() {
            return Err(OpenError::Volatile { id: id.clone() });
        }
        let mut names = self.names.iter();
        let early = names.find(|(_, name)| name.state != NameState::Free);
        if let Some((id, _)) = early.filter(|_| !self.was_opened) {
            return Err(OpenError::TooLate { id: id.clone() });
        }
        self.was_opened = true;
        if self.node != node {
            self.node = node;
            self.freshness = Freshness::OldRoutes;
        }
        self.raise_floor(floor);
        self.set_closed(false);
        Ok(())
    }

    /// Returns whether the group was ever open to other hosts.
    pub(in crate::group) const fn was_opened(&self) -> bool {
        self.was_opened
    }

    /// Returns whether an agent of this process has a name in the group.
    pub(in crate::group) fn has_agents(&self) -> bool {
        let mut names = self.names.values();
        names.any(|name| name.state != NameState::Free)
    }

    /// Returns the requirements that the members share; `None` while no agent of this process has a name.
    pub(in crate::group) fn requirements(&self) -> Option<Requirements> {
        self.requirements.clone().filter(|_| !self.names.is_empty())
    }

    /// Registers the signal of a watcher. The signal is given at the next change, and then at the first change after
    /// each look of the watcher.
    pub(in crate::group) fn watch(&mut self, signal: &Arc<Signal>) {
        self.signals.retain(|known| known.strong_count() > 0);
        self.signals.push(Arc::downgrade(signal));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::elections::AnyMessage;

    #[test]
    fn a_signal_whose_watch_was_dropped_takes_no_room() {
        let mut registry = Registry::<AnyMessage>::new(Box::new(|| true));
        let signal = || Arc::new(Signal::new(Box::new(|| ())));
        let held = signal();
        registry.watch(&held);
        for _ in 0..3 {
            registry.watch(&signal());
        }
        assert_eq!(
            registry.signals.len(),
            2,
            "the one that is held, and the last"
        );
    }
}
