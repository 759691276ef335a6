//! The agent as an actix actor: how each of its incarnations begins, and which messages its mailbox takes.
//!
//! Decided here: which messages reach the machine. Messages of agents that are not members, and of incarnations whose
//! end is confirmed, are counted and dropped. Such a message never changes the state of the machine.

use std::{fmt, panic::resume_unwind, sync::Arc};

use actix::{
    Actor, AsyncContext, Context, Handler, MessageResult, Recipient, Supervised, clock::Instant,
};
use fastrand::Rng;
use tracing::{debug, error, info, warn};

use crate::{
    group::{Envelope, MembersChanged, RemoteEnvelope, Snapshot},
    protocol::{Birth, Election, Event, Identity, Incarnation, Input, Score, Unheard},
    register::keeper::StoreAnswer,
    store::{Generation, StoreError, TermStore},
    supervisor::Deadline,
};

use super::{
    drive::{Drain, LeaveRequest, Readiness},
    message::{
        AgentCommand, AgentTask, Drained, DrainingToken, Notice, Subscribe, SubscribeDraining,
    },
    shared::SharedState,
    spec::Spec,
    subscribers::{OnlyDraining, SubscriberId, SubscriberKind},
    timers::{Timers, generator},
    vacancy::{Published, Vacancy},
    voters::AskedChange,
};

/// One election inside one actor: it receives typed messages and carries out effects.
///
/// A [builder](super::AgentBuilder) makes it and puts it under a `Guardian`: after a crash the same address leads to a
/// new incarnation that knows nothing of the former one.
pub struct Agent<E: Election> {
    pub(super) spec: Arc<Spec<E>>,
    pub(super) shared: Arc<SharedState>,
    pub(super) store: Option<Arc<dyn TermStore<E::Durable>>>,

    // State of one incarnation.
    pub(super) incarnation: Incarnation,
    pub(super) machine: E,
    pub(super) snapshot: Option<Arc<Snapshot<E::Message>>>,
    pub(super) timers: Timers<E::Timer, Instant>,
    pub(super) deadline: Deadline,
    pub(super) rng: Rng,
    pub(super) drain: Drain,
    /// Whether a scan for stopped subscribers is already scheduled; then no second scan is scheduled.
    pub(super) scan_is_due: bool,
    pub(super) leaving: LeaveRequest,
    pub(super) generation: Generation,
    pub(super) has_saved: bool,
    /// Whether the agent has waited for its store since it last handled its timers.
    pub(super) has_waited: bool,
    pub(super) readiness: Readiness<E>,
    pub(super) published: Published,
    /// `None` if all fields of `Seldom` would be empty. This is the usual case: most agents know a leader, and are not
    /// asked to change the voters.
    pub(super) seldom: Option<Box<Seldom>>,
}

/// State that an agent keeps only in unusual situations. An agent's task is allocated in steps of 128 bytes, so one
/// more word in each agent may cost 128 bytes.
#[derive(Debug, Default)]
pub(super) struct Seldom {
    pub(super) asked_change: Option<AskedChange>,
    pub(super) vacancy: Option<Vacancy>,
}

/// The contents of a store when an incarnation begins.
#[derive(Debug)]
pub(super) struct StoredState<D> {
    pub(super) generation: Generation,
    pub(super) record: Option<D>,
}

impl<D> StoredState<D> {
    /// Takes over the store, if there is one, and reads its record. After that no earlier incarnation can save in this
    /// store.
    pub(super) fn take_over(store: Option<&dyn TermStore<D>>) -> Result<Self, StoreError> {
        let Some(store) = store else {
            return Ok(Self {
                generation: Generation::default(),
                record: None,
            });
        };
        // The store is taken over before its record is read: otherwise an earlier incarnation could save once more
        // after this read, and this incarnation would not know that record.
        let generation = store.begin()?;
        Ok(Self {
            generation,
            record: store.load()?,
        })
    }
}

