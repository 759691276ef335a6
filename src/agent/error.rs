//! The errors of an agent: why it does not start, refuses a command, or is waited for in vain.

use std::time::Duration;

use crate::{
    clock::ClockError,
    elections::{bully::NegativeMargin, lease::LeaseError, quorum::QuorumError},
    group::JoinError,
    protocol::{AboutError, AgentId, IdError, MembershipError},
    register::AttachError,
    store::{StoreError, StoreIdentity},
};

/// Why an agent does not start. Nothing was changed.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum StartError {
    /// The name breaks the rules.
    #[error("the agent's name is refused: {0}")]
    Id(#[from] IdError),
    /// What the agent says of itself breaks the rules.
    #[error("`about(..)` is refused: {0}")]
    About(#[from] AboutError),
    /// The group does not take it.
    #[error("the group refuses the agent: {0}")]
    Join(#[from] JoinError),
    /// Another group of the same name has agents in this process.
    #[error(
        "another group of the name {group} has agents in this process, and the two do not know each other: make one group, and give its clones to all agents"
    )]
    TwoGroups {
        /// The name.
        group: Box<str>,
    },
    /// No group was named.
    #[error("the agent belongs to no group: call `join(&group)` before `start()`")]
    NotJoined,
    /// There is no System on this thread.
    #[error("there is no actix System on this thread: start agents inside of one")]
    NoSystem,
    /// The arbiter has stopped, maybe while the agent was started, or its thread could not be made.
    #[error("the arbiter is not running: start the agent on one that is")]
    NoArbiter,
    /// The election has a record to keep, and no store was named for it.
    #[error("this election must keep a record through crashes: call `store(..)` before `start()`")]
    NoStore,
    /// The voters have no disk, and a store was named.
    #[error(
        "this election's voters have no disk, and a store was named: take `diskless()` out to keep the votes, or `store(..)` to do without"
    )]
    StoreRefused,
    /// The election keeps no record, and a store was named for one.
    #[error(
        "this election keeps no record, and `store(..)` was called: name the voters (`quorum([..])`) if no two agents may lead, or take `store(..)` out"
    )]
    StoreUnread,
    /// The voters are to have no disk, and there are no voters.
    #[error("only voters do without a disk: call `quorum([..])` beside `diskless()`")]
    DisklessWithoutVoters,
    /// The election keeps leases, and there is no clock for them.
    #[error("this election needs a clock that counts a suspended host: {0}")]
    NoClock(#[from] ClockError),
    /// The clock stops while the host is suspended.
    #[error(
        "this election's leases are unsafe by a clock that stops while the host is suspended: use a BootClock"
    )]
    SleepyClock,
    /// The store forgets with its process, and other hosts rely on it.
    #[error(
        "a store in memory forgets a vote when its process ends, and this group reaches other hosts: use a FileStore"
    )]
    VolatileStore,
    /// An agent of that name has kept a record in this group, and this store has none.
    #[error(
        "{id} has voted in this group before, and this store knows of no vote: keep the store that it had, and give a clone of it to each start"
    )]
    FreshStore {
        /// The agent's name.
        id: AgentId,
    },
    /// The configuration has no such participant.
    #[error("the election's configuration refuses the agent: {0}")]
    Membership(#[from] MembershipError),
    /// The quorum cannot be made like this.
    #[error("the quorum's settings are refused: {0}")]
    Quorum(#[from] QuorumError),
    /// The lease in a store cannot be kept like this.
    #[error("the lease's settings are refused: {0}")]
    Lease(#[from] LeaseError),
    /// The register does not become a member of the group.
    #[error("the register is refused: {0}")]
    Register(#[from] AttachError),
    /// The stored record cannot be read.
    #[error("the agent's record cannot be read: {0}")]
    Store(#[from] StoreError),
    /// The store was made for another agent or group.
    #[error("the store belongs to {owner}: open the one of this agent and group")]
    ForeignStore {
        /// The agent and group that it belongs to.
        owner: Box<StoreIdentity>,
    },
    /// Two calls of the builder contradict each other: each of them chooses a mode, or one of them makes a setting that the
    /// other one makes as well, or that its mode does not have.
    #[error(
        "the calls `{first}(..)` and `{second}(..)` contradict each other: take one of the two out"
    )]
    Contradiction {
        /// One of them.
        first: &'static str,
        /// The other one.
        second: &'static str,
    },
    /// A part of the margin is negative.
    #[error(transparent)]
    Margin(#[from] NegativeMargin),
}

debug_is_text!(StartError);

/// Why a command was not given. Nothing was changed.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CommandError {
    /// The agent left or ended for good.
    #[error("the agent has ended: start it again")]
    Ended,
    /// No member of the group has that name.
    #[error("the group has no member {id}: name one that is there, or none")]
    NoMember {
        /// The name.
        id: AgentId,
    },
    /// Several subscribers drain.
    #[error("several subscribers drain: say whose work has ended, by its DrainingToken")]
    SeveralDraining,
    /// That member is never elected: it is an observer, or the agent itself.
    #[error("{id} cannot take over from this agent: name another voter, or none")]
    NoSuccessor {
        /// The name.
        id: AgentId,
    },
}

debug_is_text!(CommandError);

/// Why `lead` ended.
#[derive(Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LeadError {
    /// `lead` was called outside of a runtime with timers.
    #[error("there is no runtime with timers here: lead in a task of a System")]
    NoRuntime,
    /// The work panicked, and so the agent has left.
    #[error("the work panicked, and the agent has left its group: mend the work, start it again")]
    GaveUp,
}

debug_is_text!(LeadError);

/// Why no progress is asked of work.
#[derive(Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ProgressError {
    /// The span is zero, and all work would be late.
    #[error("work cannot say within no time that it goes on: give it a span longer than zero")]
    ZeroSpan,
}

debug_is_text!(ProgressError);

/// Why no leader became known.
#[derive(Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum WaitError {
    /// The agent knew no leader in all that time.
    #[error(
        "no leader became known within {within:?}: wait longer than the election's deadline, and check that the group has an eligible member"
    )]
    TimedOut {
        /// The time given.
        within: Duration,
    },
    /// The agent left or ended for good.
    #[error("the agent has ended: start it again")]
    Ended,
    /// The wait was outside of a runtime with timers.
    #[error("there is no runtime with timers here: wait in a task of a System")]
    NoRuntime,
}

debug_is_text!(WaitError);

/// Why leaving was not polite.
#[derive(Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LeaveError {
    /// The hand-over took too long; the agent has left all the same.
    #[error(
        "the agent did not hand over within {deadline:?} and was stopped: end the work sooner, or allow more than the drain limit"
    )]
    TimedOut {
        /// The time given.
        deadline: Duration,
    },
    /// The call was outside of a runtime with timers; the agent was not asked to leave.
    #[error("there is no runtime with timers here: leave in a task of a System")]
    NoRuntime,
}

debug_is_text!(LeaveError);
