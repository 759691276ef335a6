//! Timers of the machine.

/// A timer of an invitation election.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum InvitationTimer {
    /// A free agent: its slot to form a group has come.
    Slot,
    /// A coordinator: time to look for others, to weigh the answers, or to invite those below.
    Check,
    /// The agents that did not accept will not.
    Accepts,
    /// A member: the coordinator is silent, or did not answer.
    Watch,
    /// A leader that steps down: the work took too long.
    Drain,
    /// An agent that stepped down need not let others go first any more.
    Cooldown,
}
