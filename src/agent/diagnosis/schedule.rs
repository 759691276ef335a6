//! Why a schedule of an agent does not run, in types and in sentences.
//!
//! Decided here: the data of a schedule's findings, and their words. Not here: the conditions of the findings, which
//! schedules report themselves (`leader/schedule/`).

use std::{collections::BTreeMap, fmt, time::Duration};

use serde::Serialize;

use super::{
    Finding,
    words::{Names, Span},
};
use crate::{clock::WallTime, protocol::AgentId, shown};

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
    /// The clock of this leader is more than 10 s apart from those of others: it runs no schedule, and hands over if the
    /// clock of another contender fits.
    ClockOff {
        /// What this clock shows.
        #[serde(serialize_with = "shown::text")]
        own: WallTime,
        /// What the others show.
        #[serde(serialize_with = "shown::text")]
        others: WallTime,
        /// Whether that is the clock of the store, and not the median of the contenders' clocks.
        is_store: bool,
    },
    /// These agents keep as many marks as they may, and none of this schedule: it does not run while they are needed.
    MarksFull {
        /// The schedule.
        schedule: AgentId,
        /// The agents.
        agents: Vec<AgentId>,
    },
    /// The mark of a schedule lies ahead of this leader's clock: nothing is run before it.
    MarkAhead {
        /// The schedule.
        schedule: AgentId,
        /// The last due time that was begun, by the mark.
        #[serde(serialize_with = "shown::text")]
        last: WallTime,
        /// What this clock shows.
        #[serde(serialize_with = "shown::text")]
        now: WallTime,
        /// The name of the store that has the mark; `None` if the agents keep it.
        store: Option<String>,
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
            Self::MarksFull { schedule, agents } => write!(
                f,
                "{} keep the marks of as many schedules as they may, and none of {schedule}: run fewer schedules, under names that stay; a name that no leader has asked for in 30 days gives way",
                Names(agents)
            ),
            Self::ClockOff {
                own,
                others,
                is_store,
            } => {
                let whose = if *is_store {
                    "the store"
                } else {
                    "most contenders"
                };
                write!(
                    f,
                    "this agent runs no schedule: its clock shows {own}, and that of {whose} {others}: set the clock of this host"
                )
            }
            Self::MarkAhead {
                schedule,
                last,
                now,
                store: Some(store),
            } => write!(
                f,
                "{schedule} runs nothing before {last}, which the mark in {store} says was begun, and it is {now}: `bullyctl schedules reset {schedule}` removes the mark"
            ),
            Self::MarkAhead {
                schedule,
                last,
                now,
                store: None,
            } => write!(
                f,
                "{schedule} runs nothing before {last}, which the agents say was begun, and it is {now}: compare the clocks, or give the schedule another name"
            ),
        }
    }
}

/// What was found of the schedules that an agent leads: one finding for each at most, and one for its clock.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in crate::agent) struct ScheduleSigns {
    clock: Option<ScheduleFinding>,
    of: BTreeMap<AgentId, ScheduleFinding>,
}

/// Most schedules that a finding is kept of.
const MOST: usize = 64;

/// Most of them that are told.
const A_FEW: usize = 5;

impl ScheduleSigns {
    /// Notes what is found of that schedule, or that nothing is.
    pub(in crate::agent) fn note(&mut self, schedule: &AgentId, found: Option<ScheduleFinding>) {
        let Some(found) = found else {
            self.of.remove(schedule);
            return;
        };
        if self.of.len() < MOST || self.of.contains_key(schedule) {
            self.of.insert(schedule.clone(), found);
        }
    }

    /// Notes what is found of the clock that all of them go by.
    pub(in crate::agent) fn note_clock(&mut self, found: Option<ScheduleFinding>) {
        self.clock = found;
    }

    pub(super) fn judge(&self, all: &mut Vec<Finding>) {
        let found = self.clock.iter().chain(self.of.values().take(A_FEW));
        let found = found.cloned();
        all.extend(found.map(Finding::Schedule));
    }
}
