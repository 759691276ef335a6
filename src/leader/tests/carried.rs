//! An election that carries an application: to the simulator they are one machine.
//!
//! Decided here: nothing about either. What the application says goes the ways of the election's messages, its record
//! is stored beside the election's, and it is shown what a handle would show: a leadership that has run out by the
//! agent's clock is none.

use std::{collections::VecDeque, fmt, mem, sync::Arc, time::Duration};

use super::{AppEffect, Application, Here, Said};
use crate::protocol::{
    AgentId, Effect, Effects, EffectsOf, Election, Event, Identity, Incarnation, Input, InputOf,
    MemberKind, Members, MembershipError, MinimumRole, PeerMessage, Requirements, Term, Time, View,
};

/// See the [module](self).
#[derive(Debug)]
pub(in crate::leader) struct Carried<E: Election, A: Application> {
    id: AgentId,
    incarnation: Incarnation,
    election: E,
    shared: A::Shared,
    kept: CarriedRecord<E::Durable, A::Record>,
    effects: EffectsOf<E>,
    /// What the election showed after its last step: what it tells follows from its steps, and the application has some
    /// in between. That a leadership has run out since then is for those who read it.
    view: View,
    members: Arc<Members>,
    tenure: u64,
    is_draining: bool,
    /// From the start on.
    application: Option<A>,
}

#[derive(Clone, Debug)]
pub(in crate::leader) struct CarriedConfig<C, S> {
    pub(in crate::leader) election: C,
    pub(in crate::leader) shared: S,
}

#[derive(Clone, Debug, PartialEq)]
pub(in crate::leader) struct CarriedRecord<D, R> {
    election: Option<D>,
    application: R,
}

#[derive(Clone, Debug, PartialEq, Hash)]
pub(in crate::leader) enum CarriedMessage<M, S> {
    Election(M),
    Application(S),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::leader) enum CarriedTimer<T> {
    Election(T),
    Application,
}

impl<E: Election, A: Application> Election for Carried<E, A> {
    type Message = CarriedMessage<E::Message, A::Message>;
    type Timer = CarriedTimer<E::Timer>;
    type Ask = E::Ask;
    type Told = E::Told;
    type Durable = CarriedRecord<E::Durable, A::Record>;
    type Config = CarriedConfig<E::Config, A::Shared>;

    fn new(identity: Identity, config: &Self::Config, durable: Option<Self::Durable>) -> Self {
        let kept = durable.unwrap_or_else(|| CarriedRecord {
            election: None,
            application: A::Record::default(),
        });
        let (id, incarnation) = (identity.id.clone(), identity.incarnation);
        let election = E::new(identity, &config.election, kept.election.clone());
        Self {
            id,
            incarnation,
            view: election.view(Time::ZERO),
            election,
            shared: config.shared.clone(),
            kept,
            effects: Effects::default(),
            members: Arc::new(Members::new(false)),
            tenure: 0,
            is_draining: false,
            application: None,
        }
    }

    fn note_write(&mut self, took: Duration) {
        self.election.note_write(took);
    }

    fn handle(&mut self, now: Time, input: InputOf<Self>, out: &mut EffectsOf<Self>) {
        if let Input::Start(members) | Input::Members(members) = &input {
            self.members = Arc::clone(members);
        }
        let mut said = VecDeque::new();
        let input = match input {
            Input::Received {
                from,
                incarnation,
                message: CarriedMessage::Application(message),
            } => {
                said.push_back((from, incarnation, message));
                None
            }
            Input::Received {
                from,
                incarnation,
                message: CarriedMessage::Election(message),
            } => Some(Input::Received {
                from,
                incarnation,
                message,
            }),
            Input::Told(answer) => Some(Input::Told(answer)),
            Input::TimedOut(CarriedTimer::Application) => None,
            Input::TimedOut(CarriedTimer::Election(timer)) => Some(Input::TimedOut(timer)),
            Input::Start(members) => Some(Input::Start(members)),
            Input::Members(members) => Some(Input::Members(members)),
            Input::Campaign => Some(Input::Campaign),
            Input::SetScore(score) => Some(Input::SetScore(score)),
            Input::StepDown { to } => Some(Input::StepDown { to }),
            Input::Drained => Some(Input::Drained),
            Input::ChangeVoters(change) => Some(Input::ChangeVoters(change)),
        };
        if let Some(input) = input {
            self.elect(now, input, out);
        }
        self.apply(now, said, out);
    }

    fn view(&self, _: Time) -> View {
        self.view.clone()
    }

