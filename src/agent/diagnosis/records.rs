//! The records of voters, as findings: a voter has another store than before, or this agent's record is an old copy.
//!
//! Decided here: when a report about another store ends. Not here: when the machine reports it
//! (`elections/quorum/recall.rs`), and the words (`sentence.rs`).

use super::{Facts, Finding};
use crate::protocol::{AgentId, Incarnation, StoreId, VotersEvent};

impl Facts {
    pub(super) fn judge_records(&self, found: &mut Vec<Finding>) {
        let records = self.signs.records.iter().flat_map(|records| &records.0);
        found.extend(records.filter_map(|event| self.of_record(event)));
    }

    fn of_record(&self, event: &VotersEvent) -> Option<Finding> {
        match event {
            VotersEvent::OldRecord { by, term, heard } => Some(Finding::OldRecord {
                by: by.clone(),
                term: *term,
                heard: *heard,
            }),
            VotersEvent::OtherStore {
                id,
                kept,
                found,
                later,
            } => {
                // This agent's own store stays the same until the agent ends.
                let found = if *id == self.id {
                    *found
                } else {
                    self.other_store(id, *kept, *later)?
                };
                Some(Finding::OtherStore {
                    voter: id.clone(),
                    kept: *kept,
                    found,
                    is_earlier: later.is_some(),
                })
            }
            VotersEvent::Installed(_) | VotersEvent::Wanted(_) | VotersEvent::Answered { .. } => {
                None
            }
        }
    }

    /// Returns the present store of a voter, if this store is the reason why the voter's messages do not count. Returns
    /// `None` as soon as the process with this store is gone.
    fn other_store(
        &self,
        voter: &AgentId,
        kept: StoreId,
        later: Option<Incarnation>,
    ) -> Option<StoreId> {
        let mut reachable = self.members.iter().filter(|known| known.is_reachable);
        let member = &reachable.find(|known| known.member.id == *voter)?.member;
        // A process that started after `later` is heard.
        if later.is_some_and(|later| member.incarnation >= Some(later)) {
            return None;
        }
        member.store.filter(|store| *store != kept)
    }
}
