//! An election without time: every timer may fire as soon as it is set, and no message need ever
//! arrive.
//!
//! Decided here: how a machine plays an actor of the model checker. Each has a clock of its own that
//! jumps to the deadline of the timer that fires, so the machine sees a time that fits; nothing can
//! be said here about time itself ([`crate::timed`] is for that). Two things are looked for: what
//! needs synchrony must be found broken, and what needs none must hold.

use std::{
    borrow::Cow,
    cmp::Ordering,
    collections::{BTreeMap, VecDeque},
    hash::{Hash, Hasher},
    sync::Arc,
};

use bully_core::protocol::{
    Birth, Effect, EffectOf, EffectsOf, Election, Identity, Incarnation, Input, InputOf, Member,
    MemberKind, Members, PeerMessage, Time, To,
};
use stateright::{
    Expectation,
    actor::{Actor, ActorModel, ActorModelState, Id, Network, Out, model_timeout},
};

use crate::{
    relative::{at, digest},
    rules::{DurableOf, MessageOf, Rules, Seen, TimerOf, name, position},
    timed::SOUND,
};

/// What has to happen somewhere.
pub const TELLING: &str = "an agent is elected";

/// One agent's side of an election, played by an actor of the model checker.
#[derive(Clone, Debug)]
pub struct Player<R> {
    rules: R,
    members: Arc<Members>,
}

/// What an actor of the model knows.
#[derive(Clone, Debug)]
pub struct ActorState<R: Rules> {
    /// The machine.
    pub machine: R::Election,
    /// What its clock shows.
    pub now: Time,
    dues: BTreeMap<TimerOf<R>, Time>,
    kept: Kept<R>,
    effort: u64,
    /// Whether the model looks any further than its ledger.
    is_near: bool,
    digest: u64,
}

/// What outlives a crash: the disk, and the ledger, which only the model reads.
#[derive(Clone, Debug)]
pub struct Kept<R: Rules> {
    disk: Option<DurableOf<R>>,
    ledger: R::Ledger,
    incarnation: Incarnation,
}

/// A message, and its text, by which the checker sorts.
#[derive(Clone, Debug)]
pub struct Said<M> {
    /// The message.
    pub message: M,
    incarnation: Incarnation,
    text: Arc<str>,
}

/// What may fire.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Alarm<T> {
    /// The user tells it to hold an election.
    Campaign,
    /// A timer of the machine.
    Of(T),
}

/// A group of actors of the model checker.
pub type Actors<R> = ActorModel<Player<R>, Reach>;

/// How far a search goes.
#[derive(Clone, Copy, Debug)]
pub struct Reach {
    /// How many agents.
    pub n: usize,
    /// The furthest that one agent comes; see [`Rules::effort`].
    pub effort: u64,
    /// The most that is on its way at once; what lies beyond is not looked at.
    pub wire: usize,
    /// The most that are down at once.
    pub crashes: usize,
    /// The most incarnations that one agent has.
    pub incarnations: u64,
}

impl Reach {
    /// No bound on what is on its way, and no agent crashes.
    pub fn new(n: usize, effort: u64) -> Self {
        Self {
            n,
            effort,
            wire: usize::MAX,
            crashes: 0,
            incarnations: 1,
        }
    }
}

/// Agents that play by these rules, under what holds without synchrony.
pub fn actors<R: Rules>(rules: &R, reach: Reach) -> Actors<R> {
    let mut members = Members::new(false);
    let member = |k| Member::up(name(k), MemberKind::Voter, rules.score(k), Incarnation(1));
    members.join((0..reach.n).map(member));
    let player = Player {
        rules: rules.clone(),
        members: Arc::new(members),
    };
    ActorModel::new(reach, ())
        .actors(vec![player; reach.n])
        .init_network(Network::new_unordered_nonduplicating([]))
        .max_crashes(reach.crashes)
        .property(Expectation::Always, SOUND, |model, state| {
            judged(model, state, R::broken_without_time).is_none()
        })
        .property(Expectation::Sometimes, TELLING, |model, state| {
            judged(model, state, R::is_telling_without_time)
        })
        .within_boundary(|reach, state| {
            let is_near = |actor: &Arc<ActorState<R>>| {
                actor.effort <= reach.effort
                    && actor.is_near
                    && actor.kept.incarnation.0 <= reach.incarnations
            };
            state.network.len() <= reach.wire && state.actor_states.iter().all(is_near)
        })
}

