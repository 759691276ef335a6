//! A quorum machine whose inputs and effects are all recorded.
//!
//! Decided here: nothing. The machine inside is the production machine.

use std::{
    convert::Infallible,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use super::{decrees::under, ledger::Ledger};
use bully_core::{
    elections::{
        bully::Preemption,
        quorum::{BullyTimer, Claim, QuorumBully, QuorumConfig, QuorumMessage, Vote},
    },
    protocol::{
        AgentId, Decree, Effect, EffectOf, EffectsOf, Election, Event, Identity, Incarnation,
        Input, InputOf, MemberKind, MembershipError, PeerMessage, Prospects, Requirements,
        SettingError, Time, Timings, View, VotersEvent,
    },
};

/// A [`QuorumBully`] that checks the invariants at every step.
#[derive(Debug)]
pub struct Watched {
    id: AgentId,
    incarnation: Incarnation,
    kind: MemberKind,
    machine: QuorumBully,
    watch: Watch,
    /// The sound configuration, with the voters of the machine's epoch.
    present: Arc<QuorumConfig>,
}

/// The configurations, and the record that all agents of a history share.
#[derive(Clone, Debug)]
pub struct Watch {
    pub(super) config: Arc<QuorumConfig>,
    /// The configuration by which the invariants are checked. It stays sound if `config` is wrong on purpose.
    pub(super) sound: Arc<QuorumConfig>,
    pub(super) ledger: Arc<Mutex<Ledger>>,
}

impl Watch {
    /// Notes that some voter has two memories, or lost its memory: from now on only the leaders' own announcements are
    /// checked.
    pub fn doubts_memory(&self) {
        self.ledger().is_doubtful = true;
    }

    /// Returns a watch with the voters of another epoch and the same record.
    #[must_use]
    pub fn epoch(&self, config: QuorumConfig) -> Self {
        let config = Arc::new(config);
        Self {
            sound: Arc::clone(&config),
            config,
            ledger: Arc::clone(&self.ledger),
        }
    }

    /// Returns a watch for voters without a disk, on a host whose wall clock shows `wall_at_zero` when its own clock
    /// shows zero.
    #[must_use]
    pub fn on_host(&self, wall_at_zero: u64) -> Self {
        let host = |config: &Arc<QuorumConfig>| {
            let mut config = QuorumConfig::clone(config);
            if let Some(diskless) = &mut config.diskless {
                diskless.wall_at_zero = i64::try_from(wall_at_zero).unwrap_or(i64::MAX);
            }
            Arc::new(config)
        };
        Self {
            config: host(&self.config),
            sound: host(&self.sound),
            ledger: Arc::clone(&self.ledger),
        }
    }

    /// Returns a watch for a member with other timings and the same record.
    pub(super) fn retimed(&self, timings: &Timings, grace: Duration) -> Result<Self, SettingError> {
        let retimed = |config: &QuorumConfig| {
            let mut config = QuorumConfig {
                timings: timings.clone(),
                ..config.clone()
            };
            if let Preemption::After(after) = &mut config.preemption {
                *after = grace;
            }
            config.check().map(|()| Arc::new(config))
        };
        Ok(Self {
            config: retimed(&self.config)?,
            sound: retimed(&self.sound)?,
            ledger: Arc::clone(&self.ledger),
        })
    }

    pub(super) fn ledger(&self) -> MutexGuard<'_, Ledger> {
        self.ledger.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Election for Watched {
    type Message = QuorumMessage;
    type Timer = BullyTimer;
    type Ask = Infallible;
    type Told = Infallible;
    type Durable = Vote;
    type Config = Watch;

    fn new(identity: Identity, watch: &Watch, durable: Option<Vote>) -> Self {
        let (id, kind) = (identity.id.clone(), identity.kind);
        let incarnation = identity.incarnation;
        let vote = durable.clone().unwrap_or_default();
        let present = match vote.installed() {
            Some(list) if list.epoch >= watch.sound.epoch => Arc::new(under(&watch.sound, list)),
            Some(_) | None => Arc::clone(&watch.sound),
        };
        watch.ledger().begins(&id, vote, &present);
        Self {
            present,
            id,
            incarnation,
            kind,
            machine: QuorumBully::new(identity, &watch.config, durable),
            watch: watch.clone(),
        }
    }

    /// The machine writes its effects into `out`, where this function reads them.
    fn handle(&mut self, now: Time, input: InputOf<Self>, out: &mut EffectsOf<Self>) {
        let shared = Arc::clone(&self.watch.ledger);
        let mut ledger = shared.lock().unwrap_or_else(PoisonError::into_inner);
        let asked = self.note_input(now, &input, &mut ledger);
        let before = out.as_slice().len();
        self.machine.handle(now, input, out);
        for effect in out.as_slice().iter().skip(before) {
            self.note_effect(now, &asked, effect, &mut ledger);
        }
    }

    fn note_write(&mut self, took: Duration) {
        self.machine.note_write(took);
    }

    fn prospects(&self) -> Prospects {
        self.machine.prospects()
    }

    fn requirements(
        watch: &Watch,
        agent: &AgentId,
        kind: MemberKind,
    ) -> Result<Requirements, MembershipError> {
        QuorumBully::requirements(&watch.config, agent, kind)
    }

    fn admits(watch: &Watch, agent: &AgentId, vote: Option<&Vote>) -> Result<(), MembershipError> {
        QuorumBully::admits(&watch.config, agent, vote)
    }

    fn view(&self, now: Time) -> View {
        self.machine.view(now)
    }
}

/// The input to which a step answers.
enum Asked {
    Probe,
    Claim(AgentId, Claim),
    Told(AgentId, Incarnation),
    Other,
}

impl Watched {
    /// The sound configuration, with the voters of the machine's epoch.
    pub(super) const fn sound(&self) -> &Arc<QuorumConfig> {
        &self.present
    }

    pub(super) fn epoch(&self) -> u64 {
        self.present.epoch
    }

    /// Returns whether the agent could vote if it were listed.
    pub(super) fn has_store(&self) -> bool {
        self.kind == MemberKind::Voter
    }

    /// Notes that the agent has the list of voters `list` now.
    fn enters(&mut self, now: Time, list: &Decree, ledger: &mut Ledger) {
        if list.epoch > self.present.epoch {
            self.present = Arc::new(under(&self.present, list));
            ledger.enters(now, &self.id);
        }
        let kept = ledger.decrees.installs(&self.id, list, &self.watch.sound);
        ledger.holds(kept);
    }

    fn note_input(&self, now: Time, input: &InputOf<Self>, ledger: &mut Ledger) -> Asked {
        match input {
            Input::Start(_) => ledger.starts(now, &self.id, &self.present),
            Input::Members(members) => ledger.hears_members(&self.id, members),
            Input::Received {
                from,
                incarnation,
                message,
            } => match message {
                QuorumMessage::Elect(_) => return Asked::Probe,
                QuorumMessage::Claim(claim) => return Asked::Claim(from.clone(), claim.clone()),
                QuorumMessage::Resign(resign) => {
                    ledger.hears_resign(&self.id, (from, *incarnation), resign.term);
                }
                QuorumMessage::Elected(_) | QuorumMessage::Heartbeat(_) => {
                    return Asked::Told(from.clone(), *incarnation);
                }
                _ => {}
            },
            Input::Told(_)
            | Input::TimedOut(_)
            | Input::Campaign
            | Input::SetScore(_)
            | Input::StepDown { .. }
            | Input::Drained
            | Input::ChangeVoters(_) => {}
        }
        Asked::Other
    }

    fn note_effect(
        &mut self,
        now: Time,
        asked: &Asked,
        effect: &EffectOf<QuorumBully>,
        ledger: &mut Ledger,
    ) {
        let alone = self.present.voters.len() == 1;
        match effect {
            Effect::Persist(vote) => {
                match asked {
                    Asked::Probe if !alone && ledger.decides(&self.id, vote) => {
                        ledger.disturbs(&self.id, "a question");
                    }
                    Asked::Claim(_, claim)
                        if vote.term != claim.term && ledger.decides(&self.id, vote) =>
                    {
                        ledger.disturbs(&self.id, "a claim that it does not grant");
                    }
                    Asked::Probe | Asked::Claim(..) | Asked::Told(..) | Asked::Other => {}
                }
                if let Some(list) = vote.installed() {
                    self.enters(now, list, ledger);
                }
                if let Some(seal) = vote.seal() {
                    ledger.decrees.seals(&self.id, seal.term, &seal.next);
                }
                ledger.persists(now, &self.id, vote, &self.present);
            }
            Effect::Send { message, .. } => {
                self.note_message(now, asked, message, ledger);
            }
            Effect::Notify(Event::Acquired { term } | Event::Renewed { term }) => {
                ledger.acquires(&self.id, *term);
            }
            Effect::Notify(Event::Voters(event)) => self.note_voters(now, event, ledger),
            Effect::Notify(_)
            | Effect::Ask(_)
            | Effect::SetTimer { .. }
            | Effect::CancelTimer(_) => {}
        }
    }

    fn note_voters(&mut self, now: Time, event: &VotersEvent, ledger: &mut Ledger) {
        match event {
            VotersEvent::Installed(list) => self.enters(now, list, ledger),
            VotersEvent::Answered {
                change,
                outcome: Ok(changed),
            } => {
                let first = &self.watch.sound;
                let kept = ledger.decrees.answers(&self.id, change, changed, first);
                ledger.holds(kept);
            }
            _ => {}
        }
    }

    fn note_message(&self, now: Time, asked: &Asked, message: &QuorumMessage, ledger: &mut Ledger) {
        let sound = &self.present;
        let is_listed = self.has_store() && sound.voters.contains(&self.id);
        if !is_listed && !self.may_say(message) {
            ledger.meddles(&self.id, message.kind());
        }
        match (message, asked) {
            (QuorumMessage::Claim(claim), _) if claim.successor.is_none() => {
                ledger.claims(now, &self.id, claim, sound);
            }
            (QuorumMessage::ClaimReply(reply), Asked::Claim(from, claim)) if reply.granted => {
                match &claim.successor {
                    Some(to) => ledger.votes_ahead(now, &self.id, from, (claim.term, &to.id)),
                    None => ledger.votes(now, &self.id, from, claim, sound),
                }
            }
            (QuorumMessage::Ack(ack), Asked::Told(from, incarnation)) => {
                let kept = ledger.decrees.acknowledges(&self.id, ack.term);
                ledger.holds(kept);
                let leader = (from, *incarnation);
                ledger.promises(now, &self.id, leader, ack, sound);
            }
            (QuorumMessage::Elected(elected), _) => {
                ledger.announces((&self.id, self.incarnation), elected.term, sound);
            }
            (QuorumMessage::Sealed(sealed), _) => ledger.says_sealed(&self.id, sealed.term),
            (QuorumMessage::Seal(seal), _) => {
                ledger.says_sealed(&self.id, seal.term);
                ledger.resigns(&self.id, seal.term); // the agent no longer leads in this term
            }
            (QuorumMessage::Resign(resign), _) => {
                ledger.resigns(&self.id, resign.term);
                if let (Some(term), Some(successor)) = (resign.given, &resign.successor) {
                    ledger.gives(&self.id, (term, successor), sound);
                }
            }
            (_, _) => {}
        }
    }

    /// Returns whether an agent in no list may send this message: a message without influence on any decision.
    fn may_say(&self, message: &QuorumMessage) -> bool {
        match message {
            QuorumMessage::AskChange(_) | QuorumMessage::Behind(_) => true,
            QuorumMessage::Install(_) | QuorumMessage::Enlist(_) => self.has_store(),
            _ => false,
        }
    }
}
