//! The view of a schedule on this host.

use std::{
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use crate::{
    clock::WallTime,
    leader::stopping::{Stopped, Stopper},
    protocol::AgentId,
};

/// An application's handle of a schedule on this host. Clones are the same handle; dropping it ends nothing.
#[derive(Clone)]
pub struct ScheduleHandle {
    name: AgentId,
    record: Arc<StatusRecord>,
    stopper: Stopper,
}

impl ScheduleHandle {
    pub(super) const fn new(name: AgentId, record: Arc<StatusRecord>, stopper: Stopper) -> Self {
        Self {
            name,
            record,
            stopper,
        }
    }

    /// Returns the state of the schedule on this host, and the counts since it was started on this host.
    pub fn status(&self) -> ScheduleStatus {
        *self.record.status()
    }

    /// Ends the schedule on this host. Running work is dropped at once. The agent continues, and may lead without this
    /// schedule. The other hosts keep the schedule.
    ///
    /// The returned future ends when the work is dropped and the name is free: await it before you start another
    /// schedule of that name.
    pub fn stop(&self) -> Stopped {
        self.stopper.stop()
    }
}

impl fmt::Debug for ScheduleHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ScheduleHandle")
            .field("name", &self.name)
            .field("status", &self.status())
            .finish_non_exhaustive()
    }
}

/// A schedule on this host, at one moment. The counts are those of this host, since the schedule was started on it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ScheduleStatus {
    /// The present state.
    pub state: ScheduleState,
    /// The last due time that was begun in the group, as far as this host learned while it led.
    pub last: Option<WallTime>,
    /// The next due time, while this host leads.
    pub next: Option<WallTime>,
    /// Number of ticks that were begun.
    pub begun: u64,
    /// Number of ticks that began more than a second after they were due.
    pub late: u64,
    /// Number of ticks that may have been run before.
    pub repeated: u64,
    /// Number of due times that were not run, according to [`Misfire`](super::Misfire). At most 1,000 are counted at a
    /// time. A due time that several leaderships of this host missed counts in each.
    pub skipped: u64,
    /// Number of ticks whose work panicked, or whose actor was gone.
    pub failed: u64,
    /// Number of refusals by agents that this host asked. An agent refuses if it obeys a later leader, if the due time
    /// is more than 10 s ahead of its own clock, or if it keeps the marks of 256 other schedules.
    pub refused: u64,
    /// Number of due times that the schedule's [stream](crate::agent::ElectionHandle::schedule_stream) repeated, or
    /// gave after a later one had begun or was skipped: they are not run.
    pub misordered: u64,
}

/// State of a schedule on this host.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
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
pub(super) struct StatusRecord(Mutex<ScheduleStatus>);

impl StatusRecord {
    pub(super) fn note(&self, new: ScheduleStatus) {
        let mut status = self.status();
        *status = ScheduleStatus {
            last: new.last.or(status.last),
            misordered: status.misordered,
            ..new
        };
    }

    pub(super) fn note_misordered(&self, misordered: u64) {
        self.status().misordered = misordered;
    }

    /// Notes that the leadership or the schedule has ended.
    pub(super) fn rest(&self, state: ScheduleState) {
        let mut status = self.status();
        status.state = state;
        status.next = None;
    }

    pub(super) fn status(&self) -> MutexGuard<'_, ScheduleStatus> {
        // A poisoned lock is used all the same: each change under it is one step, so none is half made.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
