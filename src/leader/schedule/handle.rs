//! What is seen of a schedule on this host.

use std::{
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use crate::{
    clock::WallTime,
    leader::stopping::{Stopped, Stopper},
    protocol::AgentId,
};

use super::{interface::TickCounts, machine::ScheduleMachine};

/// An application's side of a schedule on this host. Clones are the same one; dropping it ends nothing.
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

    /// The schedule's name.
    pub const fn name(&self) -> &AgentId {
        &self.name
    }

    /// What the schedule does on this host, and what was counted here since it was started.
    pub fn status(&self) -> ScheduleStatus {
        *self.record.status()
    }

    /// Ends the schedule on this host. Work that runs is dropped where it stands. The agent goes on, and leads if it
    /// leads, without this schedule; on the other hosts it goes on.
    ///
    /// What this returns ends when the work is dropped and the name is free: await it before you start another schedule of
    /// that name.
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

/// A schedule on this host, at one moment. The counts are those of this host, since the schedule was started here.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ScheduleStatus {
    /// What it does.
    pub state: ScheduleState,
    /// The last due time that was begun in the group, as far as this host learnt while it led.
    pub last: Option<WallTime>,
    /// The next due time, while this host leads.
    pub next: Option<WallTime>,
    /// How many ticks were begun.
    pub begun: u64,
    /// Of them, how many began more than a second after they were due.
    pub late: u64,
    /// Of them, how many may have been run before.
    pub repeated: u64,
    /// How many due times were not run, as [`Misfire`](super::Misfire) says. At most 1,000 are counted at a time, and
    /// one that was missed by several leaderships of this host counts in each.
    pub skipped: u64,
    /// How often the work of a tick panicked, or its actor was gone.
    pub failed: u64,
    /// How many answers refused what this host asked: the agent obeys a later leader, a due time lies more than 10 s
    /// ahead by its clock, or it keeps the marks of 256 other schedules.
    pub refused: u64,
    /// How many due times the schedule's [stream](crate::agent::ElectionHandle::schedule_stream) told again, or after
    /// a later one had begun or was skipped: they are not run.
    pub misordered: u64,
}

/// What a schedule does on this host.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum ScheduleState {
    /// The agent does not lead.
    #[default]
    Following,
    /// The agent leads, and not enough others have told yet how far the schedule is.
    Asking,
    /// The agent leads, and waits for the next due time, or for the acknowledgement of the one that is due.
    Waiting,
    /// The work of a tick runs.
    Running,
    /// No tick follows: the agent left or ended for good, the schedule was stopped, or its stream panicked.
    Ended,
    /// No tick follows: the schedule's stream has ended, and each due time that it told is done with. An agent
    /// that follows finds that out when it leads.
    Done,
}

/// What the task of a schedule notes for its handles.
#[derive(Debug, Default)]
pub(super) struct StatusRecord(Mutex<ScheduleStatus>);

impl StatusRecord {
    pub(super) fn note(&self, machine: &ScheduleMachine<'_>) {
        let state = match (machine.is_established(), machine.is_running()) {
            (_, true) => ScheduleState::Running,
            (true, false) => ScheduleState::Waiting,
            (false, false) => ScheduleState::Asking,
        };
        let mut status = self.status();
        let TickCounts {
            begun,
            late,
            repeated,
            skipped,
            failed,
            refused,
        } = machine.counts();
        *status = ScheduleStatus {
            state,
            last: machine
                .is_established()
                .then(|| machine.last())
                .or(status.last),
            next: machine.upcoming(),
            begun,
            late,
            repeated,
            skipped,
            failed,
            refused,
            misordered: status.misordered,
        };
    }

    pub(super) fn note_misordered(&self, misordered: u64) {
        self.status().misordered = misordered;
    }

    /// What was counted so far.
    pub(super) fn counts(&self) -> TickCounts {
        let status = self.status();
        TickCounts {
            begun: status.begun,
            late: status.late,
            repeated: status.repeated,
            skipped: status.skipped,
            failed: status.failed,
            refused: status.refused,
        }
    }

    /// The leadership is over, or the schedule is.
    pub(super) fn rest(&self, state: ScheduleState) {
        let mut status = self.status();
        status.state = state;
        status.next = None;
    }

    fn status(&self) -> MutexGuard<'_, ScheduleStatus> {
        // Each change under the lock is whole at once, so there is nothing to be poisoned.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
