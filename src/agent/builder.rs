//! Starts an agent: checks everything first, then changes something.
//!
//! Decided here: the order of a start (name, store, membership in the group, actor), and that a failure
//! leaves nothing behind.

use std::{fmt, sync::Arc};

use actix::{Addr, ArbiterHandle, AsyncContext, Context, Recipient, System};

use crate::{
    clock::{BootClock, Clock, RuntimeClock, SystemWallClock, WallClock},
    group::Group,
    protocol::{
        AgentId, Birth, ClockKind, Election, Incarnation, Member, MemberKind, PeerMessage,
        Requirements, Score, Storage,
    },
    store::{StoreIdentity, TermStore},
    supervisor::{Guardian, GuardianBuilder, RestartPolicy, Supervision},
};

use super::{
    Agent, ElectionHandle, Notice, StartError, actor::StoredState, leadership::Scope,
    lease::Attachment, shared::SharedState, spec::Spec, subscribers::SubscriberKind,
    voters::member_kind, wait::is_local_task,
};

/// Settings of an agent.
#[must_use = "a builder does nothing until `start` is called"]
pub struct AgentBuilder<E: Election> {
    name: String,
    kind: MemberKind,
    score: Option<Score>,
    pub(super) config: E::Config,
    group: Option<Group<E::Message>>,
    clock: Option<Arc<dyn Clock>>,
    wall: Arc<dyn WallClock>,
    store: Option<Arc<dyn TermStore<E::Durable>>>,
    /// The store is left out where the election refuses one.
    is_store_spare: bool,
    seed: u64,
    birth: Birth,
    policy: RestartPolicy,
    parent: Option<Recipient<Supervision<AgentId>>>,
    subscribers: Vec<Recipient<Notice>>,
    pub(super) attachment: Option<Attachment<E>>,
    /// The first setting that makes no sense.
    pub(super) refused: Option<StartError>,
}

impl<E: Election> Agent<E> {
    /// Names an agent of any election; its name is checked when it starts.
    pub fn with_config(name: &str, config: E::Config) -> AgentBuilder<E> {
        AgentBuilder {
            name: name.to_owned(),
            kind: MemberKind::Voter,
            score: Some(Score::default()),
            config,
            group: None,
            clock: None,
            wall: Arc::new(SystemWallClock),
            store: None,
            is_store_spare: false,
            seed: 0,
            birth: Birth::Started,
            policy: RestartPolicy::default(),
            parent: None,
            subscribers: Vec::new(),
            attachment: None,
            refused: None,
        }
    }
}

impl<E: Election> AgentBuilder<E> {
    /// The group to take part in. There is no default.
    pub fn join(mut self, group: &Group<E::Message>) -> Self {
        self.group = Some(group.clone());
        self
    }

    /// The agent's score: the member with the highest one is elected. Default: 0, so that names
    /// decide.
    pub fn score(mut self, score: impl Into<Score>) -> Self {
        self.score = Some(score.into());
        self
    }

    /// The agent is never elected, until it gets a score; it still answers and votes.
    pub fn ineligible(mut self) -> Self {
        self.score = None;
        self
    }

    /// The agent hears of each leader, and never votes or leads.
    pub fn observer(mut self) -> Self {
        self.kind = MemberKind::Observer;
        self
    }

    /// The clock that the agent's leadership is measured by. Default: a [`RuntimeClock`], and a [`BootClock`] for
    /// elections that keep leases, which accept no clock that stops while the host is suspended.
    pub fn clock(mut self, clock: impl Clock + 'static) -> Self {
        self.clock = Some(Arc::new(clock));
        self
    }

    /// The wall clock that the agent reads once, at its start. Default: the host's.
    #[cfg(feature = "testkit")]
    pub fn wall_clock(mut self, clock: impl WallClock + 'static) -> Self {
        self.wall = Arc::new(clock);
        self
    }

