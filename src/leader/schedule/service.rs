//! One agent's service for the schedules of its group: it keeps the marks of leaders, answers the leaders, and asks the
//! other agents while its own agent leads.
//!
//! ```text
//!   leader's schedule ── ask ──▶ Channel<ScheduleMessage> ──▶ ServiceActor of each agent ──▶ store
//!          ▲                                              │ once it is stored
//!          └──────── route of the question ◀──────────────┘
//! ```
//!
//! Decided here: the path of questions and answers. Not here: the answers (`register.rs`), and when an answer may be
//! sent (`replica.rs`). The agent's own answer takes the same path as the answers of other agents.

use std::{
    collections::BTreeSet,
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use actix::{Actor, ActorFutureExt, AsyncContext, Context, Handler, StreamHandler, WrapFuture};
use tokio::sync::mpsc;
use tracing::{debug, warn};

use crate::{
    agent::{AgentReader, ScheduleFinding, Status, WeakAgentReader},
    clock::{WallClock, WallTime},
    group::Envelope,
    leader::{Channel, Messages},
    protocol::{AgentId, Incarnation, MemberKind, Requirements, Round, Term},
    register::keeper::Keeper,
    store::{Generation, StoreError, TermStore},
};

use super::{
    ScheduleError,
    clock_watch::ClockWatch,
    forget::RunningNames,
    mark_task::MarkTasks,
    message::{NAME, Question, ScheduleMessage},
    poll::Audience,
    register::ScheduleRecord,
    replica::{Replica, ReplicaStep, Reply},
    routes::{AnswerOf, AnswerRoutes, NUMBERS},
    trouble::brief,
    voters::Voters,
};

pub(super) type RecordStore = Arc<dyn TermStore<ScheduleRecord>>;

/// One agent's service, as its schedules use it.
pub(super) struct ScheduleService {
    pub(super) clock: Arc<dyn WallClock>,
    clock_watch: Arc<ClockWatch>,
    id: AgentId,
    /// A weak reference, because the agent keeps this service.
    agent: WeakAgentReader,
    /// Incarnation of the agent's endpoint for messages. It is higher than in each earlier process.
    asker: Incarnation,
    answerers: Answerers,
    routes: Arc<AnswerRoutes>,
    names: RunningNames,
}

/// The agents or the store that keep the schedules' marks.
enum Answerers {
    /// The agents of the group.
    Agents {
        voters: Voters,
        channel: Channel<ScheduleMessage>,
        /// The marks of this agent.
        marks: Arc<Mutex<Replica>>,
    },
    /// The store of the lease, in which each agent finds and keeps the marks itself.
    Store(MarkTasks),
}

/// The questions of one leadership of a schedule. Dropping it ends the route of their answers.
pub(super) struct LeaderQuestions {
    service: Arc<ScheduleService>,
    number: u64,
    pub(super) answers: mpsc::Receiver<AnswerOf>,
}

impl LeaderQuestions {
    /// Returns the number before the first question.
    pub(super) fn before_first(&self) -> Round {
        Round {
            incarnation: self.service.asker,
            counter: self.number << NUMBERS,
        }
    }
}

impl Drop for LeaderQuestions {
    fn drop(&mut self) {
        self.service.routes.close(self.number);
    }
}

impl ScheduleService {
    /// Begins to answer, on this thread, until the agent has left or ended for good.
    ///
    /// # Errors
    /// [`ScheduleError`], and no service was started.
    pub(super) fn start(
        agent: &AgentReader,
        messages: &Messages,
        requirements: &Requirements,
        clock: Arc<dyn WallClock>,
        store: BegunStore,
    ) -> Result<Self, ScheduleError> {
        let asker = messages.state().asker();
        let channel = messages.channel(NAME)?;
        let routes = Arc::<AnswerRoutes>::default();
        let voters = Voters::new(requirements, &store.record.lists);
        let marks = Arc::new(Mutex::new(Replica::new(store.record)));
        let actor = ServiceActor {
            reader: agent.downgrade(),
            agent: agent.id().clone(),
            voters: voters.clone(),
            channel,
            clock: Arc::clone(&clock),
            replica: Arc::clone(&marks),
            store: store.store,
            generation: store.generation,
            failing_since: None,
            routes: Arc::clone(&routes),
        };
        let inbox = actor.start().recipient();
        let channel = messages.register(NAME, inbox);
        Ok(Self {
            clock_watch: ClockWatch::new(Arc::clone(&clock)),
            clock,
            id: agent.id().clone(),
            agent: agent.downgrade(),
            asker,
            answerers: Answerers::Agents {
                voters,
                channel: channel?,
                marks,
            },
            routes,
            names: RunningNames::default(),
        })
    }

    /// Makes a service with the marks in the store of the agent's lease.
    pub(super) fn with_store(
        agent: &AgentReader,
        keeper: Arc<Keeper>,
        clock: Arc<dyn WallClock>,
    ) -> Self {
        let routes = Arc::<AnswerRoutes>::default();
        keeper.stamp_by(agent.id(), Arc::clone(&clock));
        let clock_watch = ClockWatch::beside_others(Arc::clone(&clock), agent, Arc::clone(&keeper));
        let names = RunningNames::default();
        let marks = MarkTasks::new(agent, keeper, Arc::clone(&routes), &clock, &names);
        Self {
            clock_watch,
            clock,
            id: agent.id().clone(),
            agent: agent.downgrade(),
            // The answers of the store never leave this process, so no incarnation is needed.
            asker: Incarnation::default(),
            answerers: Answerers::Store(marks),
            routes,
            names,
        }
    }

    pub(super) const fn clock_watch(&self) -> &Arc<ClockWatch> {
        &self.clock_watch
    }

    pub(super) fn questions(self: &Arc<Self>) -> LeaderQuestions {
        let (number, answers) = self.routes.open();
        LeaderQuestions {
            service: Arc::clone(self),
            number,
            answers,
        }
    }

    /// Returns the agents whose acknowledgement counts now, for a leader of the term `term`.
    pub(super) fn audience(&self, term: Term) -> Audience {
        let own = BTreeSet::from([self.id.clone()]);
        let Answerers::Agents { voters, .. } = &self.answerers else {
            return Audience::Reachable(own);
        };
        let reader = self.agent.upgrade();
        voters.note(reader.as_ref());
        voters.audience(term).unwrap_or_else(|| {
            let mut up = own;
            if let Some(agent) = reader
                && let Some(group) = agent.companion()
            {
                let is_voter = |id: &AgentId| agent.kind(id) == Some(MemberKind::Voter);
                let members = group.members();
                let reachable = members.iter().filter(|member| member.is_up());
                up.extend(reachable.map(|member| member.id.clone()).filter(is_voter));
            }
            Audience::Reachable(up)
        })
    }

    /// Sends a question to the agents `to`. Agents that cannot be reached get the question again later.
    pub(super) fn ask(&self, to: &[AgentId], question: Question) {
        match &self.answerers {
            Answerers::Agents { channel, .. } => {
                let said = ScheduleMessage::Ask(question);
                for to in to {
                    channel.send_to(to, &said).ok();
                }
            }
            // With a store the only receiver is this agent, and the store answers in its place.
            Answerers::Store(marks) => marks.ask(question),
        }
    }

    /// Returns the name of the store with the marks, if a store keeps them.
    pub(super) fn store(&self) -> Option<&str> {
        match &self.answerers {
            Answerers::Agents { .. } => None,
            Answerers::Store(marks) => Some(marks.store()),
        }
    }

    /// Notes a finding about a schedule of the leader; `None` if there is none, or if the agent does not lead any more.
    pub(super) fn note(&self, schedule: &AgentId, found: Option<ScheduleFinding>) {
        if let Some(agent) = self.agent.upgrade() {
            agent.note_schedule(schedule, found);
        }
    }

    /// Returns whether the agents can keep the mark of one more schedule, as far as this agent knows.
    pub(super) fn has_room(&self, name: &AgentId) -> bool {
        match &self.answerers {
            Answerers::Agents { marks, .. } => {
                let (names, now) = (self.names().clone(), self.clock.now());
                locked(marks).record().has_room(name, &names, now)
            }
            Answerers::Store(_) => true,
        }
    }

    /// Reserves the name of a schedule. Returns whether the name was free.
    pub(super) fn take_name(&self, name: &AgentId) -> bool {
        self.names().insert(name.clone())
    }

    pub(super) fn free_name(&self, name: &AgentId) {
        self.names().remove(name);
    }

    fn names(&self) -> MutexGuard<'_, BTreeSet<AgentId>> {
        self.names.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn locked(replica: &Mutex<Replica>) -> MutexGuard<'_, Replica> {
    replica.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A store that this agent has taken over, with the record that it read from the store.
pub(super) struct BegunStore {
    store: RecordStore,
    generation: Generation,
    record: ScheduleRecord,
}

impl BegunStore {
    pub(super) fn new(store: RecordStore) -> Result<Self, StoreError> {
        let generation = store.begin()?;
        let record = store.load()?.unwrap_or_default();
        Ok(Self {
            store,
            generation,
            record,
        })
    }
}

/// Answers leaders for one agent. It ends when the agent's endpoint drops its address.
struct ServiceActor {
    agent: AgentId,
    reader: WeakAgentReader,
    voters: Voters,
    channel: Channel<ScheduleMessage>,
    clock: Arc<dyn WallClock>,
    replica: Arc<Mutex<Replica>>,
    store: RecordStore,
    generation: Generation,
    /// Time of the first failure of the store, unless it has stored a record since.
    failing_since: Option<WallTime>,
    routes: Arc<AnswerRoutes>,
}

impl Actor for ServiceActor {
    type Context = Context<Self>;

    fn started(&mut self, ctx: &mut Context<Self>) {
        // Each list of voters is noted while it is valid, because a later leader has to ask its voters.
        if let Some(agent) = self.reader.upgrade() {
            ctx.add_stream(agent.changes());
        }
        self.note_voters(ctx);
    }
}

impl StreamHandler<Status> for ServiceActor {
    fn handle(&mut self, _: Status, ctx: &mut Context<Self>) {
        self.note_voters(ctx);
    }

    /// Nothing to do: the endpoint ends this actor.
    fn finished(&mut self, _: &mut Context<Self>) {}
}

impl ServiceActor {
    fn note_voters(&mut self, ctx: &mut Context<Self>) {
        self.voters.note(self.reader.upgrade().as_ref());
        let step = self
            .voters
            .lists(|lists| locked(&self.replica).note_lists(lists.lists()));
        self.follow(step.unwrap_or(ReplicaStep::Nothing), ctx);
    }

    fn follow(&mut self, step: ReplicaStep, ctx: &mut Context<Self>) {
        match step {
            ReplicaStep::Nothing => {}
            ReplicaStep::Answer(replies) => self.reply(replies),
            ReplicaStep::Store(record) => {
                let saving = self.store.save(self.generation, record);
                let stored = saving.into_actor(self).map(|saved, actor, ctx| {
                    actor.note_saved(saved.as_ref().err());
                    let (replies, step) = locked(&actor.replica).saved(saved.is_ok());
                    actor.reply(replies);
                    actor.follow(step, ctx);
                });
                ctx.spawn(stored);
            }
        }
    }

    /// Reports a store that fails, until it stores a record.
    fn note_saved(&mut self, failure: Option<&StoreError>) {
        if let Some(reason) = failure {
            warn!(node = %self.agent, %reason, "schedules not stored: nothing is acknowledged");
        }
        if failure.is_none() && self.failing_since.is_none() {
            return;
        }
        let found = failure.map(|reason| ScheduleFinding::MarksNotStored {
            since: *self.failing_since.get_or_insert_with(|| self.clock.now()),
            reason: brief(&reason.to_string()),
        });
        if found.is_none() {
            self.failing_since = None;
        }
        if let Some(agent) = self.reader.upgrade() {
            agent.note_schedule_store(found);
        }
    }

    fn reply(&self, replies: Vec<Reply>) {
        for (to, answer) in replies {
            debug!(node = %self.agent, peer = %to, ?answer, "schedule answered");
            let said = ScheduleMessage::Answer(answer);
            self.channel.send_to(&to, &said).ok();
        }
    }
}

impl Handler<Envelope<ScheduleMessage>> for ServiceActor {
    type Result = ();

    fn handle(&mut self, envelope: Envelope<ScheduleMessage>, ctx: &mut Context<Self>) {
        let Envelope { from, message, .. } = envelope;
        match message {
            // In the quorum mode only a voter can lead, so no other agent gets an answer.
            ScheduleMessage::Ask(asked) if self.voters.may_lead(&from) => {
                let step = locked(&self.replica).ask(from, &asked, self.clock.now());
                self.follow(step, ctx);
            }
            ScheduleMessage::Ask(_) => {}
            ScheduleMessage::Answer(answer) => {
                if let Ok(known) = &answer.outcome {
                    self.voters.lists(|lists| lists.fill(&known.lists));
                    self.note_voters(ctx);
                }
                // An answer to a question of a former process has another round than each open question: see `machine/`.
                self.routes.pass(from, answer);
            }
        }
    }
}

impl fmt::Debug for ScheduleService {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ScheduleService")
            .field("agent", &self.id)
            .finish_non_exhaustive()
    }
}
