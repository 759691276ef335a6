//! The handle of a schedule on this host.
//!
//! Not here: the status of a schedule, which reports read as well (`agent/schedules.rs`).

use std::{fmt, sync::Arc};

use crate::{
    agent::schedules::{ScheduleStatus, StatusRecord},
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
    /// The returned future ends when the work is dropped and the name is free: await this future before you start
    /// another schedule with the same name.
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
