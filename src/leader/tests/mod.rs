//! The machines of schedules and proxies in the simulator's own world, beside the elections that they follow.
//!
//! ```text
//!   chaos: every fault of the simulator ──▶ World<Carried<QuorumBully, ..>>
//!                                             │ messages, timers and record of the election, and of the application
//!                                             ▼
//!                          Carried = the election's machine, and an Application that sees its view
//! ```
//!
//! Decided here: what an application is in there. So no fault has to be done a second time: one that the simulator gets
//! is drawn in these histories as well. `carried.rs` joins the two machines, `story.rs` says what is owed. The
//! applications, and what is promised of them: `schedule/tests/simulated.rs`, `proxy/tests/simulated.rs`.

mod carried;
mod story;

use std::{fmt::Debug, hash::Hash, time::Duration};

use crate::protocol::{AgentId, Incarnation, Members, Term, Time};

pub(in crate::leader) use carried::{Carried, CarriedConfig};
pub(in crate::leader) use story::{Carrier, Story, each_fault_happened};

/// What runs beside an election, and says something of its own.
pub(in crate::leader) trait Application: Sized + Debug + Unpin + 'static {
    type Message: Said;
    /// What survives a crash.
    type Record: Clone + Debug + Default + PartialEq + Send + Unpin + 'static;
    /// What all agents of a history have in common.
    type Shared: Clone + Debug + Send + Sync + Unpin + 'static;

    fn start(here: &Here<'_>, shared: &Self::Shared, record: Self::Record) -> Self;

    fn receive(
        &mut self,
        here: &Here<'_>,
        from: (&AgentId, Incarnation),
        message: Self::Message,
        out: &mut Vec<AppEffect<Self>>,
    );

    /// Time has passed, or the agent's view or the members may have changed.
    fn look(&mut self, here: &Here<'_>, out: &mut Vec<AppEffect<Self>>);

    /// After how long it wants to look again at the latest.
    fn wakes_in(&self, here: &Here<'_>) -> Option<Duration>;

    /// What was promised and is broken by now.
    fn broken(shared: &Self::Shared) -> Option<String>;
}

/// What an application says.
pub(in crate::leader) trait Said:
    Clone + Debug + PartialEq + Hash + Send + Unpin + 'static
{
    /// The message's name, for traps.
    fn kind(&self) -> &'static str;
}

/// What an application sees of its agent, at one moment.
pub(in crate::leader) struct Here<'a> {
    pub(in crate::leader) now: Time,
    pub(in crate::leader) id: &'a AgentId,
    pub(in crate::leader) incarnation: Incarnation,
    pub(in crate::leader) members: &'a Members,
    /// Which agent leads, as the own one sees it: its incarnation and term.
    pub(in crate::leader) leader: Option<(AgentId, Incarnation, Term)>,
    /// The term in which the own agent leads, by its clock.
    pub(in crate::leader) leading: Option<Term>,
    /// Counts the leaderships of the own agent.
    pub(in crate::leader) tenure: u64,
    pub(in crate::leader) is_draining: bool,
}

/// What an application does.
#[derive(Debug)]
pub(in crate::leader) enum AppEffect<A: Application> {
    /// To that agent, be it the own one.
    Send(AgentId, A::Message),
    /// Before anything later leaves.
    Keep(A::Record),
}
