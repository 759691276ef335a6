//! The errors of an agent: why it does not start, why it refuses a command, and why a wait for it fails.

use std::time::Duration;

use crate::{
    clock::ClockError,
    group::JoinError,
    protocol::{AboutError, AgentId, IdError, MembershipError, SettingError},
    register::AttachError,
    store::{StoreError, StoreIdentity},
};

/// The reason why an agent does not start. Nothing was changed.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum StartError {
    /// The name is invalid.
    #[error("the agent's name is refused: {0}")]
    Id(#[from] IdError),
    /// The text of `about(..)` is invalid.
    #[error("`about(..)` is refused: {0}")]
    About(#[from] AboutError),
    /// The group refuses the agent.
    #[error("the group refuses the agent: {0}")]
    Join(#[from] JoinError),
    /// Another group of the same name has agents in this process.
    #[error(
        "this process has agents in another group with the name {group}: make one group, and give its clones to all agents"
    )]
    TwoGroups {
        /// The name of the group.
        group: Box<str>,
    },
    /// No group was given.
    #[error("the agent belongs to no group: call `join(&group)` before `start()`")]
    NotJoined,
    /// There is no System on this thread.
    #[error("there is no actix System on this thread: start agents inside of one")]
    NoSystem,
    /// The arbiter has stopped, maybe while the agent was started, or its thread could not be made.
    #[error("the arbiter is not running: start the agent on a running arbiter")]
    NoArbiter,
    /// The election keeps a record, and no store was given for it.
    #[error("this election must keep a record through crashes: call `store(..)` before `start()`")]
    NoStore,
    /// The voters have no disk, and a store was given.
    #[error(
        "this election's voters have no disk, and `store(..)` was called: remove `diskless()` to keep the votes, or remove `store(..)`"
    )]
    StoreRefused,
    /// The election keeps no record, and a store was given for one.
    #[error(
        "this election keeps no record, and `store(..)` was called: name the voters (`quorum([..])`) if no two agents may lead, or remove `store(..)`"
    )]
    StoreUnread,
    /// A call makes a setting that the available mode does not have, such as `epoch(..)` without voters.
    #[error(
        "`{call}(..)` makes a setting that this mode does not have: choose a mode that has it, such as `quorum([..])`, or remove the call"
    )]
    NeedsMode {
        /// The name of the call.
        call: &'static str,
    },
    /// The election keeps leases, but this host has no clock for them.
    #[error("the clock of this election cannot be used: {0}")]
    NoClock(#[from] ClockError),
    /// The clock stops while the host is suspended.
    #[error(
        "this clock stops while the host is suspended, so this election's leases are unsafe: use a BootClock"
    )]
    SleepyClock,
    /// The store loses its records with its process, but the group reaches other hosts.
    #[error(
        "a store in memory forgets a vote when its process ends, and this group reaches other hosts: use a FileStore"
    )]
    VolatileStore,
    /// An agent with this name has kept a record in this group, but the given store has no record.
    #[error(
        "{id} has voted in this group before, and this store has no vote: keep the store that it had, and give a clone of it to each start"
    )]
    FreshStore {
        /// The agent's name.
        id: AgentId,
    },
    /// The configuration refuses this agent as a participant.
    #[error("the election's configuration refuses the agent: {0}")]
    Membership(#[from] MembershipError),
    /// A setting of the election is out of range, or does not fit another setting.
    #[error("the settings of the election are refused: {0}")]
    Setting(#[from] SettingError),
    /// The register cannot become a member of the group.
    #[error("the register is refused: {0}")]
    Register(#[from] AttachError),
    /// The stored record cannot be read.
    #[error("the agent's record cannot be read: {0}")]
    Store(#[from] StoreError),
    /// The store was made for another agent or group.
    #[error("the store belongs to {owner}: open the store of this agent and group")]
    ForeignStore {
        /// The agent and the group of the store.
        owner: Box<StoreIdentity>,
    },
    /// Two calls of the builder contradict each other: both choose a mode, or both make the same setting, or one call
    /// makes a setting that the mode of the other call does not have.
    #[error(
        "the calls `{first}(..)` and `{second}(..)` contradict each other: remove one of the two"
    )]
    Contradiction {
        /// The name of one call.
        first: &'static str,
        /// The name of the other call.
        second: &'static str,
    },
}

debug_is_text!(StartError);

/// The reason why a command was refused. Nothing was changed.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CommandError {
    /// The agent left or ended for good.
    #[error("the agent has ended: start it again")]
    Ended,
    /// No member of the group has the name in the command.
    #[error(
        "the group has no member {id}: name a member of the group, or pass None, and the election chooses one"
    )]
    NoMember {
        /// The name in the command.
        id: AgentId,
    },
    /// The agent has several draining subscribers, and the command does not name one of them.
    #[error(
        "this agent has several draining subscribers, so it is not clear whose work has ended: call `drained()` of the DrainingToken of the subscriber whose work has ended"
    )]
    SeveralDraining,
    /// The named member is never elected: it is an observer, or the agent itself.
    #[error(
        "{id} is an observer or this agent itself, so it cannot take over: name another voter, or pass None, and the election chooses one"
    )]
    NoSuccessor {
        /// The name of the member.
        id: AgentId,
    },
}

