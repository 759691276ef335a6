//! A deadline that passed while the agent itself was late.

/// State of an agent's grace period. An agent that was itself stalled discards its suspicion once: the others may have
/// sent messages while it was stalled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Grace {
    /// It has not.
    Unused,
    /// It has: the next deadline counts.
    Used,
}
