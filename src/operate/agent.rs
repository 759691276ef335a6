//! One agent of any election, as an operator's report and commands need it.
//!
//! Decided here: what is asked of an agent, whatever its election: a trait that handles of every kind have. Not
//! here: what is made of it (`report.rs`, `carry_out.rs`).

use std::{sync::Arc, time::Duration};

use futures::{FutureExt, future::BoxFuture};

#[cfg(feature = "dashboard")]
use crate::group::ReachableMember;
use crate::{
    agent::{
        CommandError, Diagnosis, ElectionHandle, LeaveError, MarkReset, Status, StoreContenders,
        VotersError,
    },
    group::Counts,
    history::KeptHistory,
    protocol::{AgentId, Changed, Election, Members, Requirements, Score, VoterChange},
    record::RecordLimits,
};

use super::judge::Moment;

/// An agent of any election.
pub(super) trait OperatedAgent: Send + Sync {
    fn id(&self) -> &AgentId;
    fn group(&self) -> &str;
    fn status(&self) -> Status;
    /// For how long it still leads, if it leads and that has an end.
    fn leadership_left(&self) -> Option<Duration>;
    fn record(&self, limits: Option<RecordLimits>);
    fn is_recording(&self) -> bool;
    fn recorded(&self, is_kept: bool) -> Option<String>;
    /// Keeps what is written by now, as when the leader is missed, with that reason.
    fn keep_record(&self, reason: String);
    /// When the record was kept that is there since the leader was missed, in milliseconds since 1970.
    fn kept_unix_ms(&self) -> Option<u64>;
    /// The past of its group.
    fn past(&self) -> Arc<KeptHistory>;
    fn members(&self) -> Arc<Members>;
    fn counts(&self) -> Counts;
    /// The agents that could take the lease, if the group has one: by the last answer of its store, or by a new one.
    fn contenders(&self) -> Option<StoreContenders>;
    fn contenders_now(&self) -> BoxFuture<'_, Option<StoreContenders>>;
    /// What the group shares: its voters, where a list names them.
    fn requirements(&self) -> Option<Requirements>;
    fn diagnosis(&self) -> Diagnosis;
    /// The members of its group, where they run, and whether messages reach them.
    #[cfg(feature = "dashboard")]
    fn reach(&self) -> Vec<ReachableMember>;
    /// For how long it still leads if nothing is heard; `None` where that has no end.
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
    fn reset_mark(&self, schedule: &AgentId) -> BoxFuture<'_, MarkReset>;
    /// Ends when the agent has come to a message; says whether it has.
    fn answers(&self) -> BoxFuture<'_, bool>;
}

impl<E: Election> OperatedAgent for ElectionHandle<E> {
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
    fn keep_record(&self, reason: String) {
        self.reader().keep_record(reason);
    }
    fn kept_unix_ms(&self) -> Option<u64> {
        Self::kept_unix_ms(self)
    }
    fn past(&self) -> Arc<KeptHistory> {
        self.reader().past()
    }
    fn members(&self) -> Arc<Members> {
        Self::members(self)
    }
    fn counts(&self) -> Counts {
        Self::counts(self)
    }
    fn contenders(&self) -> Option<StoreContenders> {
        self.reader().contenders()
    }
    fn contenders_now(&self) -> BoxFuture<'_, Option<StoreContenders>> {
        self.reader().contenders_now().boxed()
    }
    fn requirements(&self) -> Option<Requirements> {
        self.reader().requirements()
    }
    fn diagnosis(&self) -> Diagnosis {
        Self::diagnosis(self)
    }
    #[cfg(feature = "dashboard")]
    fn reach(&self) -> Vec<ReachableMember> {
        Self::reach(self)
    }
    #[cfg(feature = "dashboard")]
    fn lease_left(&self) -> Option<Duration> {
        self.leadership_left()
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
    fn reset_mark(&self, schedule: &AgentId) -> BoxFuture<'_, MarkReset> {
        self.reader().reset_mark(schedule).boxed()
    }
    fn answers(&self) -> BoxFuture<'_, bool> {
        Self::answers(self).boxed()
    }
}

impl dyn OperatedAgent + '_ {
    /// What it shows now, and its group's members.
    pub(super) fn moment(&self) -> (Moment, Arc<Members>) {
        let members = self.members();
        let moment = Moment::of(self.id(), self.status(), &members, self.contenders());
        (moment, members)
    }
}