impl<E: Election> Agent<E> {
    /// Changes the rarely used state, and frees its memory when it is empty.
    pub(super) fn with_seldom<R>(&mut self, change: impl FnOnce(&mut Seldom) -> R) -> R {
        let mut seldom = self.seldom.take().unwrap_or_default();
        let result = change(&mut seldom);
        let is_empty = seldom.asked_change.is_none() && seldom.vacancy.is_none();
        self.seldom = (!is_empty).then_some(seldom);
        result
    }

    /// Logs, once for each incarnation, that the agent has no record of its votes, and the time for which it therefore
    /// takes no part in elections.
    fn log_recovery(&self) {
        if let Some(recovers) = self.machine.prospects().recovers {
            let abstains = recovers.until.since(self.shared.now());
            self.shared.span().in_scope(|| {
                let seconds = abstains.as_secs_f64();
                info!("abstains for {seconds:.1} s, since it has no record");
            });
        }
    }

    /// Makes an incarnation of the agent. The incarnation begins when its actor starts.
    pub(super) fn new(
        spec: Arc<Spec<E>>,
        shared: Arc<SharedState>,
        store: Option<Arc<dyn TermStore<E::Durable>>>,
        incarnation: Incarnation,
        birth: Birth,
        stored: StoredState<E::Durable>,
    ) -> Self {
        let identity = Identity {
            id: spec.id.clone(),
            incarnation,
            kind: spec.kind,
            score: shared.score(),
            birth,
            store: store.as_deref().and_then(TermStore::id),
        };
        Self {
            incarnation,
            machine: E::new(identity, &spec.config, stored.record),
            snapshot: None,
            timers: Timers::default(),
            deadline: Deadline::default(),
            rng: generator(spec.seed, &spec.id, incarnation),
            drain: Drain::No,
            scan_is_due: false,
            leaving: LeaveRequest::No,
            generation: stored.generation,
            has_saved: false,
            has_waited: false,
            readiness: Readiness::Free,
            published: Published::Nothing,
            seldom: None,
            spec,
            shared,
            store,
        }
    }

    /// Makes the next incarnation. Returns `None` if the agent has ended or left its group, or if its record will never
    /// be readable. Panics if the record may become readable later.
    fn next_incarnation(&self) -> Option<Self> {
        if self.shared.is_over() {
            return None;
        }
        // No incarnation begins without its record: an agent that forgot a promise could give it to another agent too.
        let stored = StoredState::take_over(self.store.as_deref()).inspect_err(|reason| {
            error!(node = %self.spec.id, %reason, "record not readable");
            let failure = Some(reason.to_string());
            self.shared.vitals().note_saved(failure, self.shared.now());
        });
        let stored = match stored {
            // The restart policy counts this panic as one more crash, and tries again later.
            Err(reason) if reason.outlook().is_worth_a_try() => {
                resume_unwind(Box::new("the record cannot be read at the moment"))
            }
            stored => stored.ok()?,
        };
        let score = self.shared.score();
        let group = &self.spec.group;
        let incarnation = group.restart(&self.spec.id, self.incarnation, score)?;
        // A handle on another thread may have made the agent leave in the meantime.
        self.shared.begin(incarnation).then(|| {
            self.shared.write_beginning();
            Self::new(
                Arc::clone(&self.spec),
                Arc::clone(&self.shared),
                self.store.clone(),
                incarnation,
                Birth::Restarted,
                stored,
            )
        })
    }

    /// Gives a message to the machine, unless its sender is a stranger (not a member) or has ended.
    ///
    /// The snapshot that adds a new incarnation arrives in the mailbox before any message of that incarnation. So a
    /// sender that is not in the present snapshot is a stranger.
    pub(super) fn receive(&mut self, envelope: Envelope<E::Message>, ctx: &mut Context<Self>) {
        let Envelope {
            from,
            incarnation,
            message,
        } = envelope;
        let Some(snapshot) = &self.snapshot else {
            return;
        };
        let admitted = snapshot.members().admit(&self.spec.id, &from, incarnation);
        match admitted {
            Err(Unheard::Ended) => {
                snapshot.count_stale();
                debug!(node = %self.spec.id, peer = %from, reason = %Unheard::Ended, "message dropped");
            }
            Ok(_) => {
                let record = self.shared.record();
                if record.is_on() {
                    record.received(self.shared.now(), &from, &self.spec.id, &message);
                }
                let received = Input::Received {
                    from,
                    incarnation,
                    message,
                };
                self.step(received, ctx);
            }
            Err(Unheard::Stranger) => {
                snapshot.count_stranger();
                debug!(node = %self.spec.id, peer = %from, reason = %Unheard::Stranger, "message dropped");
            }
        }
    }

