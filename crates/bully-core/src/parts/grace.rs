//! A deadline that passed while the agent itself was late.

/// State of an agent's grace period. An agent that was stalled itself does not trust its suspicion, because the other
/// agents may have sent messages during the stall. So it waits again, but only once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Grace {
    /// The agent has not waited again.
    Unused,
    /// The agent has waited again, so the next deadline counts.
    Used,
}
