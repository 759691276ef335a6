//! Starts an agent: checks everything first, then makes changes.
//!
//! Decided here: which starts are refused, once all calls of the builder are known, in any order; the order of a start
//! (name, store, membership in the group, actor); and that a failure leaves nothing behind. Not here: the calls
//! (`builder.rs`, `bully.rs`), and how a mode and its settings are combined (`choices.rs`).

use std::{convert::Infallible, sync::Arc};

use actix::{Addr, ArbiterHandle, AsyncContext, Context, Recipient, System};

use crate::{
    clock::{BootClock, Clock, RuntimeClock, SystemWallClock, WallClock},
    group::Group,
    protocol::{
        About, AgentId, Birth, ClockKind, Election, Incarnation, Member, MemberKind, PeerMessage,
        Requirements, Score, Storage, StoreId,
    },
    store::{StoreIdentity, TermStore},
    supervisor::{Guardian, GuardianBuilder, RestartPolicy, Supervision},
};

use super::{
    Agent, AgentBuilder, ElectionHandle, StartError, actor::StoredState, choices::Resolved,
    lease::Attachment, offers::ElectionMode, phase::Scope, reader::GivenWallClock,
    shared::SharedState, spec::Spec, subscribers::SubscriberKind, voters::member_kind,
    wait::is_local_task,
};

impl<E: Election> AgentBuilder<E> {
    /// Starts the agent on the current arbiter. Without a System, as on a host of a simulated network, the agent starts
    /// on the [`LocalSet`](tokio::task::LocalSet) whose task makes this call.
    ///
    /// # Errors
    /// [`StartError`]; then nothing was changed.
    ///
    /// # Panics
    /// Outside of the System's event loop, like every start of an actor.
    pub fn start(self) -> Result<ElectionHandle<E>, StartError> {
        if System::try_current().is_none() && !is_local_task() {
            return Err(StartError::NoSystem);
        }
        let mut ready = self.prepare()?;
        let addr = ready.guardian().start(ready.birth());
        Ok(ready.handle(addr))
    }

    /// Starts the agent on another arbiter. An arbiter without other work keeps elections on time.
    ///
    /// # Errors
    /// [`StartError`]; then nothing was changed.
    pub fn start_in_arbiter(
        self,
        arbiter: &ArbiterHandle,
    ) -> Result<ElectionHandle<E>, StartError> {
        if !arbiter.alive() {
            return Err(StartError::NoArbiter);
        }
        let mut ready = self.prepare()?;
        let guardian = ready.guardian();
        let store = ready.store.as_deref().and_then(TermStore::id);
        let addr = guardian.start_in_arbiter(arbiter, ready.birth());
        // Both this thread and the agent's thread add the agent to the group, so that each thread then finds it in the
        // group.
        let about = ready.about.take();
        join_group(
            &ready.spec,
            &ready.shared,
            ready.incarnation,
            store,
            about,
            &addr,
        );
        // The arbiter may have stopped meanwhile, and dropped the agent before it became a member: then this start
        // fails. If the arbiter stops after this check, the handle reports that the agent has ended.
        if ready.shared.is_over() {
            ready.spec.group.leave(&ready.spec.id, ready.incarnation);
            return Err(StartError::NoArbiter);
        }
        Ok(ready.handle(addr))
    }

    /// Combines all calls, and makes the checks that need only them.
    pub(super) fn settle(mut self) -> Result<Settled<E>, StartError> {
        let Resolved {
            mut config,
            attachment,
            mode,
        } = (self.resolve)((&self.config, self.basis), &self.choices)?;
        let own_score = match (self.score, self.is_ineligible) {
            (Some(_), true) => {
                let (first, second) = ("score", "ineligible");
                return Err(StartError::Contradiction { first, second });
            }
            (score, false) => Some(score.unwrap_or_default()), // 0 by default, so that names decide
            (None, true) => None,
        };
        let id = AgentId::new(&self.name)?;
        let about = self
            .about
            .take()
            .map(|text| About::new(&text))
            .transpose()?;
        let group = self.group.take().ok_or(StartError::NotJoined)?;
        if let Some(attachment) = &attachment {
            attachment.precede(&mut config, &group);
        }
        let requirements = E::requirements(&config, &id, self.kind)?;
        let spare = self.spare_store.take();
        let spare = spare.filter(|_| requirements.storage == Storage::Record);
        let store = self.store.clone().or(spare);
        let settled = Settled {
            id,
            group,
            config,
            attachment,
            mode: mode.unwrap_or_else(|| ElectionMode::own(&requirements)),
            requirements,
            score: own_score,
            about,
            store,
            rest: self,
        };
        settled.check_store()?;
        Ok(settled)
    }

