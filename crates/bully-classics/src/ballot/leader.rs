//! A leader that steps down, and stays leader until its application has ended its work.
//!
//! Decided here: the agent to which it hands over. [`machine`](super::machine) decides the order: the leadership ends
//! before the other agents learn of its end.

use std::time::Duration;

use super::{
    Out,
    core::Core,
    message::Resign,
    state::{Leading, Leaving},
    timer::BallotTimer,
};
use bully_core::protocol::{AgentId, Event, Time};

impl Leading {
    /// Begins the step-down: orders the application to end its work.
    pub(super) fn drain(
        &mut self,
        core: &mut Core,
        now: Time,
        to: Option<AgentId>,
        cooldown: Duration,
        out: &mut Out,
    ) {
        let to = successor(core, to);
        let term = self.ballot.term();
        self.leaving = Some(Leaving {
            to: to.clone(),
            cooldown,
        });
        core.cool_down(now, cooldown); // also if the leadership is lost meanwhile
        out.notify(Event::Draining { term, to });
        if !core.config.drain.is_zero() {
            out.set_timer(BallotTimer::Drain, core.config.drain);
        }
    }

    /// Returns the message for the end of the work; `None` if this leader does not step down.
    pub(super) fn resignation(&self, core: &Core) -> Option<(Resign, Duration)> {
        let leaving = self.leaving.as_ref()?;
        let resign = Resign {
            ballot: self.ballot.clone(),
            successor: successor(core, leaving.to.clone()),
        };
        Some((resign, leaving.cooldown))
    }
}

/// Returns the agent to which the leadership should go: the wanted agent if it votes and can lead now, otherwise the
/// highest-ranked voter that is up.
fn successor(core: &Core, wanted: Option<AgentId>) -> Option<AgentId> {
    let is_peer = |id: &AgentId| core.peers.contains(id);
    // The wanted successor was chosen when the leader began to step down, and may have crashed since.
    let can_succeed = |id: &AgentId| is_peer(id) && core.me.can_succeed(id);
    wanted.filter(can_succeed).or_else(|| {
        let mut others = core.me.members.eligible().map(|member| &member.id);
        others.find(|id| is_peer(id)).cloned()
    })
}