    /// Where the agent keeps what must survive a crash. Needed only by elections that have such a
    /// record.
    ///
    /// The store outlives the agent: keep it, and give the same one, or a clone of it, to each start
    /// of this name. A start takes it over, so an agent that had it before saves nothing any more; and
    /// a start whose store has no record is refused where an agent of that name has kept one.
    pub fn store(mut self, store: impl TermStore<E::Durable> + 'static) -> Self {
        self.store = Some(Arc::new(store));
        self
    }

    /// The same for tests that do not know the election: a store that it refuses is left out.
    #[cfg(feature = "testkit")]
    pub(crate) fn store_if_kept(mut self, store: impl TermStore<E::Durable> + 'static) -> Self {
        self.is_store_spare = true;
        self.store(store)
    }

    /// Begins the agent's random numbers (jitter), together with its name and incarnation. Default: 0.
    #[cfg(feature = "testkit")]
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// The agent was there before and comes back, as after a crash of its process: in an election
    /// that some agent has to start, this one does.
    pub fn recovering(mut self) -> Self {
        self.birth = Birth::Restarted;
        self
    }

    /// How the agent is restarted after a crash. Default: [`RestartPolicy::transient`].
    ///
    /// A record that its disk has no room for is a crash: the agent comes back with the record
    /// before it, and leads, votes and answers nothing that it could not keep. The default policy
    /// gives it up after a few tries within 30 s, and it has ended for good then. One that has to
    /// outlast a disk that is full for long takes a policy with more restarts.
    pub fn restart_policy(mut self, policy: RestartPolicy) -> Self {
        self.policy = policy;
        self
    }

    /// The actor that hears of crashes and restarts. Default: none.
    pub fn parent(mut self, parent: Recipient<Supervision<AgentId>>) -> Self {
        self.parent = Some(parent);
        self
    }

    /// Subscribes to the agent's events from the first one on; may be called for several. The
    /// agent does not keep its subscriber alive.
    pub fn subscribe(mut self, to: Recipient<Notice>) -> Self {
        self.subscribers.push(to);
        self
    }

    /// Starts the agent on the current arbiter; without a System, as on a host of a simulated
    /// network, on the [`LocalSet`](tokio::task::LocalSet) whose task calls this.
    ///
    /// # Errors
    /// [`StartError`], and nothing was changed.
    ///
    /// # Panics
    /// Outside of the System's event loop, as every start of an actor does.
    pub fn start(self) -> Result<ElectionHandle<E>, StartError> {
        if System::try_current().is_none() && !is_local_task() {
            return Err(StartError::NoSystem);
        }
        let mut ready = self.prepare()?;
        let addr = ready.guardian().start(ready.birth());
        Ok(ready.handle(addr))
    }

    /// Starts the agent on another arbiter: one that does nothing else keeps elections on time.
    ///
    /// # Errors
    /// [`StartError`], and nothing was changed.
    pub fn start_in_arbiter(
        self,
        arbiter: &ArbiterHandle,
    ) -> Result<ElectionHandle<E>, StartError> {
        if !arbiter.alive() {
            return Err(StartError::NoArbiter);
        }
        let mut ready = self.prepare()?;
        let guardian = ready.guardian();
        let addr = guardian.start_in_arbiter(arbiter, ready.birth());
        // Joined by this thread or by the agent's, so that each of them finds the agent in the group.
        join_group(&ready.spec, &ready.shared, ready.incarnation, &addr);
        // The arbiter may have stopped since it was asked, and dropped the agent before it had this
        // membership. The shared state hears of the end in any case, before or after this question.
        if ready.shared.is_over() {
            ready.spec.group.leave(&ready.spec.id, ready.incarnation);
            return Err(StartError::NoArbiter);
        }
        Ok(ready.handle(addr))
    }

    fn check_store(
        &self,
        requirements: &Requirements,
        group: &Group<E::Message>,
    ) -> Result<(), StartError> {
        let Some(store) = &self.store else {
            return match requirements.storage {
                Storage::Nothing | Storage::Refused => Ok(()),
                Storage::Record => Err(StartError::NoStore),
            };
        };
        if requirements.storage == Storage::Refused {
            return Err(StartError::StoreRefused);
        }
        let reaches_others = !group.members().is_closed();
        if requirements.relies_on_votes() && store.is_volatile() && reaches_others {
            return Err(StartError::VolatileStore);
        }
        Ok(())
    }

