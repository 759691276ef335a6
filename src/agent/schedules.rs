//! The schedules of an agent, as its reports show them.
//!
//! Decided here: the data about a schedule on this host, and that a schedule is listed as long as it runs or has a
//! handle. Not here: the schedules themselves, which write this data (`leader/schedule/`).

use std::{
    collections::BTreeMap,
    convert::Infallible,
    sync::{Arc, Mutex, MutexGuard, PoisonError, Weak},
};

use serde::{Deserialize, Serialize};

use super::AgentReader;
use crate::{clock::WallTime, protocol::AgentId};

/// The schedules of one agent, by their names. It is attached to the agent.
#[derive(Default)]
struct ScheduleList(Mutex<BTreeMap<AgentId, Weak<StatusRecord>>>);

impl AgentReader {
    /// Lists a schedule of the agent. An earlier schedule with the same name is not listed any more.
    pub(crate) fn list_schedule(&self, name: &AgentId, record: &Arc<StatusRecord>) {
        let Ok(list) = self.attached(|| Ok::<_, Infallible>(Arc::<ScheduleList>::default()));
        let mut list = list.0.lock().unwrap_or_else(PoisonError::into_inner);
        list.retain(|_, record| record.strong_count() > 0);
        list.insert(name.clone(), Arc::downgrade(record));
    }

    /// Returns the agent's schedules on this host.
    pub(crate) fn schedules(&self) -> BTreeMap<AgentId, ScheduleStatus> {
        let Ok(list) = self.attached(|| Err::<Arc<ScheduleList>, _>(())) else {
            return BTreeMap::new();
        };
        let list = list.0.lock().unwrap_or_else(PoisonError::into_inner);
        let shown = |(name, record): (&AgentId, &Weak<StatusRecord>)| {
            let status = *record.upgrade()?.status();
            Some((name.clone(), status))
        };
        list.iter().filter_map(shown).collect()
    }
}

/// A schedule on this host, at one moment. The numbers count events on this host, since the schedule was started here.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct ScheduleStatus {
    /// The present state.
    pub state: ScheduleState,
    /// The last due time that was begun in the group, as far as this host learned while it led. As JSON:
    /// `last_unix_ms`.
    #[serde(rename = "last_unix_ms")]
    pub last: Option<WallTime>,
    /// The next due time, while this host leads. As JSON: `next_unix_ms`.
    #[serde(rename = "next_unix_ms")]
    pub next: Option<WallTime>,
    /// Number of ticks that were begun.
    pub begun: u64,
    /// Number of ticks that began more than a second after they were due.
    pub late: u64,
    /// Number of ticks that may have been run before.
    pub repeated: u64,
    /// Number of due times that were not run, according to [`Misfire`](crate::leader::schedule::Misfire). At most 1,000
    /// are counted at a time. A due time that this host missed in several of its leaderships counts once for each.
    pub skipped: u64,
    /// Number of ticks whose work returned an error or panicked, or whose actor was gone.
    pub failed: u64,
    /// Number of refusals by agents that this host asked. An agent refuses if it obeys a later leader, if the due time
    /// is more than 10 s ahead of its own clock, or if it keeps the marks of 256 other schedules.
    pub refused: u64,
    /// Number of due times that the schedule's [stream](crate::agent::ElectionHandle::schedule_stream) repeated, or
    /// gave after a later due time had begun or was skipped. A counted due time is not run.
    pub misordered: u64,
}

/// State of a schedule on this host.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ScheduleState {
    /// The agent does not lead.
    #[default]
    Following,
    /// The agent leads, and waits until enough agents have reported the progress of the schedule.
    Asking,
    /// The agent leads, and waits for the next due time, or for the acknowledgement of a due tick.
    Waiting,
    /// The work of a tick runs.
    Running,
    /// No tick follows: the agent left or ended for good, the schedule was stopped, or its stream panicked.
    Ended,
    /// No tick follows: the schedule's stream has ended, and all of its due times are handled. A follower learns this
    /// only when it leads.
    Done,
}

/// The status that a schedule's task writes and the schedule's handles read.
#[derive(Debug, Default)]
pub(crate) struct StatusRecord(Mutex<ScheduleStatus>);

impl StatusRecord {
    pub(crate) fn note(&self, new: ScheduleStatus) {
        let mut status = self.status();
        *status = ScheduleStatus {
            last: new.last.or(status.last),
            misordered: status.misordered,
            ..new
        };
    }

    pub(crate) fn note_misordered(&self, misordered: u64) {
        self.status().misordered = misordered;
    }

    /// Notes that the leadership or the schedule has ended.
    pub(crate) fn rest(&self, state: ScheduleState) {
        let mut status = self.status();
        status.state = state;
        status.next = None;
    }

    pub(crate) fn status(&self) -> MutexGuard<'_, ScheduleStatus> {
        // A poisoned lock is still used: each change under it is one step, so a panic leaves no change half made.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
