//! The answer to the agent that was asked for a change of the voters.

use std::sync::Arc;

use super::{Out, QuorumConfig, core::Core};
use crate::protocol::{ChangeError, Changed, Event, VoterChange, VotersEvent};

impl QuorumConfig {
    /// Returns whether the list of voters already has this change.
    pub(super) fn has_done(&self, change: &VoterChange) -> bool {
        let (new, old) = change.parts();
        new.is_none_or(|new| self.voters.contains(&new.id))
            && old.is_none_or(|old| !self.voters.contains(old))
    }

    pub(super) fn changed(&self, already: bool) -> Changed {
        Changed {
            epoch: self.epoch,
            voters: self.voters.clone(),
            already,
        }
    }
}

impl Core {
    /// Reports success for the change that this agent was asked to make, if the present list of voters has that change.
    pub(super) fn answer_if_done(&mut self, out: &mut Out) {
        let config = Arc::clone(&self.config);
        if let Some(change) = self.asked.take_if(|change| config.has_done(change)) {
            let outcome = Ok(config.changed(false));
            let change = *change;
            out.notify(Event::Voters(Box::new(VotersEvent::Answered {
                change,
                outcome,
            })));
        }
    }

    /// Reports the outcome of a change by an event, if this agent was asked to make exactly that change.
    pub(super) fn answer_change(
        &mut self,
        change: &VoterChange,
        outcome: Result<Changed, ChangeError>,
        out: &mut Out,
    ) {
        if let Some(change) = self.asked.take_if(|asked| **asked == *change) {
            let change = *change;
            out.notify(Event::Voters(Box::new(VotersEvent::Answered {
                change,
                outcome,
            })));
        }
    }
}
