//! Which names have kept a record here: what their next holder has to know.
//!
//! Decided here: that this outlasts the place. A name costs an entry for ever, as its former lives
//! do while it is kept; these are the voters of this process, not what others say.

use crate::protocol::{AgentId, PeerMessage, Requirements};

use super::Registry;

impl<M: PeerMessage> Registry<M> {
    /// Notes that the holder of this name has made a record durable.
    pub(in crate::group) fn note_record(&mut self, id: &AgentId) {
        if let Some(requirements) = &self.requirements {
            self.records.insert(id.clone(), requirements.clone());
        }
    }

    /// Whether a holder of this name made one by these rules: where a record is needed, one who
    /// comes back without it has forgotten what it promised. What was promised in an earlier epoch
    /// binds nobody in a later one.
    pub(in crate::group) fn had_record(&self, id: &AgentId, now: &Requirements) -> bool {
        let is_bound = |noted: &Requirements| noted.rules == now.rules && noted.epoch >= now.epoch;
        self.records.get(id).is_some_and(is_bound)
    }
}
