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

use actix_bully::protocol::{
    Birth, Effect, EffectOf, EffectsOf, Election, Identity, Incarnation, Input, InputOf, Member,
    MemberKind, Members, PeerMessage, Time, To,
};
use stateright::{
    Expectation,
    actor::{Actor, ActorModel, ActorModelState, Id, Network, Out, model_timeout},
};

use crate::{
    relative::{at, digest},
    rules::{DurableOf, MessageOf, Rules, Seen, TimerOf, name, place},
    timed::SOUND,
};

/// What has to happen somewhere.
pub const TELLING: &str = "somebody is elected";

/// One agent's side of an election, played by an actor of the model checker.
#[derive(Clone, Debug)]
pub struct Player<R> {
    rules: R,
    members: Arc<Members>,
}

/// What an actor of the model knows.
#[derive(Clone, Debug)]
pub struct Seat<R: Rules> {
    /// The machine.
    pub machine: R::Election,
    /// What its clock shows.
    pub now: Time,
    dues: BTreeMap<TimerOf<R>, Time>,
    kept: Kept<R>,
    effort: u64,
    /// Whether the model looks any further than its books.
    is_near: bool,
    digest: u64,
}

/// What outlives a crash: the disk, and the books, which nobody but the model reads.
#[derive(Clone, Debug)]
pub struct Kept<R: Rules> {
    disk: Option<DurableOf<R>>,
    books: R::Books,
    life: Incarnation,
}

/// A message, and its text, by which the checker sorts.
#[derive(Clone, Debug)]
pub struct Said<M> {
    /// The message.
    pub message: M,
    life: Incarnation,
    text: Arc<str>,
}

/// What may fire.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Alarm<T> {
    /// The user wishes an election.
    Wish,
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
    /// The most lives that one agent has.
    pub lives: u64,
}

