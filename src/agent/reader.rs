//! What the layers above read of an agent, whatever its election.

use std::{any::Any, fmt, sync::Arc};

use futures::Stream;

use crate::{
    group::{AppMessage, Group},
    protocol::{AgentId, Election},
};

use super::{ElectionHandle, Status, handle::changes, shared::SharedState};

/// Reads one agent, as a handle does. Clones are the same agent.
#[derive(Clone)]
pub(crate) struct AgentReader(Arc<SharedState>);

impl<E: Election> ElectionHandle<E> {
    /// The same agent for a reader that does not name its election.
    pub(crate) fn reader(&self) -> AgentReader {
        AgentReader(Arc::clone(&self.shared))
    }
}

impl AgentReader {
    pub(crate) fn id(&self) -> &AgentId {
        self.0.id()
    }

    /// The name of the agent's group.
    pub(crate) fn group(&self) -> &str {
        self.0.group()
    }

    /// See [`ElectionHandle::is_leader`].
    pub(crate) fn is_leader(&self) -> bool {
        self.0.is_leader()
    }

    /// See [`ElectionHandle::current`].
    pub(crate) fn current(&self) -> Status {
        self.0.status()
    }

    /// See [`ElectionHandle::changes`].
    pub(crate) fn changes(&self) -> impl Stream<Item = Status> + Unpin + Send + use<> {
        changes(Arc::clone(&self.0))
    }

    /// Whether the agent left or ended for good.
    pub(crate) fn is_over(&self) -> bool {
        self.0.is_over()
    }

    /// Where applications of the group's agents speak to each other; `None` where the group's name is too long.
    pub(crate) fn companion(&self) -> Option<Group<AppMessage>> {
        self.0.companion()
    }

    /// What an upper layer keeps of this agent as long as it is there; `make` makes it where there is none.
    ///
    /// # Errors
    /// What `make` failed with: nothing is kept.
    pub(crate) fn attached<T: Any + Send + Sync, R>(
        &self,
        make: impl FnOnce() -> Result<Arc<T>, R>,
    ) -> Result<Arc<T>, R> {
        self.0.attached(make)
    }
}

impl fmt::Debug for AgentReader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("AgentReader").field(self.id()).finish()
    }
}
