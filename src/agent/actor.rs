//! The agent as an actix actor: how its lives begin, and what arrives in its mailbox.
//!
//! Decided here: whose letters reach the machine. Those of strangers and of lives that are known
//! to be over are counted and dropped; they never leave a trace in the state.

use std::{fmt, panic::resume_unwind, sync::Arc};

use actix::{
    Actor, AsyncContext, Context, Handler, MessageResult, Recipient, Supervised, clock::Instant,
};
use fastrand::Rng;
use tracing::{debug, error};

use crate::{
    group::{Envelope, FromAfar, Group, MembersChanged, Snapshot},
    planted::{Defect, has},
    protocol::{
        AgentId, Birth, Election, Event, Identity, Incarnation, Input, MemberKind, Unheard,
    },
    store::{Generation, StoreError, TermStore},
    supervisor::Deadline,
};

use super::{
    audience::{Number, Part, Workers},
    belief::Belief,
    drive::{Drain, Progress, Stay},
    message::{Command, Drained, DrainingToken, Notice, Subscribe, SubscribeDraining},
    timers::{Timers, generator},
};

/// One election inside one actor: typed messages in, effects out.
///
/// Made by a [builder](super::AgentBuilder), which puts it under a
/// [`Guardian`](crate::supervisor::Guardian): after a crash the same address leads to a new life
/// that knows nothing of the former one.
pub struct Agent<E: Election> {
    pub(super) spec: Arc<Spec<E>>,
    pub(super) belief: Arc<Belief>,

    // One life.
    pub(super) incarnation: Incarnation,
    pub(super) machine: E,
    pub(super) snapshot: Option<Arc<Snapshot<E::Message>>>,
    pub(super) timers: Timers<E::Timer, Instant>,
    pub(super) deadline: Deadline,
    pub(super) rng: Rng,
    pub(super) drain: Drain,
    /// A look for subscribers that have stopped is due.
    pub(super) looks: bool,
    pub(super) stay: Stay,
    pub(super) generation: Generation,
    pub(super) has_saved: bool,
    pub(super) progress: Progress<E>,
}

/// What all lives of an agent are made from.
pub(super) struct Spec<E: Election> {
    pub(super) id: AgentId,
    pub(super) kind: MemberKind,
    pub(super) config: E::Config,
    pub(super) group: Group<E::Message>,
    pub(super) store: Option<Arc<dyn TermStore<E::Durable>>>,
    pub(super) seed: u64,
}

/// What a life finds in its store.
#[derive(Debug)]
pub(super) struct Past<D> {
    pub(super) generation: Generation,
    pub(super) record: Option<D>,
}

impl<D> Past<D> {
    /// Begins with the store, if there is one: from then on no earlier life saves there.
    pub(super) fn of(store: Option<&dyn TermStore<D>>) -> Result<Self, StoreError> {
        let Some(store) = store else {
            return Ok(Self {
                generation: Generation::default(),
                record: None,
            });
        };
        let generation = store.begin()?;
        Ok(Self {
            generation,
            record: store.load()?,
        })
    }
}

impl<E: Election> Agent<E> {
    /// A life that has not begun.
    pub(super) fn new(
        spec: Arc<Spec<E>>,
        belief: Arc<Belief>,
        incarnation: Incarnation,
        birth: Birth,
        past: Past<E::Durable>,
    ) -> Self {
        let identity = Identity {
            id: spec.id.clone(),
            incarnation,
            kind: spec.kind,
            score: belief.score(),
            birth,
        };
        Self {
            incarnation,
            machine: E::new(identity, &spec.config, past.record),
            snapshot: None,
            timers: Timers::default(),
            deadline: Deadline::default(),
            rng: generator(spec.seed, &spec.id, incarnation),
            drain: Drain::No,
            looks: false,
            stay: Stay::Staying,
            generation: past.generation,
            has_saved: false,
            progress: Progress::Free,
            spec,
            belief,
        }
    }

    /// The next life; `None` when there must not be one.
    fn reborn(&self) -> Option<Self> {
        if self.belief.is_over() {
            return None;
        }
        // One that forgot what it promised could promise it again to somebody else.
        let past = Past::of(self.spec.store.as_deref()).inspect_err(|reason| {
            error!(node = %self.spec.id, %reason, "record not readable");
        });
        let past = match past {
            Err(reason) if reason.is_full() => {
                resume_unwind(Box::new("the disk of the record is full"))
            }
            past => past.ok()?,
        };
        let (id, score) = (&self.spec.id, self.belief.score());
        let incarnation = self.spec.group.restart(id, self.incarnation, score)?;
        if !self.belief.begin_life(incarnation) {
            return None;
        }
        let (spec, belief) = (Arc::clone(&self.spec), Arc::clone(&self.belief));
        Some(Self::new(spec, belief, incarnation, Birth::Restarted, past))
    }

