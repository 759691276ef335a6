//! A quorum machine under observation: everything that goes in and comes out is booked.
//!
//! Decided here: nothing. The machine inside is the one that users run.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::ledger::Ledger;
use crate::{
    elections::{
        message::{BullyMessage, Claim},
        quorum::{QuorumBully, QuorumConfig, Timer, Vote},
    },
    protocol::{
        AgentId, Effect, EffectOf, Effects, EffectsOf, Election, Event, Identity, Incarnation,
        Input, InputOf, MemberKind, Time, View,
    },
};

/// A [`QuorumBully`] whose every step is held against the invariants.
#[derive(Debug)]
pub struct Watched {
    id: AgentId,
    kind: MemberKind,
    machine: QuorumBully,
    effects: EffectsOf<QuorumBully>,
    watch: Watch,
}

/// The rules' parameters, and the books that all agents of a history share.
#[derive(Clone, Debug)]
pub struct Watch {
    pub(super) config: Arc<QuorumConfig>,
    /// The parameters as they ought to be, whatever is planted in the others.
    pub(super) sound: Arc<QuorumConfig>,
    pub(super) ledger: Arc<Mutex<Ledger>>,
}

impl Watch {
    pub(super) fn ledger(&self) -> MutexGuard<'_, Ledger> {
        self.ledger.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Watched {
    /// The machine inside.
    pub const fn machine(&self) -> &QuorumBully {
        &self.machine
    }
}

impl Election for Watched {
    type Message = BullyMessage;
    type Timer = Timer;
    type Durable = Vote;
    type Config = Watch;

    fn new(identity: Identity, watch: &Watch, durable: Option<Vote>) -> Self {
        let (id, kind) = (identity.id.clone(), identity.kind);
        let vote = durable.clone().unwrap_or_default();
        watch.ledger().begins(&id, vote);
        Self {
            id,
            kind,
            machine: QuorumBully::new(identity, &watch.config, durable),
            effects: Effects::new(),
            watch: watch.clone(),
        }
    }

    fn handle(&mut self, now: Time, input: InputOf<Self>, out: &mut EffectsOf<Self>) {
        let asked = self.note_input(now, &input);
        self.machine.handle(now, inside(input), &mut self.effects);
        let mut effects = std::mem::take(&mut self.effects);
        for effect in effects.drain() {
            self.note_effect(now, &asked, &effect);
            match effect {
                Effect::Persist(vote) => out.persist(vote),
                Effect::Send { to, message } => out.send_to(to, message),
                Effect::SetTimer { timer, after } => out.set_timer(timer, after),
                Effect::CancelTimer(timer) => out.cancel_timer(timer),
                Effect::Notify(event) => out.notify(event),
            }
        }
        self.effects = effects;
    }

    fn view(&self, now: Time) -> View {
        self.machine.view(now)
    }
}

/// What the step answers.
enum Asked {
    Probe,
    Claim(AgentId, Claim),
    Told(AgentId, Incarnation),
    Other,
}

impl Watched {
    fn note_input(&self, now: Time, input: &InputOf<Self>) -> Asked {
        let mut ledger = self.watch.ledger();
        match input {
            Input::Start(_) => ledger.starts(now, &self.id, &self.watch.sound),
            Input::Members(members) => ledger.hears_members(&self.id, members),
            Input::Received {
                from,
                incarnation,
                message,
            } => match message {
                BullyMessage::Elect(_) => return Asked::Probe,
                BullyMessage::Claim(claim) => return Asked::Claim(from.clone(), claim.clone()),
                BullyMessage::Resign(resign) => ledger.hears_resign(&self.id, from, resign.term),
                BullyMessage::Elected(_) | BullyMessage::Heartbeat(_) => {
                    return Asked::Told(from.clone(), *incarnation);
                }
                BullyMessage::Ok(_)
                | BullyMessage::Yield(_)
                | BullyMessage::ClaimReply(_)
                | BullyMessage::Ack(_)
                | BullyMessage::Nack(_)
                | BullyMessage::Takeover(_) => {}
            },
            Input::TimedOut(_)
            | Input::Campaign
            | Input::SetScore(_)
            | Input::StepDown { .. }
            | Input::Drained => {}
        }
        Asked::Other
    }

    fn note_effect(&self, now: Time, asked: &Asked, effect: &EffectOf<QuorumBully>) {
        let mut ledger = self.watch.ledger();
        let alone = self.watch.sound.voters().len() == 1;
        match effect {
            Effect::Persist(vote) => {
                match asked {
                    Asked::Probe if !alone => ledger.disturbs(&self.id, "a question"),
                    Asked::Claim(_, claim) if vote.term != claim.term => {
                        ledger.disturbs(&self.id, "a claim that it does not grant");
                    }
                    Asked::Probe | Asked::Claim(..) | Asked::Told(..) | Asked::Other => {}
                }
                ledger.persists(&self.id, vote);
            }
            Effect::Send { message, .. } => {
                drop(ledger);
                self.note_message(now, asked, message);
            }
            Effect::Notify(Event::Acquired { term } | Event::Renewed { term }) => {
                ledger.acquires(&self.id, *term);
            }
            Effect::Notify(_) | Effect::SetTimer { .. } | Effect::CancelTimer(_) => {}
        }
    }

    fn note_message(&self, now: Time, asked: &Asked, message: &BullyMessage) {
        let (mut ledger, sound) = (self.watch.ledger(), &self.watch.sound);
        if self.kind == MemberKind::Observer {
            ledger.meddles(&self.id, "anything");
        }
        match (message, asked) {
            (BullyMessage::Claim(claim), _) => {
                ledger.votes(now, &self.id, &self.id, claim, sound);
            }
            (BullyMessage::ClaimReply(reply), Asked::Claim(from, claim)) if reply.granted => {
                ledger.votes(now, &self.id, from, claim, sound);
            }
            (BullyMessage::Ack(ack), Asked::Told(from, incarnation)) => {
                let leader = (from, *incarnation);
                ledger.promises(now, &self.id, leader, ack.term, sound);
            }
            (BullyMessage::Elected(elected), _) => ledger.announces(&self.id, elected.term),
            (BullyMessage::Resign(resign), _) => ledger.resigns(&self.id, resign.term),
            (_, _) => {}
        }
    }
}

fn inside(input: InputOf<Watched>) -> InputOf<QuorumBully> {
    match input {
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
        Input::TimedOut(timer) => Input::TimedOut(timer),
        Input::Members(members) => Input::Members(members),
        Input::Campaign => Input::Campaign,
        Input::SetScore(score) => Input::SetScore(score),
        Input::StepDown { to } => Input::StepDown { to },
        Input::Drained => Input::Drained,
    }
}
