//! The names whose holders made a record in this group: the next holder has to have that record.
//!
//! Decided here: the note about a record outlasts the membership of its agent. So each name with a record keeps an
//! entry for ever. Only voters of this process get an entry, so other hosts cannot add many entries.

use crate::protocol::{AgentId, PeerMessage, Requirements};

use super::Registry;

impl<M: PeerMessage> Registry<M> {
    /// Notes that the holder of the name `id` has made a record durable.
    pub(in crate::group) fn note_record(&mut self, id: &AgentId) {
        if let Some(requirements) = &self.requirements {
            self.records.insert(id.clone(), requirements.clone());
        }
    }

    /// Returns whether an agent with the name `id` has saved a record under the rules of `now`, in the epoch of `now`
    /// or a later epoch. If such an agent comes back without its record, it has forgotten its promises. A record of an
    /// earlier epoch does not count, because its promises do not bind in a later epoch.
    pub(in crate::group) fn had_record(&self, id: &AgentId, now: &Requirements) -> bool {
        let is_bound = |noted: &Requirements| noted.rules == now.rules && noted.epoch >= now.epoch;
        self.records.get(id).is_some_and(is_bound)
    }
}
