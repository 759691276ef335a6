//! An agent that waits: for an agent above it, for the agent that has halted it, or for its own slot.

use super::{
    Next, Out,
    core::Core,
    state::{ELECT, Halter, WaitCause},
    timer::ReorganizationTimer,
};
use bully_core::protocol::Time;

/// The event that an agent waits for. If it does not come in time, the agent holds an election of its own.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Wait {
    pub cause: WaitCause,
    pub due: Time,
}

impl Wait {
    /// The event that it waited for did not come.
    pub(super) fn on_takeover_due(&self, core: &mut Core, now: Time, out: &mut Out) -> Next {
        if now < self.due {
            out.set_timer(ReorganizationTimer::Takeover, self.due.since(now));
            return Next::Stay;
        }
        match &self.cause {
            // The snapshot may still have it as up: an agent that cools down need not defer to it.
            WaitCause::Superior(by) | WaitCause::Halted(Halter { by, .. }) => {
                Next::ElectWithout(by.id.clone())
            }
            WaitCause::Pause => ELECT,
            WaitCause::Cooldown => {
                core.end_cooldown(out); // all others had their slots
                ELECT
            }
        }
    }

    /// The agent that it waits for may be known to be down.
    pub(super) fn on_members(&self, core: &Core, now: Time) -> Next {
        match &self.cause {
            WaitCause::Superior(by) | WaitCause::Halted(Halter { by, .. })
                if !core.may_be_there(&by.id) =>
            {
                ELECT
            }
            // No other agent is left to go first.
            WaitCause::Cooldown if core.candidate_score(now).is_some() => ELECT,
            WaitCause::Superior(_)
            | WaitCause::Halted(_)
            | WaitCause::Pause
            | WaitCause::Cooldown => Next::Stay,
        }
    }
}
