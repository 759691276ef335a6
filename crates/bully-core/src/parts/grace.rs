//! A deadline that passed while the agent itself was late.

/// Whether an agent has used its grace period. An agent that was itself stalled discards its suspicion
/// once: it was the one that slept, and the others may have spoken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Grace {
    /// It has not.
    Unused,
    /// It has: the next deadline counts.
    Used,
}
