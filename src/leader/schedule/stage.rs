//! The stage of a schedule under one leadership.
//!
//! Not here: the transitions (`machine/`).

use crate::{clock::WallTime, protocol::Time};

use super::poll::Poll;

#[derive(Debug)]
pub(super) enum ScheduleStage {
    Reading(Poll),
    Founding(Poll),
    /// The leader waits for this due time; `None` if no further time is due.
    Waiting(Option<WallTime>),
    /// The leader asks for the acknowledgement of the tick of this due time.
    Claiming(Poll, WallTime),
    Running(WallTime),
    /// The work failed. It is tried again at the time of this value.
    Pausing(Time),
    Finished,
}

impl ScheduleStage {
    /// Returns the present question.
    pub(super) const fn asked(&mut self) -> Option<&mut Poll> {
        match self {
            Self::Reading(poll) | Self::Founding(poll) | Self::Claiming(poll, _) => Some(poll),
            Self::Waiting(_) | Self::Running(_) | Self::Pausing(_) | Self::Finished => None,
        }
    }

    /// Returns the present question, to read it.
    pub(super) const fn open(&self) -> Option<&Poll> {
        match self {
            Self::Reading(poll) | Self::Founding(poll) | Self::Claiming(poll, _) => Some(poll),
            Self::Waiting(_) | Self::Running(_) | Self::Pausing(_) | Self::Finished => None,
        }
    }

    /// Returns the due time that is claimed or run.
    pub(super) const fn busy(&self) -> Option<WallTime> {
        match self {
            Self::Claiming(_, due) | Self::Running(due) => Some(*due),
            Self::Reading(_)
            | Self::Founding(_)
            | Self::Waiting(_)
            | Self::Pausing(_)
            | Self::Finished => None,
        }
    }
}
