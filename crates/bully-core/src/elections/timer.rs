//! The names of the timers of both modes of the bully.
//!
//! Both modes have one list, so that a driver has one type. A machine ignores the timers of the other mode.

/// A timer of a bully election.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum BullyTimer {
    /// A follower: its slot has come. Without a leader it announces itself or holds an election; otherwise it asks its
    /// leader, which ranks below it.
    Campaign,
    /// A candidate: the leader that was asked first did not answer.
    Widen,
    /// A candidate: the agents that did not answer in time count as gone.
    Deadline,
    /// A waiting agent: the announcement did not come.
    Victory,
    /// A leader, in both modes: the next heartbeat is due.
    Heartbeat,
    /// A follower: the leader is silent.
    Detect,
    /// A leader that steps down, in both modes: the work took too long.
    Drain,
    /// A leader: an agent of higher rank has been up for long enough.
    Preempt,
    /// An agent that stepped down: it may be elected again.
    Cooldown,
    /// Quorum mode, a follower: the leader is silent, or its slot to hold an election has come.
    Election,
    /// Quorum mode: a round of questions or votes has ended, or a leader that received too few acknowledgements gives
    /// up.
    Round,
    /// Quorum mode, a leader: the lease may have ended.
    Lease,
    /// Quorum mode without a disk: an incarnation asks the other voters for their memory of its past.
    Recover,
}
