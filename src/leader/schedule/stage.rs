//! The stage of a schedule under one leadership.
//!
//! Not here: the transitions (`machine/`).

use crate::{clock::WallTime, protocol::Time};

use super::{message::Mark, poll::Poll};

#[derive(Debug)]
pub(super) enum ScheduleStage {
    Reading(Poll),
    Founding(Poll, Mark),
    /// The leader waits for this due time; `None` if no further time is due.
    Waiting(Option<WallTime>),
    Claiming(Poll, TickClaim),
    Running(WallTime),
    /// The work failed, and is tried again at this time.
    Pausing(Time),
    Finished,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct TickClaim {
    pub(super) due: WallTime,
    pub(super) mark: Mark,
}

impl ScheduleStage {
    /// Returns the present question, and the mark that the others should keep, if any.
    pub(super) fn asked(&mut self) -> Option<(&mut Poll, Option<Mark>)> {
        match self {
            Self::Reading(poll) => Some((poll, None)),
            Self::Founding(poll, mark) => Some((poll, Some(*mark))),
            Self::Claiming(poll, claim) => Some((poll, Some(claim.mark))),
            Self::Waiting(_) | Self::Running(_) | Self::Pausing(_) | Self::Finished => None,
        }
    }

    /// Returns the due time that is claimed or run.
    pub(super) const fn busy(&self) -> Option<WallTime> {
        match self {
            Self::Claiming(_, TickClaim { due, .. }) | Self::Running(due) => Some(*due),
            Self::Reading(_)
            | Self::Founding(..)
            | Self::Waiting(_)
            | Self::Pausing(_)
            | Self::Finished => None,
        }
    }
}
