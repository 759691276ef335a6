//! Timers of the machine.

/// A timer of a reorganization.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum ReorganizationTimer {
    /// A candidate: the time for answers has passed, and silent members count as dead.
    Answer,
    /// A waiting agent: the event for which it waits did not come.
    Takeover,
    /// A coordinator: the time has come to ask whether all members are *Normal*.
    Check,
    /// A member: the coordinator is silent, or did not answer.
    Watch,
    /// A leader that steps down: its work has not ended in time.
    Drain,
    /// An agent that stepped down: its cool-down has ended.
    Cooldown,
}
