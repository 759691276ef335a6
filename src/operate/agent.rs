//! One agent, whatever its election, as the reports and commands of an operator need it.
//!
//! Decided here: the reads and commands that an operator needs, as a trait, which the handle of each election
//! implements. Not here: how reports and commands use the trait (`report.rs`, `carry_out.rs`).

use std::{
    convert::Infallible,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
    time::Duration,
};

use futures::{FutureExt, future::BoxFuture};

use crate::{
    agent::{
        AgentReader, CommandError, Diagnosis, ElectionHandle, LeaveError, Status, VotersError,
    },
    group::Counts,
    protocol::{AgentId, Changed, Election, Members, Score, VoterChange},
    record::RecordLimits,
};

use super::judge::Moment;

/// Whether an operator has drained an agent. The mark belongs to the agent, so that the socket, the routes and every
/// other [`Operated`](super::Operated) of a node give the same answer.
#[derive(Debug, Default)]
pub(super) struct DrainMark(AtomicBool);

impl DrainMark {
    pub(super) fn set(&self) {
        self.0.store(true, Relaxed);
    }

    pub(super) fn is_set(&self) -> bool {
        self.0.load(Relaxed)
    }
}

/// An agent of any election.
pub(super) trait OperatedAgent: Send + Sync {
    fn reader(&self) -> AgentReader;
    fn id(&self) -> &AgentId;
    fn group(&self) -> &str;
    fn status(&self) -> Status;
    /// Returns the rest of the agent's leadership; `None` if the agent does not lead, or its leadership has no end.
    fn leadership_left(&self) -> Option<Duration>;
    fn record(&self, limits: Option<RecordLimits>);
    fn is_recording(&self) -> bool;
    fn recorded(&self, is_kept: bool) -> Option<String>;
    /// Returns the time at which the agent last kept a copy of its record, in milliseconds since 1970.
    fn kept_unix_ms(&self) -> Option<u64>;
    fn members(&self) -> Arc<Members>;
    fn counts(&self) -> Counts;
    fn diagnosis(&self) -> Diagnosis;
    /// Returns the time for which the agent's leader (perhaps the agent itself) still leads, as far as the agent knows,
    /// if no more messages arrive; `None` if the leadership has no end, or its end is unknown.
    #[cfg(feature = "dashboard")]
    fn lease_left(&self) -> Option<Duration>;
    fn step_down(&self, to: Option<AgentId>) -> Result<(), CommandError>;
    fn change_score(&self, score: Option<Score>) -> Result<(), CommandError>;
    fn leave(&self, within: Duration) -> BoxFuture<'_, Result<(), LeaveError>>;
    fn change_voters(
        &self,
        change: VoterChange,
        within: Duration,
    ) -> BoxFuture<'_, Result<Changed, VotersError>>;
    /// Sends a message to the agent, and waits until the agent has handled it. Returns `false` if the agent cannot
    /// handle it.
    fn answers(&self) -> BoxFuture<'_, bool>;
}

impl<E: Election> OperatedAgent for ElectionHandle<E> {
    fn reader(&self) -> AgentReader {
        Self::reader(self)
    }
    fn id(&self) -> &AgentId {
        Self::id(self)
    }
    fn group(&self) -> &str {
        self.group_name()
    }
    fn status(&self) -> Status {
        self.current()
    }
    fn leadership_left(&self) -> Option<Duration> {
        let leads = self.is_leader();
        Self::leadership_left(self).filter(|_| leads)
    }
    fn record(&self, limits: Option<RecordLimits>) {
        Self::record(self, limits);
    }
    fn is_recording(&self) -> bool {
        Self::is_recording(self)
    }
    fn recorded(&self, is_kept: bool) -> Option<String> {
        if is_kept {
            self.recorded_without_leader()
        } else {
            Self::recorded(self)
        }
    }
    fn kept_unix_ms(&self) -> Option<u64> {
        Self::kept_unix_ms(self)
    }
    fn members(&self) -> Arc<Members> {
        Self::members(self)
    }
    fn counts(&self) -> Counts {
        Self::counts(self)
    }
    fn diagnosis(&self) -> Diagnosis {
        Self::diagnosis(self)
    }
    #[cfg(feature = "dashboard")]
    fn lease_left(&self) -> Option<Duration> {
        if self.current().leading.is_some() {
            return self.leadership_left();
        }
        self.followed_left()
    }
    fn step_down(&self, to: Option<AgentId>) -> Result<(), CommandError> {
        Self::step_down(self, to)
    }
    fn change_score(&self, score: Option<Score>) -> Result<(), CommandError> {
        match score {
            Some(score) => self.set_score(score),
            None => self.withdraw_score(),
        }
    }
    fn leave(&self, within: Duration) -> BoxFuture<'_, Result<(), LeaveError>> {
        Self::leave(self, within).boxed()
    }
    fn change_voters(
        &self,
        change: VoterChange,
        within: Duration,
    ) -> BoxFuture<'_, Result<Changed, VotersError>> {
        Self::change_voters(self, change, within).boxed()
    }
    fn answers(&self) -> BoxFuture<'_, bool> {
        Self::answers(self).boxed()
    }
}

impl dyn OperatedAgent + '_ {
    /// Returns the present state of the agent, and the members of its group.
    pub(super) fn moment(&self) -> (Moment, Arc<Members>) {
        let members = self.members();
        let moment = Moment::of(
            self.id(),
            self.status(),
            &members,
            self.reader().contenders(),
        );
        (moment, members)
    }

    pub(super) fn drain_mark(&self) -> Arc<DrainMark> {
        let mark = self
            .reader()
            .attached(|| Ok::<_, Infallible>(Arc::default()));
        mark.unwrap_or_else(|never| match never {})
    }
}
