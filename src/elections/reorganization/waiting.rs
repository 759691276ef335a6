//! An agent that waits: for one above it, for the one that has halted it, or for its own slot.

use super::{
    Next, Out, Timer,
    core::Core,
    state::{Cause, ELECT, Halter},
};
use crate::protocol::Time;

/// What an agent waits for; it holds an election of its own if nothing comes of that in time.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Wait {
    pub cause: Cause,
    pub due: Time,
}

impl Wait {
    /// Nothing came of what it waited for.
    pub(super) fn on_takeover_due(&self, core: &mut Core, now: Time, out: &mut Out) -> Next {
        if now < self.due {
            out.set_timer(Timer::Takeover, self.due.since(now));
            return Next::Stay;
        }
        match &self.cause {
            // The snapshot may still have it as up: an agent that cools down need not defer to it.
            Cause::Superior(by) | Cause::Halted(Halter { by, .. }) => {
                Next::ElectWithout(by.id.clone())
            }
            Cause::Pause => ELECT,
            Cause::Cooldown => {
                core.end_cooldown(out); // all others had their slots
                ELECT
            }
        }
    }

    /// The agent that it waits for may be known to be down.
    pub(super) fn on_members(&self, core: &Core, now: Time) -> Next {
        match &self.cause {
            Cause::Superior(by) | Cause::Halted(Halter { by, .. })
                if !core.may_be_there(&by.id) =>
            {
                ELECT
            }
            // No other agent is left to go first.
            Cause::Cooldown if core.candidate_score(now).is_some() => ELECT,
            Cause::Superior(_) | Cause::Halted(_) | Cause::Pause | Cause::Cooldown => Next::Stay,
        }
    }
}