/// Which invariant does not hold.
pub fn broken<R: Rules>(
    model: &Actors<R>,
    state: &ActorModelState<Player<R>>,
) -> Option<&'static str> {
    judged(model, state, R::broken_without_time)
}

/// What the rules say of the leaders, and of every agent's ledger.
fn judged<R: Rules, T>(
    model: &Actors<R>,
    state: &ActorModelState<Player<R>>,
    judge: impl Fn(&R, &[(usize, u64)], &[&R::Ledger]) -> T,
) -> T {
    let all_actors = || state.actor_states.iter().enumerate();
    // An agent that crashed keeps its last state; its ledger counts, its belief does not.
    let leads = |(agent, actor): (usize, &Arc<ActorState<R>>)| {
        let leading = actor.machine.view(actor.now).leading;
        leading
            .filter(|_| !state.crashed[agent])
            .map(|term| (agent, term.0))
    };
    let believers: Vec<_> = all_actors().filter_map(leads).collect();
    let ledger: Vec<_> = all_actors().map(|(_, actor)| &actor.kept.ledger).collect();
    judge(&model.actors[0].rules, &believers, &ledger)
}

impl<R: Rules> Actor for Player<R> {
    type Msg = Said<MessageOf<R>>;
    type Timer = Alarm<TimerOf<R>>;
    type State = ActorState<R>;
    type Storage = Kept<R>;
    type Random = ();

    fn on_start(&self, id: Id, storage: &Option<Kept<R>>, out: &mut Out<Self>) -> ActorState<R> {
        let agent = usize::from(id);
        let mut kept = storage.clone().unwrap_or_default();
        let birth = match kept.incarnation {
            Incarnation(0) => Birth::Started,
            _ => Birth::Restarted,
        };
        kept.incarnation = kept.incarnation.next();
        let identity = Identity {
            id: name(agent),
            incarnation: kept.incarnation,
            kind: MemberKind::Voter,
            score: self.rules.score(agent),
            birth,
            store: None,
        };
        let mut actor = ActorState {
            machine: R::Election::new(
                identity,
                self.rules.config_of(agent, kept.incarnation),
                kept.disk.clone(),
            ),
            now: at(0),
            dues: BTreeMap::new(),
            kept,
            effort: 0,
            is_near: true,
            digest: 0,
        };
        if self.rules.waits_for_wishes() {
            out.set_timer(Alarm::Campaign, model_timeout());
        }
        let mut inputs = vec![Input::Start(Arc::clone(&self.members))];
        inputs.extend(self.rules.taught(agent));
        self.play(agent, &mut actor, inputs, None, out);
        out.save(actor.kept.clone());
        actor
    }

    fn on_msg(
        &self,
        id: Id,
        actor: &mut Cow<'_, ActorState<R>>,
        src: Id,
        said: Self::Msg,
        out: &mut Out<Self>,
    ) {
        let src = usize::from(src);
        let mut next = ActorState::clone(actor);
        let heard = Some((src, said.message.clone()));
        let input = Input::Received {
            from: name(src),
            incarnation: said.incarnation,
            message: said.message,
        };
        let was_idle = self.play(usize::from(id), &mut next, vec![input], heard, out);
        if was_idle && next == **actor {
            return; // left borrowed, so that the checker sees that nothing happened
        }
        *actor = Cow::Owned(next);
    }

    fn on_timeout(
        &self,
        id: Id,
        actor: &mut Cow<'_, ActorState<R>>,
        alarm: &Self::Timer,
        out: &mut Out<Self>,
    ) {
        let mut next = ActorState::clone(actor);
        let input = match alarm {
            Alarm::Campaign => Input::Campaign,
            Alarm::Of(timer) => {
                let due = next.dues.remove(timer).unwrap_or(next.now);
                next.now = next.now.max(due);
                Input::TimedOut(*timer)
            }
        };
        self.play(usize::from(id), &mut next, vec![input], None, out);
        *actor = Cow::Owned(next);
    }
}