    fn requirements(
        config: &Self::Config,
        agent: &AgentId,
        kind: MemberKind,
    ) -> Result<Requirements, MembershipError> {
        E::requirements(&config.election, agent, kind)
    }

    fn admits(
        config: &Self::Config,
        agent: &AgentId,
        durable: Option<&Self::Durable>,
    ) -> Result<(), MembershipError> {
        let election = durable.and_then(|kept| kept.election.as_ref());
        E::admits(&config.election, agent, election)
    }
}

impl<E: Election, A: Application> Carried<E, A> {
    /// A step of the election.
    fn elect(&mut self, now: Time, input: InputOf<E>, out: &mut EffectsOf<Self>) {
        self.election.handle(now, input, &mut self.effects);
        self.view = self.election.view(now);
        for effect in self.effects.drain() {
            match effect {
                Effect::Persist(record) => {
                    self.kept.election = Some(record);
                    out.persist(self.kept.clone());
                }
                Effect::Send { to, message } => {
                    out.send_to(to, CarriedMessage::Election(message));
                }
                Effect::SetTimer { timer, after } => {
                    out.set_timer(CarriedTimer::Election(timer), after);
                }
                Effect::Ask(question) => out.ask(question),
                Effect::CancelTimer(timer) => out.cancel_timer(CarriedTimer::Election(timer)),
                Effect::Notify(event) => {
                    match &event {
                        Event::Draining { .. } => self.is_draining = true,
                        Event::Lost { .. } => {
                            self.tenure += 1;
                            self.is_draining = false;
                        }
                        Event::Acquired { .. }
                        | Event::Renewed { .. }
                        | Event::NewLeader(_)
                        | Event::NoLeader { .. }
                        | Event::Voters(_) => {}
                        _ => panic!("{event}: what does the application make of it?"),
                    }
                    out.notify(event);
                }
            }
        }
    }

    /// What the application makes of it.
    fn apply(
        &mut self,
        now: Time,
        mut said: VecDeque<(AgentId, Incarnation, A::Message)>,
        out: &mut EffectsOf<Self>,
    ) {
        let view = self.election.view(now);
        let leading = view.leading.filter(|_| now < view.valid_until);
        let leader = view.leader.map(|l| (l.id, l.incarnation, l.term));
        let here = Here {
            now,
            id: &self.id,
            incarnation: self.incarnation,
            members: &self.members,
            // As a handle shows it: a former leader does not name itself.
            leader: leader.filter(|(id, ..)| *id != self.id || leading.is_some()),
            leading,
            tenure: self.tenure,
            is_draining: self.is_draining,
        };
        let record = &self.kept.application;
        let application = self
            .application
            .get_or_insert_with(|| A::start(&here, &self.shared, record.clone()));
        let mut effects = Vec::new();
        application.look(&here, &mut effects);
        loop {
            for effect in mem::take(&mut effects) {
                match effect {
                    AppEffect::Keep(record) => {
                        self.kept.application = record;
                        out.persist(self.kept.clone());
                    }
                    AppEffect::Send(to, message) if to == self.id => {
                        said.push_back((to, self.incarnation, message));
                    }
                    AppEffect::Send(to, message) => {
                        out.send(&to, CarriedMessage::Application(message));
                    }
                }
            }
            let Some((from, incarnation, message)) = said.pop_front() else {
                break;
            };
            application.receive(&here, (&from, incarnation), message, &mut effects);
            application.look(&here, &mut effects);
        }
        match application.wakes_in(&here) {
            Some(after) => out.set_timer(CarriedTimer::Application, after),
            None => out.cancel_timer(CarriedTimer::Application),
        }
    }
}

impl<M: PeerMessage, S: Said> PeerMessage for CarriedMessage<M, S> {
    fn kind(&self) -> &'static str {
        match self {
            Self::Election(message) => message.kind(),
            Self::Application(message) => message.kind(),
        }
    }

    fn needs(&self, from: &AgentId) -> MinimumRole {
        match self {
            Self::Election(message) => message.needs(from),
            Self::Application(_) => MinimumRole::Observer,
        }
    }

    /// What the application says is no reason to wait for the end of an election.
    fn is_repeated(&self) -> bool {
        match self {
            Self::Election(message) => message.is_repeated(),
            Self::Application(_) => true,
        }
    }

    fn term(&self) -> Option<Term> {
        match self {
            Self::Election(message) => message.term(),
            Self::Application(_) => None,
        }
    }
}

impl<M: fmt::Display, S: Said> fmt::Display for CarriedMessage<M, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Election(message) => message.fmt(f),
            Self::Application(message) => write!(f, "{message:?}"),
        }
    }
}
