//! Why a schedule of an agent does not run, in types and in sentences.
//!
//! Decided here: what is kept of it for a diagnosis, and the words. Not here: when it is found, which schedules say
//! themselves (`leader/schedule/`).

use std::{collections::BTreeMap, fmt, time::Duration};

use serde::Serialize;

use super::{Finding, words::Span};
use crate::{protocol::AgentId, shown};

/// Why a [schedule](crate::leader::schedule) of this agent does not run. As text and as JSON it is like a
/// [`Finding`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
#[non_exhaustive]
pub enum ScheduleFinding {
    /// The store of the lease answers, but fails for the marks of schedules: no tick begins.
    MarksFail {
        /// The name of the store.
        store: String,
        /// Its last answer.
        reason: String,
        /// Since when, counted back from now. As JSON: `since_ms`.
        #[serde(rename = "since_ms", serialize_with = "shown::millis")]
        since: Duration,
    },
    /// The store holds something else where the mark of a schedule should be. It is not written over.
    MarkForeign {
        /// The schedule.
        schedule: AgentId,
        /// The name of the store.
        store: String,
        /// What is there.
        reason: String,
    },
}

impl fmt::Display for ScheduleFinding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::MarksFail {
                store,
                reason,
                since,
            } => write!(
                f,
                "{store} has kept no marks of schedules for {}, so no tick begins: {reason}",
                Span(*since)
            ),
            Self::MarkForeign {
                schedule,
                store,
                reason,
            } => write!(
                f,
                "{store} holds something else where the mark of {schedule} should be: remove that record, or give the schedule another name: {reason}"
            ),
        }
    }
}

/// What was found of the schedules that an agent leads: one finding for each at most.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in crate::agent) struct ScheduleSigns(BTreeMap<AgentId, ScheduleFinding>);

/// Most schedules that a finding is kept of.
const MOST: usize = 64;

/// Most of them that are told.
const A_FEW: usize = 5;

impl ScheduleSigns {
    /// Notes what is found of that schedule, or that nothing is.
    pub(in crate::agent) fn note(&mut self, schedule: &AgentId, found: Option<ScheduleFinding>) {
        let Some(found) = found else {
            self.0.remove(schedule);
            return;
        };
        if self.0.len() < MOST || self.0.contains_key(schedule) {
            self.0.insert(schedule.clone(), found);
        }
    }

    pub(super) fn judge(&self, all: &mut Vec<Finding>) {
        let found = self.0.values().take(A_FEW).cloned();
        all.extend(found.map(Finding::Schedule));
    }
}