    /// Takes over the store under a name that is kept already.
    fn take_store(
        &self,
        group: &Group<E::Message>,
        id: &AgentId,
        requirements: &Requirements,
    ) -> Result<StoredState<E::Durable>, StartError> {
        let is_volatile = match &self.store {
            Some(store) => store.is_volatile(),
            None => false,
        };
        // Asked again: a bridge may have opened the group since, and must not from now on.
        let relies_on_it = requirements.relies_on_votes() && is_volatile;
        if relies_on_it && !group.note_volatile(id) {
            return Err(StartError::VolatileStore);
        }
        let stored = StoredState::take_over(self.store.as_deref())?;
        let keeps = requirements.storage == Storage::Record;
        if keeps && stored.record.is_none() && group.had_record(id, requirements) {
            return Err(StartError::FreshStore { id: id.clone() });
        }
        // Judged again: the agent before may have saved another record since the first look.
        E::admits(&self.config, id, stored.record.as_ref())?;
        Ok(stored)
    }

    fn prepare(mut self) -> Result<PreparedAgent<E>, StartError> {
        if let Some(refused) = self.refused {
            return Err(refused);
        }
        let id = AgentId::new(&self.name)?;
        let group = self.group.take().ok_or(StartError::NotJoined)?;
        if let Some(attachment) = &self.attachment {
            attachment.precede(&mut self.config, &group);
        }
        let requirements = E::requirements(&self.config, &id, self.kind)?;
        if self.is_store_spare && requirements.storage == Storage::Refused {
            self.store = None;
        }
        self.check_store(&requirements, &group)?;
        let clock = choose_clock(self.clock.take(), requirements.clock)?;
        // Asked first: a start that is refused here takes neither the name nor the store.
        if let Some(store) = &self.store {
            check_owner(store.identity(), &group, &id)?;
            E::admits(&self.config, &id, store.load()?.as_ref())?;
        }
        // The name first: a second start of it must not supersede the agent that runs.
        let incarnation = group.reserve(&id, requirements.clone())?;
        let stored = self.take_store(&group, &id, &requirements);
        let stored = stored.and_then(|stored| {
            // Last: what is refused leaves no member behind.
            let attachment = self.attachment.take();
            attachment.map_or(Ok(()), |it| it.attach(&self.config, &group, &clock))?;
            Ok(stored)
        });
        let stored = stored.inspect_err(|_| {
            group.leave(&id, incarnation);
        })?;
        let wall_at_zero = wall_at_zero(&*clock, &*self.wall);
        let spec = Arc::new(Spec {
            id,
            kind: self.kind,
            leaders: requirements.leaders,
            config: E::on_host(self.config, wall_at_zero),
            group,
            seed: self.seed,
        });
        let settings = Arc::<Spec<E>>::clone(&spec);
        let shared =
            SharedState::new(settings, clock, incarnation, self.score).with_wall(wall_at_zero);
        for to in self.subscribers.drain(..) {
            let mut subscribers = shared.subscribers();
            let id = subscribers.next_id();
            subscribers.add(id, &to, SubscriberKind::Listening);
        }
        Ok(PreparedAgent {
            spec,
            shared: Arc::new(shared),
            store: self.store,
            incarnation,
            birth: self.birth,
            stored,
            policy: self.policy,
            parent: self.parent,
        })
    }
}

/// The clock that was named, if it will do; by default the one that fits.
pub(super) fn choose_clock(
    named: Option<Arc<dyn Clock>>,
    required: ClockKind,
) -> Result<Arc<dyn Clock>, StartError> {
    match (named, required) {
        (Some(clock), ClockKind::CountsSuspend) if !clock.counts_suspend() => {
            Err(StartError::SleepyClock)
        }
        (Some(clock), _) => Ok(clock),
        (None, ClockKind::CountsSuspend) => Ok(Arc::new(BootClock::new()?)),
        (None, ClockKind::Any) => Ok(Arc::new(RuntimeClock::new())),
    }
}

