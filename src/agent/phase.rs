//! The states of an agent's leadership.

use std::time::Duration;

use crate::protocol::{Incarnation, Term};

use super::status::Lifecycle;

/// The states of the machine; `leadership.rs` shows how they follow one another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LeadershipPhase {
    /// The agent runs, and does not lead.
    Idle,
    /// The agent leads.
    Leading(AgentTenure),
    /// The agent leads, and the work under its leadership has to end.
    Draining(AgentTenure),
    /// The agent's incarnation has ended, and another incarnation may follow.
    Down,
    /// No other incarnation follows.
    Ended(Departure),
}

/// One agent's time as leader, from the begin of a leadership to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct AgentTenure {
    /// Distinguishes tenures. A tenure that is renewed in a later term, without a gap, keeps its number.
    pub(super) serial: u64,
    pub(super) incarnation: Incarnation,
    /// The newest term of the tenure.
    pub(super) term: Term,
}

/// The kind of an agent's end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Departure {
    /// The agent was asked to leave.
    Left,
    /// The agent ended for good without having been asked.
    Retired,
}

impl LeadershipPhase {
    pub(super) fn tenure(self) -> Option<AgentTenure> {
        match self {
            Self::Leading(tenure) | Self::Draining(tenure) => Some(tenure),
            Self::Idle | Self::Down | Self::Ended(_) => None,
        }
    }

    pub(super) fn departure(self) -> Option<Departure> {
        match self {
            Self::Ended(departure) => Some(departure),
            Self::Idle | Self::Leading(_) | Self::Draining(_) | Self::Down => None,
        }
    }

    pub(super) fn lifecycle(self) -> Lifecycle {
        match self {
            Self::Idle | Self::Leading(_) | Self::Draining(_) => Lifecycle::Running,
            Self::Down => Lifecycle::Down,
            Self::Ended(_) => Lifecycle::Ended,
        }
    }
}

/// The part of an agent that has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scope {
    /// One incarnation; another may follow.
    Incarnation,
    /// The agent.
    Agent,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct IncarnationEnd {
    pub(super) incarnation: Incarnation,
    /// Whether this call changed the lifecycle of the agent. It is `false` at a second call for the same end: by then
    /// another agent may have the name.
    pub(super) has_changed: bool,
    /// Whether no lead future acts on the leadership of the ended incarnation any more.
    pub(super) is_confirmed: bool,
    /// The kind of the agent's end; `None` if another incarnation may follow.
    pub(super) departure: Option<Departure>,
    /// Whether no actor of the agent runs on: the actor is dropped, or it hangs and was given up. Then the agent's
    /// resources are free once its end is confirmed.
    pub(super) is_last: bool,
}

/// Time for which a leadership still holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Remaining {
    Over,
    For(Duration),
    Unlimited,
}