    fn pull_members(&mut self, ctx: &mut Context<Self>) {
        if !self.is_present(ctx) {
            return; // the name may have a new holder, which pulls the members itself
        }
        let Some(known) = &self.snapshot else {
            return;
        };
        let newest = self.spec.group.snapshot(&self.spec.id);
        if newest.version() != known.version() {
            let members = Arc::clone(newest.members());
            self.snapshot = Some(newest);
            self.step(Input::Members(members), ctx);
        }
    }

    fn set_score(&mut self, score: Option<Score>, ctx: &mut Context<Self>) {
        let group = &self.spec.group;
        group.set_score(&self.spec.id, self.incarnation, score);
        self.step(Input::SetScore(score), ctx);
    }

    /// Notes that the work of `subscriber` has ended, and continues a hand-over that waited for this work.
    fn drained(&mut self, subscriber: SubscriberId, ctx: &mut Context<Self>) {
        self.shared.subscribers().drained(subscriber);
        let view = self.machine.view(self.shared.now());
        self.follow_up(&view, ctx);
    }

    /// Adds a subscriber, and sends it the present state first.
    fn subscribe(&self, id: SubscriberId, to: &Recipient<Notice>, kind: SubscriberKind) {
        // The lock is held to the end: otherwise a `Lost` of another thread could arrive before this `Acquired`.
        let mut subscribers = self.shared.subscribers();
        subscribers.add(id, to, kind);
        let tell = |event| {
            let agent = self.spec.id.clone();
            // do_send: may exceed the mailbox's bound, but only by the present state, once for each subscription.
            to.do_send(Notice { agent, event });
        };
        let leader = self.machine.view(self.shared.now()).leader;
        if let Some(term) = subscribers.acquired() {
            tell(Event::Acquired { term });
            if self.drain != Drain::No {
                tell(Event::Draining { term, to: None });
                if kind == SubscriberKind::Draining {
                    subscribers.wait_for(id);
                }
            }
        } else if let Some(leader) = leader.filter(|leader| leader.id != self.spec.id) {
            tell(Event::NewLeader(leader));
        }
    }
}

impl<E: Election> Actor for Agent<E> {
    type Context = Context<Self>;

    fn started(&mut self, ctx: &mut Context<Self>) {
        if matches!(self.readiness, Readiness::Stopped) || !self.is_present(ctx) {
            return self.stop(ctx);
        }
        self.deadline.run(ctx, Self::on_deadline);
        let snapshot = self.spec.group.snapshot(&self.spec.id);
        let members = Arc::clone(snapshot.members());
        self.snapshot = Some(snapshot);
        self.step(Input::Start(members), ctx);
        self.log_recovery();
    }
}

impl<E: Election> Supervised for Agent<E> {
    fn restarting(&mut self, _: &mut Context<Self>) {
        match self.next_incarnation() {
            Some(next) => *self = next,
            None => self.readiness = Readiness::Stopped,
        }
    }
}

impl<E: Election> Handler<Envelope<E::Message>> for Agent<E> {
    type Result = ();

    fn handle(&mut self, envelope: Envelope<E::Message>, ctx: &mut Context<Self>) {
        self.receive(envelope, ctx);
    }
}

impl<E: Election> Handler<RemoteEnvelope<E::Message>> for Agent<E> {
    type Result = ();

    fn handle(&mut self, envelope: RemoteEnvelope<E::Message>, ctx: &mut Context<Self>) {
        self.receive(envelope.open(), ctx);
    }
}

impl<E: Election> Handler<StoreAnswer<E::Told>> for Agent<E> {
    type Result = ();

    fn handle(&mut self, StoreAnswer(told): StoreAnswer<E::Told>, ctx: &mut Context<Self>) {
        self.step(Input::Told(told), ctx);
    }
}

