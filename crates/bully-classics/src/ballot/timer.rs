//! Timers of the machine.

/// A timer of a ballot election.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum BallotTimer {
    /// The round has ended.
    Round,
    /// The silent voters have to be asked again.
    Again,
    /// A leader that steps down: its work has not ended in time.
    Drain,
    /// An observer: the leader is silent.
    Silence,
}