debug_is_text!(CommandError);

/// The reason why `lead` ended with an error.
#[derive(Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LeadError {
    /// `lead` was called outside of a runtime with timers.
    #[error("there is no runtime with timers here: call `lead(..)` inside of an actix System")]
    NoRuntime,
    /// The work panicked, and therefore the agent has left its group.
    #[error(
        "the work panicked, and the agent has left its group: mend the work, and start the agent again"
    )]
    GaveUp,
}

debug_is_text!(LeadError);

/// The reason why the progress of work is not watched.
#[derive(Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ProgressError {
    /// The span is zero, so all work would be late.
    #[error("the span for progress is zero: give a span longer than zero")]
    ZeroSpan,
}

debug_is_text!(ProgressError);

/// The reason why no leader became known.
#[derive(Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum WaitError {
    /// The agent knew no leader within the time limit.
    #[error("no leader became known within {within:?}: {}", advice(*.within, *.longest))]
    TimedOut {
        /// The time limit of the call.
        within: Duration,
        /// Longest time of an election by the agent's timings. `None` if no election has begun, and none can begin
        /// before an agent [campaigns](super::ElectionHandle::campaign).
        longest: Option<Duration>,
    },
    /// The agent left or ended for good.
    #[error("the agent has ended: start it again")]
    Ended,
    /// The wait was outside of a runtime with timers.
    #[error("there is no runtime with timers here: wait for the leader inside of an actix System")]
    NoRuntime,
}

debug_is_text!(WaitError);

/// Returns the advice to a caller whose wait for a leader timed out.
fn advice(within: Duration, longest: Option<Duration>) -> String {
    match longest {
        None => "these timings have no failure detector, so no agent begins an election by itself: call `campaign()` at one of them".to_owned(),
        Some(longest) if within < longest => format!(
            "an election may take {longest:?} by these timings, so wait longer than that"
        ),
        Some(longest) => format!(
            "an election takes {longest:?} at most by these timings, and `diagnosis()` says what is missing"
        ),
    }
}

/// The reason why `leave` ended with an error.
#[derive(Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LeaveError {
    /// The hand-over took too long; the agent has left all the same.
    #[error(
        "the agent did not hand over within {deadline:?} and was stopped: end the work sooner, or give `leave(..)` a deadline longer than the agent's `drain`"
    )]
    TimedOut {
        /// The time limit of the call.
        deadline: Duration,
    },
    /// The call was outside of a runtime with timers. The agent was not asked to leave.
    #[error("there is no runtime with timers here: call `leave(..)` inside of an actix System")]
    NoRuntime,
}

debug_is_text!(LeaveError);
