//! The answers of a lease's store, as findings.
//!
//! Decided here: which failures of the store become findings. Not here: when a store is considered to fail
//! (`register/keeper/health.rs`), and whether it answers in time (`timings.rs`).

use super::{Facts, Finding, ScheduleFinding};
use crate::{agent::Carrier, protocol::AgentId};

impl Facts {
    pub(super) fn judge_register(&self, found: &mut Vec<Finding>) {
        let Some((store, state)) = &self.register else {
            return;
        };
        // If the store cannot be reached, it takes no writes either. Both failures have one cause, so only the failed
        // reads are reported.
        if let Some((since, reason)) = &state.reads {
            found.push(Finding::RegisterFails {
                store: store.clone(),
                reason: reason.clone(),
                since: *since,
            });
        } else if let Some((since, reason)) = &state.writes {
            found.push(Finding::RegisterTakesNoWrites {
                store: store.clone(),
                reason: reason.clone(),
                since: *since,
            });
        } else if let Some((since, reason)) = &state.marks {
            found.push(Finding::Schedule(ScheduleFinding::MarksFail {
                store: store.clone(),
                reason: reason.clone(),
                since: *since,
            }));
        }
        if let (None, Some((since, reason))) = (&state.reads, &state.lists) {
            found.push(Finding::RegisterListsNobody {
                store: store.clone(),
                reason: reason.clone(),
                since: *since,
            });
        }
        if let Some(other) = state.other {
            found.push(Finding::TwoOfOneName { other });
        }
        if let Some(reason) = &state.refused {
            found.push(Finding::RegisterForeign {
                store: store.clone(),
                reason: reason.clone(),
            });
        }
    }

    /// Returns whether an agent that only the store knows may be eligible: the store lists such an agent, or cannot
    /// list agents.
    pub(super) fn may_store_know_another(&self) -> bool {
        let state = self.register.as_ref().map(|(_, state)| state);
        state.is_some_and(|state| state.has_another != Some(false))
    }

    /// Returns the finding about a leader that this agent knows only from the store of the lease. It replaces the
    /// comparison of ranks. Returns `None` if the members and their ranks are known.
    pub(super) fn holder(&self, leader: &AgentId, is_reachable: bool) -> Option<Finding> {
        let (store, _) = self.register.as_ref()?;
        let (leader, store) = (leader.clone(), store.clone());
        match self.offers.carrier {
            // The ranks of agents that only the store knows are not compared.
            Carrier::None => Some(Finding::HoldsLease { leader, store }),
            Carrier::Links if !is_reachable => Some(Finding::LeaderUnlinked { leader, store }),
            Carrier::Links | Carrier::Process => None,
        }
    }
}
