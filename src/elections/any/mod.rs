//! Both modes behind one type: the configuration decides, everything else is the same.
//!
//! Decided here: nothing but the way from one machine to the other. See [`bully`]
//! and [`quorum`] for what each promises.

use std::sync::Arc;

use super::{
    bully::{self, Bully, BullyConfig},
    message::BullyMessage,
    quorum::{self, QuorumBully, QuorumConfig, Vote},
};
use crate::protocol::{Effect, Effects, Election, Identity, Input, Time, View};

/// One agent's side of a bully election, in the mode that its configuration chose.
#[derive(Debug, Clone)]
pub enum AnyBully {
    /// The highest-ranked agent that can be reached leads.
    Available(Box<Joined<Bully>>),
    /// At most one agent believes that it leads.
    Quorum(Box<Joined<QuorumBully>>),
}

/// The parameters of one mode or the other.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum AnyConfig {
    /// See [`BullyConfig`].
    Available(Arc<BullyConfig>),
    /// See [`QuorumConfig`].
    Quorum(Arc<QuorumConfig>),
}

/// The timers of both modes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum AnyTimer {
    /// See [`bully::Timer`].
    Available(bully::Timer),
    /// See [`quorum::Timer`].
    Quorum(quorum::Timer),
}

/// A machine and the room for the effects of its steps, which is used again.
#[derive(Debug)]
pub struct Joined<E: Election> {
    machine: E,
    effects: Effects<E>,
}

impl<E: Election> Joined<E> {
    fn new(identity: Identity, config: &E::Config, durable: Option<E::Durable>) -> Self {
        Self {
            machine: E::new(identity, config, durable),
            effects: Effects::new(),
        }
    }

    /// The machine itself.
    pub const fn machine(&self) -> &E {
        &self.machine
    }
}

impl<E: Election + Clone> Clone for Joined<E> {
    fn clone(&self) -> Self {
        Self {
            machine: self.machine.clone(),
            effects: Effects::new(), // empty between steps
        }
    }
}

impl<E: Election<Message = BullyMessage>> Joined<E> {
    /// One step; `timer` picks the machine's own timers, the other two translate its effects.
    fn handle(
        &mut self,
        now: Time,
        input: Input<AnyBully>,
        out: &mut Effects<AnyBully>,
        way: &Way<E>,
    ) {
        let input = match input {
            Input::Start(members) => Input::Start(members),
            Input::Received {
                from,
                incarnation,
                message,
            } => Input::Received {
                from,
                incarnation,
                message,
            },
            Input::TimedOut(timer) => match (way.inward)(timer) {
                Some(timer) => Input::TimedOut(timer),
                None => return, // the other mode's, which never set one
            },
            Input::Members(members) => Input::Members(members),
            Input::Campaign => Input::Campaign,
            Input::SetScore(score) => Input::SetScore(score),
            Input::StepDown { to } => Input::StepDown { to },
            Input::Drained => Input::Drained,
        };
        self.machine.handle(now, input, &mut self.effects);
        for effect in self.effects.drain() {
            match effect {
                Effect::Persist(record) => {
                    if let Some(vote) = (way.record)(record) {
                        out.persist(vote);
                    }
                }
                Effect::Send { to, message } => out.send_to(to, message),
                Effect::SetTimer { timer, after } => out.set_timer((way.outward)(timer), after),
                Effect::CancelTimer(timer) => out.cancel_timer((way.outward)(timer)),
                Effect::Notify(event) => out.notify(event),
            }
        }
    }
}

/// How one machine's timers and record are called outside.
struct Way<E: Election> {
    inward: fn(AnyTimer) -> Option<E::Timer>,
    outward: fn(E::Timer) -> AnyTimer,
    record: fn(E::Durable) -> Option<Vote>,
}

const AVAILABLE: Way<Bully> = Way {
    inward: |timer| match timer {
        AnyTimer::Available(timer) => Some(timer),
        AnyTimer::Quorum(_) => None,
    },
    outward: AnyTimer::Available,
    record: |()| None,
};

const QUORUM: Way<QuorumBully> = Way {
    inward: |timer| match timer {
        AnyTimer::Quorum(timer) => Some(timer),
        AnyTimer::Available(_) => None,
    },
    outward: AnyTimer::Quorum,
    record: Some,
};

impl Election for AnyBully {
    type Message = BullyMessage;
    type Timer = AnyTimer;
    type Durable = Vote;
    type Config = AnyConfig;

    fn new(identity: Identity, config: &AnyConfig, durable: Option<Vote>) -> Self {
        match config {
            AnyConfig::Available(config) => {
                Self::Available(Box::new(Joined::new(identity, config, None)))
            }
            AnyConfig::Quorum(config) => {
                Self::Quorum(Box::new(Joined::new(identity, config, durable)))
            }
        }
    }

    fn handle(&mut self, now: Time, input: Input<Self>, out: &mut Effects<Self>) {
        match self {
            Self::Available(joined) => joined.handle(now, input, out, &AVAILABLE),
            Self::Quorum(joined) => joined.handle(now, input, out, &QUORUM),
        }
    }

    fn view(&self, now: Time) -> View {
        match self {
            Self::Available(joined) => joined.machine.view(now),
            Self::Quorum(joined) => joined.machine.view(now),
        }
    }
}

#[cfg(test)]
mod tests;
