//! A bully without time: every timer may fire as soon as it is set, and no message need ever arrive.
//!
//! Decided here: how a machine plays an actor of the model checker. Each has a clock of its own that
//! jumps to the deadline of the timer that fires, so the machine sees a time that fits; nothing can
//! be said here about time itself (`timed` is for that). What is looked for: without synchrony two may
//! lead at once, and the checker has to find it.

use std::{
    borrow::Cow,
    cmp::Ordering,
    collections::BTreeMap,
    fmt::Write,
    hash::{Hash, Hasher},
    sync::Arc,
    time::Duration,
};

use actix_bully::{
    elections::{
        bully::{Bully, BullyConfig, Profile, Timer},
        message::BullyMessage,
    },
    protocol::{
        Birth, Effect, EffectsOf, Election, Identity, Incarnation, Input, InputOf, Member,
        MemberKind, Members, Score, Time, To,
    },
};
use stateright::{
    Expectation, Path,
    actor::{
        Actor, ActorModel, ActorModelAction, ActorModelState, Id, Network, Out, model_timeout,
    },
};

use crate::{
    relative::{at, digest},
    timed::{belief, name, place},
};

/// One agent's side of a bully election, played by an actor of the model checker.
#[derive(Clone, Debug)]
pub struct Player {
    config: Arc<BullyConfig>,
    members: Arc<Members>,
}

/// What an actor of the model knows.
#[derive(Clone, Debug, PartialEq)]
pub struct Seat {
    machine: Bully,
    now: Time,
    dues: BTreeMap<Timer, Time>,
    /// How many elections it has held.
    rounds: u64,
    /// Whether its user has wished for one.
    wished: bool,
    strict: bool,
}

/// A message, in some order that the checker asks for.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Said(BullyMessage);

/// What may fire.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Alarm {
    /// The user wishes an election (the strict rules begin none of themselves).
    Wish,
    /// A timer of the machine.
    Of(Timer),
}

/// A group of actors of the model checker.
pub type Actors = ActorModel<Player, Reach>;

/// How far a search goes.
#[derive(Clone, Copy, Debug)]
pub struct Reach {
    /// The most elections that one agent holds.
    pub rounds: u64,
}

/// At most one leads.
pub const ONE: &str = "at most one leads";
/// When nothing will happen any more, all follow the most important one.
pub const AGREED: &str = "at rest all agree";

/// `n` agents that play by these rules; `property` is held against them.
pub fn actors(n: usize, config: BullyConfig, reach: Reach, property: &'static str) -> Actors {
    let mut members = Members::new(false);
    members.join((0..n).map(|k| Member::up(name(k), MemberKind::Voter, score(k), Incarnation(1))));
    let player = Player {
        config: Arc::new(config),
        members: Arc::new(members),
    };
    let condition = if property == ONE { at_most_one } else { agreed };
    ActorModel::new(reach, ())
        .actors(vec![player; n])
        .init_network(Network::new_unordered_nonduplicating([]))
        .property(Expectation::Always, property, condition)
        .within_boundary(|reach, state| {
            state
                .actor_states
                .iter()
                .all(|seat| seat.rounds <= reach.rounds)
        })
}

fn score(k: usize) -> Option<Score> {
    Some(Score::from(u32::try_from(k).unwrap_or(0)))
}

fn at_most_one(_: &Actors, state: &ActorModelState<Player>) -> bool {
    let leads = |seat: &&Arc<Seat>| seat.machine.view(seat.now).leading.is_some();
    state.actor_states.iter().filter(leads).count() <= 1
}

fn agreed(_: &Actors, state: &ActorModelState<Player>) -> bool {
    let idle = |alarm: &Alarm| *alarm == Alarm::Wish;
    let busy = state.network.len() > 0 || !state.timers_set.iter().all(|t| t.iter().all(idle));
    if busy || !state.actor_states.iter().any(|seat| seat.wished) {
        return true;
    }
    let best = name(state.actor_states.len() - 1);
    let follows = |seat: &Arc<Seat>| {
        let leader = seat.machine.view(seat.now).leader;
        leader.is_some_and(|leader| leader.id == best)
    };
    state.actor_states.iter().all(follows)
}

impl Actor for Player {
    type Msg = Said;
    type Timer = Alarm;
    type State = Seat;
    type Storage = ();
    type Random = ();

