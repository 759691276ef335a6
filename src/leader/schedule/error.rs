//! Reasons why a schedule does not start.

use std::time::Duration;

use crate::{
    leader::MessagesError,
    protocol::{AgentId, IdError},
    store::{StoreError, StoreIdentity},
};

/// Reason why a schedule, or an agent's part in schedules, does not start. Nothing was changed, and the leadership is
/// not affected.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum ScheduleError {
    /// The schedule's name breaks the rules for the name of an agent.
    #[error("the schedule's name is not valid: {0} (the rules are those of an agent's name)")]
    Name(#[from] IdError),
    /// The interval is too short, too long, or not a whole number of milliseconds.
    #[error(
        "an interval of {interval:?} is too short, too long or not a whole number of milliseconds: choose a whole number of milliseconds, at least 100 ms"
    )]
    Interval {
        /// The interval that was given.
        interval: Duration,
    },
    /// The rule has no due time after now.
    #[error(
        "{schedule} never fires, because its rule has no time after now: change the rule, or remove the schedule"
    )]
    NeverFires {
        /// The schedule.
        schedule: AgentId,
    },
    /// The expression is invalid.
    #[error(
        "{expression:?} is not a cron expression: give minute, hour, day of the month, month and day of the week, as in `30 3 * * *` ({reason})"
    )]
    Cron {
        /// The expression that was given.
        expression: String,
        /// The error in the expression.
        reason: String,
    },
    /// Another schedule of this agent has the name.
    #[error(
        "{schedule} runs on {agent} already: await its `stop()` first, or give the new schedule another name"
    )]
    Taken {
        /// The name that both schedules have.
        schedule: AgentId,
        /// The agent that runs the other schedule.
        agent: AgentId,
    },
    /// The agent has already begun with schedules: set its store and clock before the first schedule.
    #[error("{agent} has schedules already: set its store and clock before its first schedule")]
    Begun {
        /// The agent that has begun.
        agent: AgentId,
    },
    /// The agent left or ended for good.
    #[error("the agent {agent} has ended: start it again, and then its schedules")]
    Ended {
        /// The agent that has ended.
        agent: AgentId,
    },
    /// The agent's election is by a lease, so it keeps the progress of schedules in the lease's store, and in no other.
    #[error(
        "{agent} keeps the progress of its schedules in the store of its lease: remove `.store(..)` after `.schedules()`"
    )]
    KeptByLease {
        /// The agent.
        agent: AgentId,
    },
    /// The agents already keep the largest number of marks: this schedule would never run.
    #[error(
        "the agents keep the progress (marks) of {limit} schedules, the most allowed, so {schedule} does not start: run fewer schedules and keep their names, or elect by `.lease(..)`"
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
        "this group reaches other hosts, and a store in memory forgets which ticks were run: give .schedules().store(..) a FileStore (in a configuration: `quorum.marks_file`)"
    )]
    VolatileStore,
    /// The store belongs to another agent, or to an agent of another group.
    #[error("the store belongs to {} of group {}: give each agent a store of its own", .owner.node, .owner.group)]
    ForeignStore {
        /// The agent that the store belongs to.
        owner: Box<StoreIdentity>,
    },
    /// The store has failed.
    #[error("the store of the schedules does not work: {0}")]
    Store(#[from] StoreError),
    /// The agent cannot exchange the messages about schedules, or another type of the application is registered under
    /// their name, `!schedules`.
    #[error(transparent)]
    Messages(#[from] MessagesError),
}

debug_is_text!(ScheduleError);