impl<R: Rules> Player<R> {
    /// Inputs, and what follows from them at once; whether nothing did.
    fn play(
        &self,
        agent: usize,
        actor: &mut ActorState<R>,
        inputs: Vec<InputOf<R::Election>>,
        mut heard: Option<(usize, MessageOf<R>)>,
        out: &mut Out<Self>,
    ) -> bool {
        let mut inputs = VecDeque::from(inputs);
        let mut was_idle = true;
        while let Some(input) = inputs.pop_front() {
            let mut effects = EffectsOf::<R::Election>::new();
            actor.machine.handle(actor.now, input, &mut effects);
            let heard = heard.take();
            for effect in effects.drain() {
                was_idle = false;
                if let Some(answers) = self.rules.shortcut(0, &effect) {
                    inputs.extend(answers);
                    continue;
                }
                let seen = Seen {
                    agent,
                    incarnation: actor.kept.incarnation,
                    heard: heard.as_ref().map(|(from, message)| (*from, message)),
                    heard_of: Incarnation(1),
                    disk: actor.kept.disk.as_ref(),
                    effect: &effect,
                };
                self.rules.note(&mut actor.kept.ledger, &seen);
                self.carry_out(agent, actor, effect, out);
            }
        }
        let seen = (&actor.machine, &actor.dues, actor.effort, &actor.kept);
        actor.is_near = self.rules.is_within(&actor.kept.ledger);
        actor.digest = digest(&seen, actor.now, self.rules.memory());
        if !was_idle {
            out.save(actor.kept.clone());
        }
        was_idle
    }

    fn carry_out(
        &self,
        agent: usize,
        actor: &mut ActorState<R>,
        effect: EffectOf<R::Election>,
        out: &mut Out<Self>,
    ) {
        match effect {
            Effect::Send { to, message } => {
                actor.effort = actor.effort.max(R::effort(&message));
                let said = Said::new(message, actor.kept.incarnation);
                for to in self.receivers(agent, &to) {
                    out.send(Id::from(to), said.clone());
                }
            }
            Effect::SetTimer { timer, after } => {
                actor.dues.insert(timer, actor.now.after(after.min));
                out.set_timer(Alarm::Of(timer), model_timeout());
            }
            Effect::CancelTimer(timer) => {
                actor.dues.remove(&timer);
                out.cancel_timer(Alarm::Of(timer));
            }
            Effect::Persist(record) => actor.kept.disk = Some(record),
            // A store is a member of its world.
            Effect::Notify(_) | Effect::Ask(_) => {}
        }
    }

    fn receivers(&self, agent: usize, to: &To) -> Vec<usize> {
        match to {
            To::One(id) => vec![position(id)],
            To::All => (0..self.members.len()).filter(|to| *to != agent).collect(),
            To::Set(ids) => ids.iter().map(position).collect(),
        }
    }
}

// ---- What the checker asks of what it is given ---------------------------------------------

impl<R: Rules> PartialEq for ActorState<R> {
    fn eq(&self, other: &Self) -> bool {
        self.digest == other.digest
    }
}

impl<R: Rules> Hash for ActorState<R> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(self.digest);
    }
}

impl<R: Rules> Default for Kept<R> {
    fn default() -> Self {
        Self {
            disk: None,
            ledger: R::Ledger::default(),
            incarnation: Incarnation(0),
        }
    }
}

impl<R: Rules> PartialEq for Kept<R> {
    fn eq(&self, other: &Self) -> bool {
        (&self.disk, &self.ledger, self.incarnation)
            == (&other.disk, &other.ledger, other.incarnation)
    }
}

impl<R: Rules> Hash for Kept<R> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (&self.disk, &self.ledger, self.incarnation).hash(state);
    }
}

impl<M: PeerMessage> Said<M> {
    fn new(message: M, incarnation: Incarnation) -> Self {
        let text = format!("{message:?} {incarnation}").into();
        Self {
            message,
            incarnation,
            text,
        }
    }
}

impl<M> PartialEq for Said<M> {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl<M> Eq for Said<M> {}

impl<M: Hash> Hash for Said<M> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (&self.message, self.incarnation).hash(state);
    }
}

impl<M> PartialOrd for Said<M> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<M> Ord for Said<M> {
    fn cmp(&self, other: &Self) -> Ordering {
        self.text.cmp(&other.text)
    }
}
