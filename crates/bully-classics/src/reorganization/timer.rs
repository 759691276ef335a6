//! Timers of the machine.

/// A timer of a reorganization.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum ReorganizationTimer {
    /// A candidate: the members that did not answer are dead.
    Answer,
    /// The event that the agent waits for did not come.
    Takeover,
    /// A coordinator: time to ask whether all are normal.
    Check,
    /// A member: the coordinator is silent, or did not answer.
    Watch,
    /// A leader that steps down: the work took too long.
    Drain,
    /// An agent that stepped down need not let others go first any more.
    Cooldown,
}
