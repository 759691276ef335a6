//! The bully.

mod config;
mod message;

pub use config::{BullyConfig, Preemption, Profile};
pub use message::{BullyMessage, Elect, Elected, Heartbeat, Ok, Resign, Yield};

/// The names of the bully's timers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Timer {
    /// A follower without a leader: the turn to stand for election has come.
    Campaign,
    /// A candidate: the leader that was asked first did not answer.
    Widen,
    /// A candidate: those who did not answer are not there.
    Deadline,
    /// A waiting agent: the announcement did not come.
    Victory,
    /// A leader: time to be heard.
    Heartbeat,
    /// A follower: the leader is silent.
    Detect,
    /// A leader that steps down: the work took too long.
    Drain,
    /// A leader: a more important agent has been there for long enough.
    Preempt,
    /// An agent that stepped down may stand again.
    Rest,
}