    /// News of a life arrives in the mailbox before its letters do, so what the snapshot at hand
    /// does not know is not known.
    pub(super) fn receive(&mut self, letter: Envelope<E::Message>, ctx: &mut Context<Self>) {
        let Envelope {
            from,
            incarnation,
            message,
        } = letter;
        let Some(snapshot) = &self.snapshot else {
            return;
        };
        let admitted = snapshot.members().admit(&self.spec.id, &from, incarnation);
        match admitted {
            Err(Unheard::Ended) if !has(Defect::EndedIsHeard) => {
                snapshot.count_stale();
                debug!(node = %self.spec.id, peer = %from, reason = %Unheard::Ended, "message dropped");
            }
            Ok(_) | Err(Unheard::Ended) => {
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

    /// Pulls the newest membership.
    fn look(&mut self, ctx: &mut Context<Self>) {
        if !self.is_present(ctx) {
            return; // to look by its name is up to its successor
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

    /// The work of that subscriber has ended.
    fn drained(&mut self, number: Number, ctx: &mut Context<Self>) {
        self.belief.audience().drained(number);
        let view = self.machine.view(self.belief.now());
        self.look_after(&view, ctx);
    }

    /// Tells a new subscriber the present state first.
    fn welcome(&self, number: Number, to: &Recipient<Notice>, part: Part) {
        let mut audience = self.belief.audience();
        audience.add(number, to, part);
        let tell = |event| {
            let agent = self.spec.id.clone();
            to.do_send(Notice { agent, event });
        };
        let leader = self.machine.view(self.belief.now()).leader;
        if let Some(term) = audience.acquired() {
            tell(Event::Acquired { term });
            if self.drain != Drain::No {
                tell(Event::Draining { term, to: None });
                if part == Part::Works {
                    audience.wait_for(number);
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
        if matches!(self.progress, Progress::Stopped) || !self.is_present(ctx) {
            return self.stop(ctx);
        }
        self.deadline.run(ctx, Self::on_deadline);
        let snapshot = self.spec.group.snapshot(&self.spec.id);
        let members = Arc::clone(snapshot.members());
        self.snapshot = Some(snapshot);
        self.step(Input::Start(members), ctx);
    }
}

impl<E: Election> Supervised for Agent<E> {
    fn restarting(&mut self, _: &mut Context<Self>) {
        match self.reborn() {
            Some(next) => *self = next,
            None => self.progress = Progress::Stopped,
        }
    }
}

impl<E: Election> Handler<Envelope<E::Message>> for Agent<E> {
    type Result = ();

    fn handle(&mut self, letter: Envelope<E::Message>, ctx: &mut Context<Self>) {
        self.receive(letter, ctx);
    }
}

impl<E: Election> Handler<FromAfar<E::Message>> for Agent<E> {
    type Result = ();

    fn handle(&mut self, letter: FromAfar<E::Message>, ctx: &mut Context<Self>) {
        self.receive(letter.open(), ctx);
    }
}

impl<E: Election> Handler<MembersChanged> for Agent<E> {
    type Result = ();

    fn handle(&mut self, MembersChanged: MembersChanged, ctx: &mut Context<Self>) {
        self.look(ctx);
    }
}

impl<E: Election> Handler<Command> for Agent<E> {
    type Result = ();

    fn handle(&mut self, command: Command, ctx: &mut Context<Self>) {
        if !self.is_present(ctx) {
            return;
        }
        match command {
            Command::Campaign => self.step(Input::Campaign, ctx),
            Command::SetScore(score) => {
                self.spec.group.set_score(&self.spec.id, score);
                self.step(Input::SetScore(score), ctx);
            }
            Command::StepDown { to } => self.step(Input::StepDown { to }, ctx),
            Command::Recheck => {
                let view = self.machine.view(self.belief.now());
                self.look_after(&view, ctx);
            }
            Command::Leave => {
                self.stay = Stay::Leaving;
                let view = self.machine.view(self.belief.now());
                if view.leading.is_some() {
                    self.step(Input::StepDown { to: None }, ctx);
                } else {
                    self.look_after(&view, ctx);
                }
            }
            Command::Work { number, subscriber } => {
                self.welcome(number, &subscriber, Part::Works);
            }
            Command::Drained => {
                let worker = self.belief.audience().only_worker();
                if let Workers::One(number) = worker {
                    self.drained(number, ctx);
                }
            }
            Command::Stop => self.stop(ctx),
        }
    }
}

impl<E: Election> Handler<Drained> for Agent<E> {
    type Result = ();

    fn handle(&mut self, Drained { number }: Drained, ctx: &mut Context<Self>) {
        self.drained(number, ctx);
    }
}

impl<E: Election> Handler<Subscribe> for Agent<E> {
    type Result = ();

    fn handle(&mut self, Subscribe(to): Subscribe, _: &mut Context<Self>) {
        let number = self.belief.audience().number();
        self.welcome(number, &to, Part::Listens);
    }
}

impl<E: Election> Handler<SubscribeDraining> for Agent<E> {
    type Result = MessageResult<SubscribeDraining>;

    fn handle(
        &mut self,
        SubscribeDraining(to): SubscribeDraining,
        ctx: &mut Context<Self>,
    ) -> Self::Result {
        let number = self.belief.audience().number();
        self.welcome(number, &to, Part::Works);
        MessageResult(DrainingToken::new(ctx.address().recipient(), number))
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
