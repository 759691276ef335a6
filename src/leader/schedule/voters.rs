//! The voters that one agent knows, for its schedules: the leader's side and the agent's own side share them.
//!
//! Decided here: a list is noted as soon as the agent has it. Not here: which lists matter (`lists.rs`), and their
//! storage (`replica.rs`).

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError},
};

use crate::{
    agent::AgentReader,
    protocol::{AgentId, Requirements, Term},
};

use super::{
    lists::{QuorumList, VoterLists},
    poll::Audience,
};

/// The lists of voters; `None` in the available mode. Clones share the lists.
#[derive(Clone, Debug)]
pub(super) struct Voters(Option<Arc<Mutex<VoterLists>>>);

impl Voters {
    /// Begins with the stored lists. The available mode has no lists.
    pub(super) fn new(requirements: &Requirements, stored: &BTreeMap<u64, QuorumList>) -> Self {
        let present = QuorumList::of(requirements);
        Self(present.map(|list| {
            let mut lists = VoterLists::new(requirements.epochs, stored.clone());
            lists.note(requirements.epoch, list);
            Arc::new(Mutex::new(lists))
        }))
    }

    /// Notes the present list of the agent.
    pub(super) fn note(&self, agent: Option<&AgentReader>) {
        // The registry of the group has a lock of its own: it is read before this lock is taken.
        let requirements = agent.and_then(AgentReader::requirements);
        let list = requirements.as_ref().and_then(QuorumList::of);
        if let (Some(requirements), Some(list)) = (requirements, list) {
            self.lists(|lists| lists.note(requirements.epoch, list));
        }
    }

    /// Returns the agents that a leader of the term `term` asks; `None` in the available mode.
    pub(super) fn audience(&self, term: Term) -> Option<Audience> {
        self.lists(|lists| Audience::Voters(lists.up_to(term)))
    }

    /// Returns whether the agent `id` may lead, now or in an epoch that has just ended.
    pub(super) fn may_lead(&self, id: &AgentId) -> bool {
        self.lists(|lists| lists.asked().contains(id))
            .unwrap_or(true) // in the available mode any agent may lead
    }

    /// Calls `of` with the lists; returns `None` in the available mode, which has no lists.
    pub(super) fn lists<T>(&self, of: impl FnOnce(&mut VoterLists) -> T) -> Option<T> {
        let lists = self.0.as_ref()?;
        // A poisoned lock is still used: each change under it is one step, so a panic leaves no change half made.
        Some(of(&mut lists
            .lock()
            .unwrap_or_else(PoisonError::into_inner)))
    }
}