    fn add_subscribers(&mut self, shared: &SharedState) {
        for to in self.subscribers.drain(..) {
            let mut subscribers = shared.subscribers();
            let id = subscribers.next_id();
            subscribers.add(id, &to, SubscriberKind::Listening);
        }
    }

    fn give_wall_clock(&mut self, shared: &SharedState) {
        if let Some(wall) = self.wall.take() {
            let given = || Ok::<_, Infallible>(Arc::new(GivenWallClock(wall)));
            shared.attached().find(given).ok();
        }
    }

    fn prepare(self) -> Result<PreparedAgent<E>, StartError> {
        let settled = self.settle()?;
        let clock = choose_clock(settled.rest.clock.clone(), settled.requirements.clock)?;
        settled.check()?;
        // The name is reserved before the store is taken over: a second start of the name must not take the store from
        // the agent that runs.
        let requirements = settled.requirements.clone();
        let incarnation = settled.group.reserve(&settled.id, requirements)?;
        let stored = settled.take_store();
        let Settled {
            id,
            group,
            config,
            attachment,
            mode,
            requirements,
            score,
            about,
            store,
            mut rest,
        } = settled;
        let stored = stored.and_then(|stored| {
            // The register is attached last, so that a refused start leaves no member behind.
            let asked = attachment.map_or(Ok(None), |it| it.attach(&config, &group, &clock))?;
            Ok((stored, asked))
        });
        let (stored, asked) = stored.inspect_err(|_| {
            group.leave(&id, incarnation);
        })?;
        let wall_at_zero = wall_at_zero(&*clock, rest.wall.as_deref());
        if let Some(timings) = E::timings(&config) {
            group.note_pace(timings.into());
        }
        let spec = Arc::new(Spec {
            id,
            kind: rest.kind,
            leaders: requirements.leaders,
            mode,
            config: E::on_host(config, wall_at_zero),
            group,
            seed: rest.seed,
            asked,
        });
        let settings = Arc::<Spec<E>>::clone(&spec);
        let shared = SharedState::new(settings, clock, incarnation, score).with_wall(wall_at_zero);
        rest.give_wall_clock(&shared);
        rest.add_subscribers(&shared);
        Ok(PreparedAgent {
            spec,
            shared: Arc::new(shared),
            store,
            about,
            incarnation,
            birth: rest.birth,
            stored,
            policy: rest.policy,
            parent: rest.parent,
        })
    }
}

/// The settings from the calls of a builder, in any order.
pub(super) struct Settled<E: Election> {
    pub(super) id: AgentId,
    pub(super) group: Group<E::Message>,
    pub(super) config: E::Config,
    pub(super) attachment: Option<Attachment<E>>,
    pub(super) mode: ElectionMode,
    pub(super) requirements: Requirements,
    pub(super) score: Option<Score>,
    pub(super) about: Option<About>,
    pub(super) store: Option<Arc<dyn TermStore<E::Durable>>>,
    pub(super) rest: AgentBuilder<E>,
}

impl<E: Election> Settled<E> {
    /// Checks everything that can be checked before the name and the store are taken: a start that is refused here
    /// takes neither.
    fn check(&self) -> Result<(), StartError> {
        if let Some(store) = &self.store {
            check_owner(store.identity(), &self.group, &self.id)?;
            E::admits(&self.config, &self.id, store.load()?.as_ref())?;
        }
        // Agents of one process must share one `Group` object. Only agents with a lease may have several `Group`
        // objects, because the agents meet in the store of the lease.
        if self.attachment.is_none() && !self.group.is_alone() {
            let group = self.group.name().into();
            return Err(StartError::TwoGroups { group });
        }
        Ok(())
    }

    fn check_store(&self) -> Result<(), StartError> {
        let requirements = &self.requirements;
        let Some(store) = &self.store else {
            return match requirements.storage {
                Storage::Nothing | Storage::Refused => Ok(()),
                Storage::Record => Err(StartError::NoStore),
            };
        };
        match requirements.storage {
            Storage::Record => {}
            Storage::Refused => return Err(StartError::StoreRefused),
            // Other agents do not rely on an observer, so it may have a store, which its election then ignores.
            Storage::Nothing if self.rest.kind == MemberKind::Observer => {}
            Storage::Nothing => return Err(StartError::StoreUnread),
        }
        // A process that loses its votes could vote twice in one term. In a closed group all agents end with it.
        let reaches_others = !self.group.members().is_closed();
        if requirements.relies_on_votes() && store.is_volatile() && reaches_others {
            return Err(StartError::VolatileStore);
        }
        Ok(())
    }