impl<E: Election> Handler<MembersChanged> for Agent<E> {
    type Result = ();

    fn handle(&mut self, MembersChanged: MembersChanged, ctx: &mut Context<Self>) {
        self.pull_members(ctx);
    }
}

impl<E: Election> Handler<AgentCommand> for Agent<E> {
    type Result = ();

    fn handle(&mut self, command: AgentCommand, ctx: &mut Context<Self>) {
        // Another agent may have this agent's name by now. A command to this agent must not set the score of the other
        // agent.
        if !self.is_present(ctx) {
            return;
        }
        match command {
            AgentCommand::Campaign => self.step(Input::Campaign, ctx),
            AgentCommand::SetScore(score) => self.set_score(self.shared.counting(score), ctx),
            AgentCommand::RefreshScore => self.set_score(self.shared.score(), ctx),
            AgentCommand::ChangeVoters { change, answer } => self.ask_change(change, answer, ctx),
            AgentCommand::StepDown { to } => self.step(Input::StepDown { to }, ctx),
            AgentCommand::WorkEnded { serial, held_back } => {
                if self.shared.is_at_work(serial) {
                    if let Some(held_back) = held_back {
                        self.machine.hold_back(held_back);
                    }
                    self.step(Input::StepDown { to: None }, ctx);
                }
            }
            AgentCommand::Stalled { serial, span } => {
                if self.shared.is_at_work(serial) {
                    self.shared.span().in_scope(|| {
                        warn!(?span, "work of the leader stalled: the agent steps down");
                    });
                    self.shared.note_work_stall();
                    let next = self.shared.fail_work(self.incarnation, span); // it has led for this span at least
                    self.machine.hold_back(next.held_back);
                    self.step(Input::StepDown { to: None }, ctx);
                }
            }
            // The task ends by itself, and outlasts a crash of this incarnation.
            AgentCommand::Run(AgentTask(task)) => drop(actix::spawn(task)),
            AgentCommand::Recheck => {
                let view = self.machine.view(self.shared.now());
                self.follow_up(&view, ctx);
            }
            AgentCommand::Leave => {
                self.leaving = LeaveRequest::Asked;
                let view = self.machine.view(self.shared.now());
                if view.leading.is_some() {
                    self.step(Input::StepDown { to: None }, ctx);
                } else {
                    self.follow_up(&view, ctx);
                }
            }
            AgentCommand::SubscribeDraining { id, to } => {
                self.subscribe(id, &to, SubscriberKind::Draining);
            }
            AgentCommand::Drained => {
                // The number of draining subscribers is checked again here: another subscriber may have subscribed
                // since the handle checked it.
                let only = self.shared.subscribers().only_draining();
                if let OnlyDraining::One(id) = only {
                    self.drained(id, ctx);
                }
            }
            AgentCommand::Stop => self.stop(ctx),
        }
    }
}

impl<E: Election> Handler<Drained> for Agent<E> {
    type Result = ();

    fn handle(&mut self, Drained { subscriber }: Drained, ctx: &mut Context<Self>) {
        self.drained(subscriber, ctx);
    }
}

impl<E: Election> Handler<Subscribe> for Agent<E> {
    type Result = ();

    fn handle(&mut self, Subscribe(to): Subscribe, _: &mut Context<Self>) {
        let id = self.shared.subscribers().next_id();
        self.subscribe(id, &to, SubscriberKind::Listening);
    }
}

impl<E: Election> Handler<SubscribeDraining> for Agent<E> {
    type Result = MessageResult<SubscribeDraining>;

    fn handle(
        &mut self,
        SubscribeDraining(to): SubscribeDraining,
        ctx: &mut Context<Self>,
    ) -> Self::Result {
        let id = self.shared.subscribers().next_id();
        self.subscribe(id, &to, SubscriberKind::Draining);
        MessageResult(DrainingToken::new(ctx.address().recipient(), id))
    }
}

impl<E: Election> fmt::Debug for Agent<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Agent")
            .field("id", &self.spec.id)
            .field("incarnation", &self.incarnation)
            .field("machine", &self.machine)
            .finish_non_exhaustive()
    }
}