/// What the wall clock showed when the agent's clock showed zero, in milliseconds since 1970.
fn wall_at_zero(clock: &dyn Clock, wall: &dyn WallClock) -> i64 {
    let millis = |of: u64| i64::try_from(of).unwrap_or(i64::MAX);
    let passed = millis(clock.now().as_nanos() / 1_000_000);
    millis(wall.now().as_millis()).saturating_sub(passed)
}

/// An agent whose name is reserved and whose settings are in order.
struct PreparedAgent<E: Election> {
    spec: Arc<Spec<E>>,
    shared: Arc<SharedState>,
    store: Option<Arc<dyn TermStore<E::Durable>>>,
    incarnation: Incarnation,
    birth: Birth,
    stored: StoredState<E::Durable>,
    policy: RestartPolicy,
    parent: Option<Recipient<Supervision<AgentId>>>,
}

impl<E: Election> PreparedAgent<E> {
    /// The agent's supervisor.
    fn guardian(&self) -> GuardianBuilder<Agent<E>, AgentId> {
        let ending = Ending(Arc::clone(&self.shared));
        let guardian = Guardian::builder(self.spec.id.clone())
            .policy(self.policy.clone())
            .on_exit(move |_| ending.0.end(Scope::Incarnation));
        match &self.parent {
            Some(parent) => guardian.parent(parent.clone()),
            None => guardian,
        }
    }

    /// Makes the first incarnation, as a member of the group.
    fn birth(&mut self) -> impl FnOnce(&mut Context<Agent<E>>) -> Agent<E> + Send + use<E> {
        let (spec, shared) = (Arc::clone(&self.spec), Arc::clone(&self.shared));
        let store = self.store.take();
        let (incarnation, birth) = (self.incarnation, self.birth);
        let stored = StoredState {
            generation: self.stored.generation,
            record: self.stored.record.take(),
        };
        move |ctx| {
            join_group(&spec, &shared, incarnation, &ctx.address());
            Agent::new(spec, shared, store, incarnation, birth, stored)
        }
    }

    fn handle(self, addr: Addr<Agent<E>>) -> ElectionHandle<E> {
        ElectionHandle {
            addr,
            shared: self.shared,
        }
    }
}

/// A record belongs to one agent of one group.
fn check_owner<M: PeerMessage>(
    owner: Option<&StoreIdentity>,
    group: &Group<M>,
    id: &AgentId,
) -> Result<(), StartError> {
    match owner {
        Some(owner) if owner.group.as_str() != group.name() || owner.node != *id => {
            let owner = Box::new(owner.clone());
            Err(StartError::ForeignStore { owner })
        }
        Some(_) | None => Ok(()),
    }
}

/// Makes the agent a member, unless it is one already.
fn join_group<E: Election>(
    spec: &Spec<E>,
    shared: &SharedState,
    incarnation: Incarnation,
    addr: &Addr<Agent<E>>,
) {
    let requirements = spec.group.requirements();
    let kind = requirements.map_or(spec.kind, |all| member_kind(&all, &spec.id, spec.kind));
    let member = Member::up(spec.id.clone(), kind, shared.score(), incarnation);
    spec.group.join_counted(member, addr.clone());
}

/// The supervisor holds this to the end: when it is dropped, no other incarnation follows.
struct Ending(Arc<SharedState>);

impl Drop for Ending {
    fn drop(&mut self) {
        self.0.end(Scope::Agent);
    }
}

impl<E: Election> fmt::Debug for AgentBuilder<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AgentBuilder")
            .field("name", &self.name)
            .field("kind", &self.kind)
            .field("score", &self.score)
            .field("config", &self.config)
            .finish_non_exhaustive()
    }
}
