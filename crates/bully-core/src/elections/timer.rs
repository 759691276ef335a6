//! The names of the timers of both modes of the bully.
//!
//! One list, so that a driver has one type. A machine ignores the timers of the other mode.

/// A timer of a bully election.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum BullyTimer {
    /// A follower without a leader: its slot to announce itself or to hold an election has come.
    Campaign,
    /// A candidate: the leader that was asked first did not answer.
    Widen,
    /// A candidate: the agents that did not answer are not there.
    Deadline,
    /// A waiting agent: the announcement did not come.
    Victory,
    /// A leader: time to be heard. In both modes.
    Heartbeat,
    /// A follower: the leader is silent.
    Detect,
    /// A leader that steps down: the work took too long. In both modes.
    Drain,
    /// A leader: an agent of higher rank has been there for long enough.
    Preempt,
    /// An agent that stepped down may be elected again.
    Cooldown,
    /// Quorum mode, a follower: the leader is silent, or its slot to hold an election has come.
    Election,
    /// Quorum mode: a round of questions or votes is over, or a leader that too few
    /// acknowledged gives up.
    Round,
    /// Quorum mode, a leader: the lease may have ended.
    Lease,
    /// Quorum mode without a disk: an incarnation asks the others for their memory of it.
    Recover,
}
