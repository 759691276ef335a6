//! Timers of the machine.

/// A timer of an invitation election.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum InvitationTimer {
    /// A free agent: its slot to form a group has come.
    Slot,
    /// A coordinator: the time has come to look for other agents, to evaluate the answers, or to invite the agents
    /// below.
    Check,
    /// A candidate: the time for answers has passed, and silent agents count as refusing.
    Accepts,
    /// A member: the coordinator is silent, or did not answer.
    Watch,
    /// A leader that steps down: its work has not ended in time.
    Drain,
    /// An agent that stepped down: its cool-down has ended.
    Cooldown,
}
