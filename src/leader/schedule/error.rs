//! Why a schedule does not start.

use std::time::Duration;

use crate::{
    leader::{ChannelError, MessagesError},
    protocol::{AgentId, IdError},
    store::{StoreError, StoreIdentity},
};

/// Why a schedule, or what an agent needs for schedules, does not start. Nothing was changed, and the leadership
/// is not touched.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum ScheduleError {
    /// The schedule's name breaks the rules of an agent's name.
    #[error("a schedule has a name like an agent's: {0}")]
    Name(#[from] IdError),
    /// The interval is too short, or no whole number of milliseconds.
    #[error(
        "an interval of {interval:?} is too short, too long or no whole number of milliseconds: make it at least 100 ms"
    )]
    Interval {
        /// The interval.
        interval: Duration,
    },
    /// There is no due time after now.
    #[error("{schedule} never fires: no time after now is due, mend the rule or leave it out")]
    NeverFires {
        /// The schedule.
        schedule: AgentId,
    },
    /// The expression is none.
    #[error("{expression:?} is no cron expression: {reason}")]
    Cron {
        /// The expression.
        expression: String,
        /// What is wrong with it.
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
    /// The agent has what it needs for schedules already: set its store and clock before the first schedule.
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
    /// The agent's election is a lease: the store of the lease keeps how far its schedules are, and no other store does.
    #[error(
        "{agent} keeps how far its schedules are in the store of its lease: leave `.store(..)` out"
    )]
    KeptByLease {
        /// The agent.
        agent: AgentId,
    },
    /// The agents keep the marks of as many schedules as they may: this one would never run.
    #[error(
        "{schedule} does not fit: the agents keep the marks of {limit} schedules; run fewer, under names that stay, or keep the marks in the store of a lease; a name that no leader has asked for in 30 days gives way"
    )]
    TooMany {
        /// The schedule.
        schedule: AgentId,
        /// Most schedules of a group.
        limit: usize,
    },
    /// There is no System with timers on this thread.
    #[error("there is no actix System on this thread: start schedules inside of one")]
    NoSystem,
    /// In the quorum mode what is stored in memory is lost with the process, and other hosts rely on it.
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
    /// The store does not work.
    #[error("the store of the schedules: {0}")]
    Store(#[from] StoreError),
    /// The agent has no messages.
    #[error(transparent)]
    Messages(MessagesError),
    /// Something else of the application is registered under the name of these messages, `!schedules`.
    #[error(transparent)]
    Channel(ChannelError),
}

debug_is_text!(ScheduleError);
