//! Reasons why a schedule does not start.

use std::time::Duration;

use crate::{
    leader::{ChannelError, MessagesError},
    protocol::{AgentId, IdError},
    store::{StoreError, StoreIdentity},
};

/// Reason why a schedule, or an agent's part in schedules, does not start. Nothing was changed, and the leadership is
/// not affected.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum ScheduleError {
    /// The schedule's name breaks the rules for the name of an agent.
    #[error("a schedule has a name like an agent's: {0}")]
    Name(#[from] IdError),
    /// The interval is too short, too long, or not a whole number of milliseconds.
    #[error(
        "an interval of {interval:?} is too short, too long or no whole number of milliseconds: make it at least 100 ms"
    )]
    Interval {
        /// The interval.
        interval: Duration,
    },
    /// The rule has no due time after now.
    #[error("{schedule} never fires: no time after now is due, mend the rule or leave it out")]
    NeverFires {
        /// The schedule.
        schedule: AgentId,
    },
    /// The expression is invalid.
    #[error("{expression:?} is no cron expression: {reason}")]
    Cron {
        /// The expression.
        expression: String,
        /// The error in the expression.
        reason: String,
    },
    /// Another schedule of this agent has the name.
    #[error(
        "{schedule} runs on {agent} already: await its `stop()` first, or give this one a name of its own"
    )]
    Taken {
        /// The name.
        schedule: AgentId,
        /// The agent.
        agent: AgentId,
    },
    /// The agent has already begun with schedules: set its store and clock before the first schedule.
    #[error("{agent} has begun with schedules: set its store and clock before the first one")]
    Begun {
        /// The agent.
        agent: AgentId,
    },
    /// The agent left or ended for good.
    #[error("the agent {agent} has ended: start it again, and then its schedules")]
    Ended {
        /// The agent.
        agent: AgentId,
    },
    /// The agent's election is a lease: only the store of the lease keeps the progress of its schedules.
    #[error(
        "{agent} keeps how far its schedules are in the store of its lease: leave `.store(..)` out"
    )]
    KeptByLease {
        /// The agent.
        agent: AgentId,
    },
    /// The agents already keep the largest number of marks: this schedule would never run.
    #[error(
        "{schedule} does not fit: the agents keep the marks of {limit} schedules; run fewer, under names that stay, or keep the marks in the store of a lease; a name that no leader has asked for in 30 days gives way"
    )]
    TooMany {
        /// The schedule.
        schedule: AgentId,
        /// Largest number of schedules of a group.
        limit: usize,
    },
    /// This thread has no System with timers.
    #[error("there is no actix System on this thread: start schedules inside of one")]
    NoSystem,
    /// In the quorum mode a record in memory is lost with the process, and other hosts rely on it.
    #[error(
        "a voter of several hosts must not forget which ticks were run: give .schedules().store(..) a FileStore"
    )]
    VolatileStore,
    /// The store belongs to another agent, or to an agent of another group.
    #[error("the store belongs to {} of group {}: give each agent its own", .owner.node, .owner.group)]
    ForeignStore {
        /// Its owner.
        owner: Box<StoreIdentity>,
    },
    /// The store has failed.
    #[error("the store of the schedules: {0}")]
    Store(#[from] StoreError),
    /// The agent has no messages.
    #[error(transparent)]
    Messages(MessagesError),
    /// Another type of the application is registered under the name of these messages, `!schedules`.
    #[error(transparent)]
    Channel(ChannelError),
}

debug_is_text!(ScheduleError);
