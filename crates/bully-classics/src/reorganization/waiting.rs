//! An agent that waits for an agent above it to lead, for the agent that has halted it, or for its own slot.

use super::{
    Next, Out,
    core::{Core, ELECT, Halter, WaitCause},
    timer::ReorganizationTimer,
};
use bully_core::protocol::Time;

/// The event for which an agent waits. If the event does not come in time, the agent holds an election.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Wait {
    pub cause: WaitCause,
    pub due: Time,
}

impl Wait {
    /// Holds an election, because the event did not come in time.
    pub(super) fn on_takeover_due(&self, core: &mut Core, now: Time, out: &mut Out) -> Next {
        if now < self.due {
            out.set_timer(ReorganizationTimer::Takeover, self.due.since(now));
            return Next::Stay;
        }
        match &self.cause {
            // The awaited agent did not lead in time, so this agent does not defer to it, even if it seems up.
            WaitCause::Superior(by) | WaitCause::Halted(Halter { by, .. }) => {
                Next::ElectWithout(by.id.clone())
            }
            WaitCause::Pause => ELECT,
            WaitCause::Cooldown => {
                core.end_cooldown(out); // the slots of all others have passed
                ELECT
            }
        }
    }

    /// Handles a new snapshot, in which the awaited agent may be down.
    pub(super) fn on_members(&self, core: &Core, now: Time) -> Next {
        match &self.cause {
            WaitCause::Superior(by) | WaitCause::Halted(Halter { by, .. })
                if !core.may_be_there(&by.id) =>
            {
                ELECT
            }
            // If this agent can be elected now, no other agent is left that could lead first.
            WaitCause::Cooldown if core.candidate_score(now).is_some() => ELECT,
            WaitCause::Superior(_)
            | WaitCause::Halted(_)
            | WaitCause::Pause
            | WaitCause::Cooldown => Next::Stay,
        }
    }
}
