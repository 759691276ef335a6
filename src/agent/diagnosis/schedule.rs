//! The reasons why a schedule of an agent does not run, as types and as sentences.
//!
//! Decided here: the data of these findings, and their words. Not here: when they are found; the schedules themselves
//! report them (`leader/schedule/`).

use std::{collections::BTreeMap, fmt, time::Duration};

use serde::Serialize;

use super::{
    Finding,
    words::{Names, Span, Times},
};
use crate::{clock::WallTime, protocol::AgentId, shown};

/// A finding about a [schedule](crate::leader::schedule) of this agent, or about its part in schedules that other
/// agents lead. Its text and JSON have the form of a [`Finding`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
#[non_exhaustive]
pub enum ScheduleFinding {
    /// The store of the lease answers, but returns errors for the marks of schedules (the due times of their last
    /// ticks). So no tick begins.
    MarksFail {
        /// The name of the store.
        store: String,
        /// The last answer of the store.
        reason: String,
        /// Time since the first failure. As JSON: `since_ms`.
        #[serde(rename = "since_ms", serialize_with = "shown::millis")]
        since: Duration,
    },
    /// The store has another record in place of the mark of a schedule. No agent overwrites that record.
    MarkForeign {
        /// The schedule.
        schedule: AgentId,
        /// The name of the store.
        store: String,
        /// A description of the record that was found.
        reason: String,
    },
    /// The clock of this leader differs by more than 10 s from other clocks. This leader runs no schedule, and hands
    /// over if the clock of another contender (an agent that may take the lease) agrees with the other clocks.
    ClockOff {
        /// The time of this leader's clock.
        #[serde(serialize_with = "shown::text::serialize")]
        own: WallTime,
        /// The time of the other clocks.
        #[serde(serialize_with = "shown::text::serialize")]
        others: WallTime,
        /// Whether `others` is the clock of the store, and not the median of the contenders' clocks.
        is_store: bool,
    },
    /// The schedule needs acknowledgements of agents that already keep the largest number of marks, without a mark of
    /// this schedule. As long as it needs them, the schedule does not run.
    MarksFull {
        /// The schedule.
        schedule: AgentId,
        /// The agents that keep the largest number of marks.
        agents: Vec<AgentId>,
    },
    /// Too few agents acknowledge this leader, so no tick of the schedule begins. The finding lasts until enough agents
    /// acknowledge a tick.
    NotAcknowledged {
        /// The schedule.
        schedule: AgentId,
        /// Time of the first tick or question that too few agents acknowledged.
        #[serde(serialize_with = "shown::text::serialize")]
        since: WallTime,
        /// The agents that have not acknowledged this tick or question.
        missing: Vec<AgentId>,
        /// The agents that refused the due time, because it is more than 10 s ahead of their clocks.
        early: Vec<AgentId>,
    },
    /// The store of this agent does not store the progress (marks) of schedules, so this agent acknowledges no tick.
    MarksNotStored {
        /// Time of the first failure.
        #[serde(serialize_with = "shown::text::serialize")]
        since: WallTime,
        /// The last error of the store.
        reason: String,
    },
    /// The work of the last ticks has failed: it returned an error, panicked, or was sent to an actor that is gone.
    TickFails {
        /// The schedule.
        schedule: AgentId,
        /// The due time of the first tick in the present series of failures.
        #[serde(serialize_with = "shown::text::serialize")]
        since: WallTime,
        /// Number of failures in a row, in this leadership.
        times: u32,
        /// The text of the last error or panic. The application wrote it.
        reason: String,
    },
    /// The mark of a schedule is later than this leader's clock: no tick begins before the time of the mark.
    MarkAhead {
        /// The schedule.
        schedule: AgentId,
        /// The last due time whose tick has begun, as the mark records it.
        #[serde(serialize_with = "shown::text::serialize")]
        last: WallTime,
        /// The time of this leader's clock.
        #[serde(serialize_with = "shown::text::serialize")]
        now: WallTime,
        /// The name of the store that has the mark; `None` if the agents keep the mark.
        store: Option<String>,
    },
}

