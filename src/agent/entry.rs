//! A guard for a part of the work that begins while an agent leads, such as the answer to a request.
//!
//! Decided here: no such work begins while the agent hands over, and a hand-over does not wait for such work. Not here:
//! work that ends with the leadership (`lead.rs`).

use std::{fmt, sync::Arc};

use actix::Recipient;

use crate::protocol::{AgentId, Election};

use super::{
    ElectionHandle, LeaderGuard, Status, message::AgentCommand, progress::Progress,
    shared::SharedState,
};

/// Asks one agent before each part of the work whether it leads.
#[derive(Clone)]
pub(crate) struct LeaderEntry {
    shared: Arc<SharedState>,
    agent: Recipient<AgentCommand>,
}

impl<E: Election> ElectionHandle<E> {
    /// Returns an object that asks the agent before each part of the work whether it leads.
    pub(crate) fn entry(&self) -> LeaderEntry {
        LeaderEntry {
            shared: Arc::clone(&self.shared),
            agent: self.addr.clone().recipient(),
        }
    }
}

impl LeaderEntry {
    pub(crate) fn id(&self) -> &AgentId {
        self.shared.id()
    }

    pub(crate) fn current(&self) -> Status {
        self.shared.status()
    }

    /// Returns a guard of the present leadership; `None` if the agent does not lead, or if it hands over.
    pub(crate) fn enter(&self) -> Option<LeaderGuard> {
        let guard = LeaderGuard {
            tenure: self.shared.tenure()?,
            shared: Arc::clone(&self.shared),
            agent: self.agent.clone(),
            progress: Progress::default(),
        };
        (guard.is_leader() && !self.shared.is_draining()).then_some(guard)
    }
}

impl fmt::Debug for LeaderEntry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("LeaderEntry").field(self.id()).finish()
    }
}
