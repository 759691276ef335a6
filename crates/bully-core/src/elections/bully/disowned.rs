//! The behaviour of an agent while most of its peers know a later process with its name (rule `later-process-leads`).
//!
//! Decided here: how the agent gives up in each role. The agent is not eligible meanwhile; `elections/step.rs` decides
//! that.

use super::{
    Step,
    change::{Change, Next},
    machine::State,
};

impl State {
    /// Returns how this agent gives up; `None` if no later process has its name, or if nothing changes.
    pub(super) fn on_disowned(&self, step: &mut Step<'_>) -> Option<Next> {
        if !step.core.me.is_disowned() {
            return None;
        }
        match self {
            Self::Leading(tenure) => Some(tenure.give_up_name(step)),
            Self::Candidate(candidate) => Some(candidate.withdraw()),
            Self::Waiting(_) => Some(Next::Become(Change::Vacant(None))),
            Self::Vacant(vacant) if vacant.slot.is_some() => {
                Some(Next::Become(Change::Vacant(None)))
            }
            Self::Vacant(_) | Self::Following(_) => None,
        }
    }
}
