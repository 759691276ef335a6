//! Read access to an agent for upper layers, whatever its election.

use std::{
    any::Any,
    fmt,
    sync::{Arc, Weak},
};

use futures::Stream;

use crate::{
    clock::WallClock,
    group::{AppMessage, Group},
    history::KeptHistory,
    protocol::{AgentId, Election, MemberKind, Requirements},
    register::keeper::{MarkReset, StoreContenders},
};

use super::{
    ElectionHandle, Offers, ScheduleFinding, Status, handle::changes, shared::SharedState,
};

/// A reader of one agent, like a handle. Clones read the same agent.
#[derive(Clone)]
pub(crate) struct AgentReader(Arc<SharedState>);

/// The wall clock that the application gave to an agent in place of the host's. It is attached to the agent.
pub(super) struct GivenWallClock(pub(super) Arc<dyn WallClock>);

/// A reader that does not keep the agent alive, for objects that the agent itself keeps.
#[derive(Clone)]
pub(crate) struct WeakAgentReader(Weak<SharedState>);

impl WeakAgentReader {
    pub(crate) fn upgrade(&self) -> Option<AgentReader> {
        self.0.upgrade().map(AgentReader)
    }
}

impl<E: Election> ElectionHandle<E> {
    /// Returns a reader of the same agent without the type of its election.
    pub(crate) fn reader(&self) -> AgentReader {
        AgentReader(Arc::clone(&self.shared))
    }
}

impl AgentReader {
    /// Returns the members of the agent's group, the places where they run, and whether messages reach them.
    pub(crate) fn reach(&self) -> Vec<crate::group::ReachableMember> {
        self.0.membership().reach()
    }

    pub(crate) fn downgrade(&self) -> WeakAgentReader {
        WeakAgentReader(Arc::downgrade(&self.0))
    }

    pub(crate) fn id(&self) -> &AgentId {
        self.0.id()
    }

    pub(crate) fn group(&self) -> &str {
        self.0.group()
    }

    pub(crate) fn is_leader(&self) -> bool {
        self.0.is_leader()
    }

    pub(crate) fn current(&self) -> Status {
        self.0.status()
    }

    pub(crate) fn changes(&self) -> impl Stream<Item = Status> + Unpin + Send + use<> {
        changes(Arc::clone(&self.0))
    }

    /// Returns whether the agent left or ended for good.
    pub(crate) fn is_over(&self) -> bool {
        self.0.is_over()
    }

    /// Returns the group through which the applications of this group's agents talk to each other; `None` if the
    /// group's name is too long.
    pub(crate) fn companion(&self) -> Option<Group<AppMessage>> {
        self.0.companion()
    }

    /// Calls `show` whenever the metrics of the agent are updated, until `show` returns `false`. Never calls it without
    /// the feature `metrics`.
    pub(crate) fn sample_also(&self, show: impl Fn() -> bool + Send + Sync + 'static) {
        self.0.sample_also(show);
    }

    pub(crate) fn offers(&self) -> Offers {
        self.0.offers()
    }

    pub(crate) fn kind(&self, id: &AgentId) -> Option<MemberKind> {
        self.0.membership().kind(id)
    }

    /// Returns whether agents of other hosts may take part.
    pub(crate) fn is_open(&self) -> bool {
        self.0.is_open()
    }

    pub(crate) fn keep_record(&self, reason: String) {
        self.0.keep_record(reason);
    }

    pub(crate) fn past(&self) -> Arc<KeptHistory> {
        Arc::clone(self.0.past())
    }

    /// Returns the agents that could take the lease, by the last answer of its store; `None` without a lease in a
    /// store.
    pub(crate) fn contenders(&self) -> Option<StoreContenders> {
        self.0.keeper().map(|keeper| keeper.contenders())
    }

    /// Asks the store again, and then returns the agents that could take the lease.
    pub(crate) fn contenders_now(
        &self,
    ) -> impl Future<Output = Option<StoreContenders>> + Send + use<> {
        let keeper = self.0.keeper();
        async move {
            match keeper {
                Some(keeper) => Some(keeper.contenders_now().await),
                None => None,
            }
        }
    }

    /// Returns the wall clock that the application gave to the agent in place of the host's.
    pub(crate) fn given_wall_clock(&self) -> Option<Arc<dyn WallClock>> {
        let given = self.attached(|| Err::<Arc<GivenWallClock>, _>(()));
        given.ok().map(|given| Arc::clone(&given.0))
    }

    /// Notes the finding about a schedule that the agent leads. `None` means that there is no finding, or that the
    /// agent does not lead any more.
    pub(crate) fn note_schedule(&self, schedule: &AgentId, found: Option<ScheduleFinding>) {
        let vitals = self.0.vitals();
        vitals.note_schedules(|signs| signs.note(schedule, found));
    }

    pub(crate) fn note_schedule_clock(&self, found: Option<ScheduleFinding>) {
        let vitals = self.0.vitals();
        vitals.note_schedules(|signs| signs.note_clock(found));
    }

    /// Notes the finding about the store in which the agent keeps the marks of schedules.
    pub(crate) fn note_schedule_store(&self, found: Option<ScheduleFinding>) {
        let vitals = self.0.vitals();
        vitals.note_schedules(|signs| signs.note_store(found));
    }

    /// Removes the mark of a schedule from the store of the agent's lease.
    pub(crate) fn reset_mark(
        &self,
        schedule: &AgentId,
    ) -> impl Future<Output = MarkReset> + Send + use<> {
        let (keeper, schedule) = (self.0.keeper(), schedule.clone());
        async move {
            match keeper {
                Some(keeper) => keeper.reset_mark(&schedule).await,
                None => MarkReset::AtAgents,
            }
        }
    }

    /// Returns the requirements that the group's agents share.
    pub(crate) fn requirements(&self) -> Option<Requirements> {
        self.0.membership().requirements()
    }

    /// Returns the object that upper layers keep with this agent until its end; `make` makes it if there is none.
    ///
    /// # Errors
    /// The error of `make`; then nothing is kept.
    pub(crate) fn attached<T: Any + Send + Sync, R>(
        &self,
        make: impl FnOnce() -> Result<Arc<T>, R>,
    ) -> Result<Arc<T>, R> {
        self.0.attached().find(make)
    }

    /// Returns the object that upper layers keep with the agent's group until the group's end; `make` makes it if there
    /// is none.
    ///
    /// # Errors
    /// The error of `make`; then nothing is kept.
    pub(crate) fn attached_to_group<T: Any + Send + Sync, R>(
        &self,
        make: impl FnOnce() -> Result<Arc<T>, R>,
    ) -> Result<Arc<T>, R> {
        self.0.membership().kept().find(make)
    }
}

impl fmt::Debug for WeakAgentReader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WeakAgentReader").finish_non_exhaustive()
    }
}

impl fmt::Debug for AgentReader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("AgentReader").field(self.id()).finish()
    }
}