    /// Takes over the store, after the name is reserved.
    fn take_store(&self) -> Result<StoredState<E::Durable>, StartError> {
        let Self {
            id,
            group,
            requirements,
            config,
            store,
            ..
        } = self;
        let is_volatile = match store {
            Some(store) => store.is_volatile(),
            None => false,
        };
        // This is checked again, because a bridge may have opened the group to other hosts since the first check. From
        // now on no bridge can open the group.
        let relies_on_it = requirements.relies_on_votes() && is_volatile;
        if relies_on_it && !group.note_volatile(id) {
            return Err(StartError::VolatileStore);
        }
        let stored = StoredState::take_over(store.as_deref())?;
        let keeps = requirements.storage == Storage::Record;
        if keeps && stored.record.is_none() && group.had_record(id, requirements) {
            return Err(StartError::FreshStore { id: id.clone() });
        }
        // The record is checked again, because the earlier agent may have saved a later record since the first check.
        E::admits(config, id, stored.record.as_ref())?;
        Ok(stored)
    }
}

/// Returns the given clock, if it is of the required kind; without a given clock, a clock of the required kind.
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

/// Returns the time of the wall clock when the agent's clock showed zero, in milliseconds since 1970.
fn wall_at_zero(clock: &dyn Clock, wall: Option<&dyn WallClock>) -> i64 {
    let wall = wall.unwrap_or(&SystemWallClock);
    let millis = |of: u64| i64::try_from(of).unwrap_or(i64::MAX);
    let passed = millis(clock.now().as_nanos() / 1_000_000);
    millis(wall.now().as_millis()).saturating_sub(passed)
}

/// An agent whose name is reserved and whose settings are valid.
struct PreparedAgent<E: Election> {
    spec: Arc<Spec<E>>,
    shared: Arc<SharedState>,
    store: Option<Arc<dyn TermStore<E::Durable>>>,
    about: Option<About>,
    incarnation: Incarnation,
    birth: Birth,
    stored: StoredState<E::Durable>,
    policy: RestartPolicy,
    parent: Option<Recipient<Supervision<AgentId>>>,
}

impl<E: Election> PreparedAgent<E> {
    fn guardian(&self) -> GuardianBuilder<Agent<E>, AgentId> {
        let ending = Ending(Arc::clone(&self.shared));
        let guardian = Guardian::builder(self.spec.id.clone())
            .policy(self.policy.clone())
            .on_exit_or_end(move |_| {
                ending.0.end(Scope::Incarnation);
                // An agent that leaves is not restarted: the backoff would hold its store.
                !ending.0.is_over()
            });
        let Some(parent) = self.parent.clone() else {
            return guardian;
        };
        let shared = Arc::clone(&self.shared);
        guardian.told(move |event| {
            let is_last = matches!(
                event,
                Supervision::Finished { .. } | Supervision::GaveUp { .. }
            );
            let parent = parent.clone();
            // do_send: may exceed the mailbox's bound by as many messages as the policy allows crashes.
            let tell = move || parent.do_send(event);
            if is_last {
                shared.when_gone(tell);
            } else {
                tell();
            }
        })
    }

    /// Makes the first incarnation, as a member of the group.
    fn birth(&mut self) -> impl FnOnce(&mut Context<Agent<E>>) -> Agent<E> + Send + use<E> {
        let (spec, shared) = (Arc::clone(&self.spec), Arc::clone(&self.shared));
        let (store, about) = (self.store.take(), self.about.clone());
        let (incarnation, birth) = (self.incarnation, self.birth);
        let stored = StoredState {
            generation: self.stored.generation,
            record: self.stored.record.take(),
        };
        move |ctx| {
            let store_id = store.as_deref().and_then(TermStore::id);
            join_group(&spec, &shared, incarnation, store_id, about, &ctx.address());
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

/// Checks that the record in the store belongs to this agent of this group.
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

/// Makes the agent a member of the group, unless it is a member already.
fn join_group<E: Election>(
    spec: &Spec<E>,
    shared: &SharedState,
    incarnation: Incarnation,
    store: Option<StoreId>,
    about: Option<About>,
    addr: &Addr<Agent<E>>,
) {
    let requirements = spec.group.requirements();
    let kind = requirements.map_or(spec.kind, |all| member_kind(&all, &spec.id, spec.kind));
    let member = Member {
        store,
        about,
        ..Member::up(spec.id.clone(), kind, shared.score(), incarnation)
    };
    spec.group.join_counted(member, addr.clone());
}

/// A guard that the supervisor holds to the end. When the guard is dropped, no other incarnation follows.
struct Ending(Arc<SharedState>);

impl Drop for Ending {
    fn drop(&mut self) {
        self.0.end(Scope::Agent);
    }
}