impl Reach {
    /// No bound on what is on its way, and nobody crashes.
    pub fn new(n: usize, effort: u64) -> Self {
        Self {
            n,
            effort,
            wire: usize::MAX,
            crashes: 0,
            lives: 1,
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
            let is_near = |seat: &Arc<Seat<R>>| {
                seat.effort <= reach.effort && seat.is_near && seat.kept.life.0 <= reach.lives
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

/// What the rules say of those who lead, and of everybody's books.
fn judged<R: Rules, T>(
    model: &Actors<R>,
    state: &ActorModelState<Player<R>>,
    judge: impl Fn(&R, &[(usize, u64)], &[&R::Books]) -> T,
) -> T {
    let seats = || state.actor_states.iter().enumerate();
    // The seat of who crashed keeps its last state; its books count, its belief does not.
    let leads = |(who, seat): (usize, &Arc<Seat<R>>)| {
        let leading = seat.machine.view(seat.now).leading;
        leading
            .filter(|_| !state.crashed[who])
            .map(|term| (who, term.0))
    };
    let believers: Vec<_> = seats().filter_map(leads).collect();
    let books: Vec<_> = seats().map(|(_, seat)| &seat.kept.books).collect();
    judge(&model.actors[0].rules, &believers, &books)
}

impl<R: Rules> Actor for Player<R> {
    type Msg = Said<MessageOf<R>>;
    type Timer = Alarm<TimerOf<R>>;
    type State = Seat<R>;
    type Storage = Kept<R>;
    type Random = ();

    fn on_start(&self, id: Id, storage: &Option<Kept<R>>, out: &mut Out<Self>) -> Seat<R> {
        let who = usize::from(id);
        let mut kept = storage.clone().unwrap_or_default();
        let birth = match kept.life {
            Incarnation(0) => Birth::Started,
            _ => Birth::Restarted,
        };
        kept.life = kept.life.next();
        let identity = Identity {
            id: name(who),
            incarnation: kept.life,
            kind: MemberKind::Voter,
            score: self.rules.score(who),
            birth,
        };
        let mut seat = Seat {
            machine: R::Election::new(
                identity,
                self.rules.config_of(who, kept.life),
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
            out.set_timer(Alarm::Wish, model_timeout());
        }
        let mut inputs = vec![Input::Start(Arc::clone(&self.members))];
        inputs.extend(self.rules.taught(who));
        self.play(who, &mut seat, inputs, None, out);
        out.save(seat.kept.clone());
        seat
    }

    fn on_msg(
        &self,
        id: Id,
        seat: &mut Cow<'_, Seat<R>>,
        src: Id,
        said: Self::Msg,
        out: &mut Out<Self>,
    ) {
        let src = usize::from(src);
        let mut next = Seat::clone(seat);
        let heard = Some((src, said.message.clone()));
        let input = Input::Received {
            from: name(src),
            incarnation: said.life,
            message: said.message,
        };
        let was_idle = self.play(usize::from(id), &mut next, vec![input], heard, out);
        if was_idle && next == **seat {
            return; // left borrowed, so that the checker sees that nothing happened
        }
        *seat = Cow::Owned(next);
    }

    fn on_timeout(
        &self,
        id: Id,
        seat: &mut Cow<'_, Seat<R>>,
        alarm: &Self::Timer,
        out: &mut Out<Self>,
    ) {
        let mut next = Seat::clone(seat);
        let input = match alarm {
            Alarm::Wish => Input::Campaign,
            Alarm::Of(timer) => {
                let due = next.dues.remove(timer).unwrap_or(next.now);
                next.now = next.now.max(due);
                Input::TimedOut(*timer)
            }
        };
        self.play(usize::from(id), &mut next, vec![input], None, out);
        *seat = Cow::Owned(next);
    }
}

impl<R: Rules> Player<R> {
    /// Inputs, and what follows from them at once; whether nothing did.
    fn play(
        &self,
        who: usize,
        seat: &mut Seat<R>,
        inputs: Vec<InputOf<R::Election>>,
        mut heard: Option<(usize, MessageOf<R>)>,
        out: &mut Out<Self>,
    ) -> bool {
        let mut inputs = VecDeque::from(inputs);
        let mut was_idle = true;
        while let Some(input) = inputs.pop_front() {
            let mut effects = EffectsOf::<R::Election>::new();
            seat.machine.handle(seat.now, input, &mut effects);
            let heard = heard.take();
            for effect in effects.drain() {
                was_idle = false;
                if let Some(answers) = self.rules.shortcut(&effect) {
                    inputs.extend(answers);
                    continue;
                }
                let seen = Seen {
                    who,
                    life: seat.kept.life,
                    heard: heard.as_ref().map(|(from, message)| (*from, message)),
                    disk: seat.kept.disk.as_ref(),
                    effect: &effect,
                };
                self.rules.note(&mut seat.kept.books, &seen);
                self.carry_out(who, seat, effect, out);
            }
        }
        let seen = (&seat.machine, &seat.dues, seat.effort, &seat.kept);
        seat.is_near = self.rules.is_within(&seat.kept.books);
        seat.digest = digest(&seen, seat.now, self.rules.memory());
        if !was_idle {
            out.save(seat.kept.clone());
        }
        was_idle
    }

    fn carry_out(
        &self,
        who: usize,
        seat: &mut Seat<R>,
        effect: EffectOf<R::Election>,
        out: &mut Out<Self>,
    ) {
        match effect {
            Effect::Send { to, message } => {
                seat.effort = seat.effort.max(R::effort(&message));
                let said = Said::new(message, seat.kept.life);
                for to in self.receivers(who, &to) {
                    out.send(Id::from(to), said.clone());
                }
            }
            Effect::SetTimer { timer, after } => {
                seat.dues.insert(timer, seat.now.after(after.min));
                out.set_timer(Alarm::Of(timer), model_timeout());
            }
            Effect::CancelTimer(timer) => {
                seat.dues.remove(&timer);
                out.cancel_timer(Alarm::Of(timer));
            }
            Effect::Persist(record) => seat.kept.disk = Some(record),
            Effect::Notify(_) => {}
        }
    }

    fn receivers(&self, who: usize, to: &To) -> Vec<usize> {
        match to {
            To::One(id) => vec![place(id)],
            To::All => (0..self.members.len()).filter(|to| *to != who).collect(),
            To::Set(ids) => ids.iter().map(place).collect(),
        }
    }
}

// ---- What the checker asks of what it is given ---------------------------------------------

impl<R: Rules> PartialEq for Seat<R> {
    fn eq(&self, other: &Self) -> bool {
        self.digest == other.digest
    }
}

impl<R: Rules> Hash for Seat<R> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(self.digest);
    }
}

impl<R: Rules> Default for Kept<R> {
    fn default() -> Self {
        Self {
            disk: None,
            books: R::Books::default(),
            life: Incarnation(0),
        }
    }
}

impl<R: Rules> PartialEq for Kept<R> {
    fn eq(&self, other: &Self) -> bool {
        (&self.disk, &self.books, self.life) == (&other.disk, &other.books, other.life)
    }
}

impl<R: Rules> Hash for Kept<R> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (&self.disk, &self.books, self.life).hash(state);
    }
}

impl<M: PeerMessage> Said<M> {
    fn new(message: M, life: Incarnation) -> Self {
        let text = format!("{message:?} {life}").into();
        Self {
            message,
            life,
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
        (&self.message, self.life).hash(state);
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