impl fmt::Display for ScheduleFinding {
    #[expect(clippy::too_many_lines, reason = "a sentence for each finding")]
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
                "{} keep the largest number of schedules' marks, and none of {schedule}: run fewer schedules, under constant names; the mark of a name that no leader has used for 30 days is removed",
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
            Self::NotAcknowledged {
                schedule,
                since,
                missing,
                early,
            } => {
                write!(
                    f,
                    "no tick of {schedule} has begun since {since}, because too few agents acknowledge this leader"
                )?;
                if !missing.is_empty() {
                    let missing = Names(missing);
                    write!(
                        f,
                        "; no acknowledgement of {missing}: read the diagnosis of each"
                    )?;
                }
                if !early.is_empty() {
                    let early = Names(early);
                    write!(
                        f,
                        "; refused by {early}, whose clocks are more than 10 s behind: compare the clocks"
                    )?;
                }
                Ok(())
            }
            Self::MarksNotStored { since, reason } => write!(
                f,
                "this agent has stored no progress of schedules since {since}, so it acknowledges no tick: mend that store (`quorum.marks_file`, or `.schedules().store(..)`): {reason}"
            ),
            Self::TickFails {
                schedule,
                since,
                times: 1,
                reason,
            } => write!(
                f,
                "the work of {schedule} has failed in the tick that was due at {since}: {reason}"
            ),
            Self::TickFails {
                schedule,
                since,
                times,
                reason,
            } => write!(
                f,
                "the work of {schedule} has failed {} in a row, first in the tick that was due at {since}: {reason}",
                Times(*times)
            ),
            Self::MarkAhead {
                schedule,
                last,
                now,
                store: Some(store),
            } => write!(
                f,
                "{schedule} runs nothing before {last}, because the mark in {store} says that this tick has begun, and it is {now}: `bullyctl schedules reset {schedule}` removes the mark"
            ),
            Self::MarkAhead {
                schedule,
                last,
                now,
                store: None,
            } => write!(
                f,
                "{schedule} runs nothing before {last}, because the agents say that this tick has begun, and it is {now}: compare the clocks, or give the schedule another name"
            ),
        }
    }
}

/// The findings about the schedules of an agent: at most one for each schedule that the agent leads, one for its clock,
/// and one for its store of marks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in crate::agent) struct ScheduleSigns {
    clock: Option<ScheduleFinding>,
    store: Option<ScheduleFinding>,
    of: BTreeMap<AgentId, ScheduleFinding>,
}

/// Largest number of schedules whose findings are kept. The findings of further schedules are dropped.
const MOST: usize = 64;

/// Largest number of schedules that a diagnosis reports.
const A_FEW: usize = 5;

impl ScheduleSigns {
    /// Notes the finding about this schedule; `None` means that the schedule has no finding now.
    pub(in crate::agent) fn note(&mut self, schedule: &AgentId, found: Option<ScheduleFinding>) {
        let Some(found) = found else {
            self.of.remove(schedule);
            return;
        };
        if self.of.len() < MOST || self.of.contains_key(schedule) {
            self.of.insert(schedule.clone(), found);
        }
    }

    /// Notes the finding about the clock that all schedules use.
    pub(in crate::agent) fn note_clock(&mut self, found: Option<ScheduleFinding>) {
        self.clock = found;
    }

    /// Notes the finding about the store in which the agent keeps marks.
    pub(in crate::agent) fn note_store(&mut self, found: Option<ScheduleFinding>) {
        self.store = found;
    }

    pub(super) fn judge(&self, all: &mut Vec<Finding>) {
        let of_agent = self.clock.iter().chain(&self.store);
        let found = of_agent.chain(self.of.values().take(A_FEW));
        let found = found.cloned();
        all.extend(found.map(Finding::Schedule));
    }
}