    fn on_start(&self, id: Id, _storage: &Option<()>, out: &mut Out<Self>) -> Seat {
        let who = usize::from(id);
        let identity = Identity {
            id: name(who),
            incarnation: Incarnation(1),
            kind: MemberKind::Voter,
            score: score(who),
            birth: Birth::Started,
        };
        let mut seat = Seat {
            machine: Bully::new(identity, &self.config, None),
            now: at(0),
            dues: BTreeMap::new(),
            rounds: 0,
            wished: false,
            strict: self.config.profile == Profile::Strict,
        };
        if seat.strict {
            out.set_timer(Alarm::Wish, model_timeout());
        }
        let effects = seat.handle(Input::Start(Arc::clone(&self.members)));
        self.carry_out(who, &mut seat, effects, out);
        seat
    }

    fn on_msg(&self, id: Id, seat: &mut Cow<'_, Seat>, src: Id, said: Said, out: &mut Out<Self>) {
        let mut next = Seat::clone(seat);
        let effects = next.handle(Input::Received {
            from: name(usize::from(src)),
            incarnation: Incarnation(1),
            message: said.0,
        });
        if effects.is_empty() && next == **seat {
            return; // left borrowed, so that the checker sees that nothing happened
        }
        self.carry_out(usize::from(id), &mut next, effects, out);
        *seat = Cow::Owned(next);
    }

    fn on_timeout(&self, id: Id, seat: &mut Cow<'_, Seat>, alarm: &Alarm, out: &mut Out<Self>) {
        let mut next = Seat::clone(seat);
        let effects = match alarm {
            Alarm::Wish => {
                next.wished = true;
                next.handle(Input::Campaign)
            }
            Alarm::Of(timer) => {
                let due = next.dues.remove(timer).unwrap_or(next.now);
                next.now = next.now.max(due);
                next.handle(Input::TimedOut(*timer))
            }
        };
        self.carry_out(usize::from(id), &mut next, effects, out);
        *seat = Cow::Owned(next);
    }
}

impl Player {
    fn carry_out(
        &self,
        who: usize,
        seat: &mut Seat,
        mut effects: EffectsOf<Bully>,
        out: &mut Out<Self>,
    ) {
        for effect in effects.drain() {
            match effect {
                Effect::Send { to, message } => {
                    if let BullyMessage::Elect(elect) = &message {
                        seat.rounds = seat.rounds.max(elect.round.counter);
                    }
                    for to in self.receivers(who, &to) {
                        out.send(Id::from(to), Said(message.clone()));
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
                Effect::Persist(_) | Effect::Notify(_) => {}
            }
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

impl Seat {
    fn handle(&mut self, input: InputOf<Bully>) -> EffectsOf<Bully> {
        let mut effects = EffectsOf::<Bully>::new();
        self.machine.handle(self.now, input, &mut effects);
        effects
    }
}

impl Hash for Seat {
    fn hash<H: Hasher>(&self, state: &mut H) {
        let seen = (&self.machine, &self.dues, self.rounds, self.wished);
        // By the strict rules a deadline has passed or it has not; by the others its age counts.
        let memory = if self.strict {
            Duration::ZERO
        } else {
            Duration::MAX
        };
        state.write_u64(digest(&seen, self.now, memory));
    }
}

impl PartialOrd for Said {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Said {
    fn cmp(&self, other: &Self) -> Ordering {
        format!("{self:?}").cmp(&format!("{other:?}"))
    }
}

/// A path as text: what happened, and what everybody believed then.
pub fn trace(path: Path<ActorModelState<Player>, ActorModelAction<Said, Alarm, ()>>) -> String {
    let steps: Vec<_> = path.into();
    let beliefs = |state: &ActorModelState<Player>| -> Vec<String> {
        let seats = state.actor_states.iter().enumerate();
        seats
            .map(|(who, seat)| belief(&name(who), &seat.machine.view(seat.now)))
            .collect()
    };
    let mut text = String::new();
    for pair in steps.windows(2) {
        let [(state, Some(action)), (next, _)] = pair else {
            continue;
        };
        let told = match action {
            ActorModelAction::Deliver { src, dst, msg } => {
                format!(
                    "{} <- {}  {}",
                    name((*dst).into()),
                    name((*src).into()),
                    msg.0
                )
            }
            ActorModelAction::Timeout(id, Alarm::Wish) => {
                format!("{}       is wished to hold an election", name((*id).into()))
            }
            ActorModelAction::Timeout(id, Alarm::Of(timer)) => {
                format!("{}       {timer:?} is due", name((*id).into()))
            }
            other => format!("{other:?}"),
        };
        let changed = beliefs(next).into_iter().zip(beliefs(state));
        let changed: Vec<String> = changed
            .filter(|(now, before)| now != before)
            .map(|(now, _)| now)
            .collect();
        let line = format!("{told:<50}  {}", changed.join("; "));
        writeln!(text, "{}", line.trim_end()).expect("a string takes everything");
    }
    text
}
