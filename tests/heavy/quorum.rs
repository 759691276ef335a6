//! The quorum election, with a lease that covers so many readings of the holder's clock, and a
//! promise that covers one more.
//!
//! Held against it: the invariants of the crate's `elections::quorum::proof` but for `LeaseBacked`,
//! `PromiseKept`, `NoDisrupt` and `Observers`.
//!
//! **Questions.** An election begins by asking who would consent. That changes nothing durable, so
//! nothing safe may depend on it, and with `Questions::Granted` every voter consents at once: more can
//! happen than ever would, in far fewer steps. `Questions::Asked` sends them.

use std::{sync::Arc, time::Duration};

use bully_core::{
    elections::{
        bully::{BullyTimer, Preemption, Yield},
        quorum::{Ack, QuorumBully, QuorumConfig, QuorumMessage, Vote},
    },
    protocol::{Effect, EffectOf, Incarnation, Input, InputOf, Round, Score, Timings},
};

use crate::{
    ledger::Ledger,
    relative::ticks,
    rules::{Owner, Rules, Seen, name},
    timed::World,
};

/// A quorum election, and how it is judged.
#[derive(Clone, Debug)]
pub struct Quorum {
    config: Arc<QuorumConfig>,
    /// How many readings of its clock a lease covers.
    lease: u8,
    /// How many votes elect.
    quorum: usize,
    /// The model looks no further than this term, and this many rounds of questions in an incarnation.
    pub terms: u8,
    /// See there.
    pub rounds: u8,
    /// Whether refused claims are answered with silence: a refusal changes when one asks again.
    pub mute: bool,
    /// The first so many voters are not eligible.
    pub witnesses: usize,
    /// What becomes of questions.
    pub questions: Questions,
    /// Whether heartbeats are lost: a leadership then lasts for one lease.
    pub is_brief: bool,
    /// Whether a leader has to be seen in a term that it was given.
    pub gives: bool,
    /// Whether it is asked for which incarnation each vote was.
    pub counts_lives: bool,
    /// Whether an incarnation begins without the scores of the others, and without any word of theirs.
    pub is_untaught: bool,
    /// An invariant that is not looked at, so that others are seen to break.
    pub tolerated: Option<&'static str>,
    /// Timings that only some have, and which.
    short: Option<(Arc<QuorumConfig>, Short)>,
}

/// The voters that give the shorter of two promises, and lead for the shorter of two leases.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Short {
    /// All but the highest-ranked voter.
    Others,
    /// Every voter that comes back after a crash.
    Restarted,
}

/// What becomes of questions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Questions {
    /// Every voter consents at once.
    Granted,
    /// They travel, and so do the answers.
    Asked,
    /// They arrive at once or never, and so do the answers.
    Called,
}

impl Quorum {
    /// `n` voters, a lease of so many readings; terms up to 3, questions granted.
    pub fn new(n: usize, lease: u8) -> Self {
        let readings = f64::from(lease);
        let (config, quorum) = configured(n, (readings - 0.01, readings + 0.5));
        Self {
            config,
            lease,
            quorum,
            terms: 3,
            rounds: u8::MAX,
            mute: true,
            witnesses: 0,
            questions: Questions::Granted,
            is_brief: false,
            gives: false,
            counts_lives: false,
            is_untaught: false,
            tolerated: None,
            short: None,
        }
    }

    /// The same without a cool-down of who handed over: it may be the next successor.
    #[must_use]
    pub fn without_cooldown(mut self) -> Self {
        let config = QuorumConfig::clone(&self.config);
        self.config = Arc::new(QuorumConfig {
            cooldown: Duration::ZERO,
            ..config
        });
        self
    }

    /// Three voters with a lease of two readings, of which some have one of one reading. Promises cover
    /// one reading more, as ever.
    pub fn mixed(shorter: Short) -> Self {
        let (short, _) = configured(3, (0.95, 1.2));
        Self {
            short: Some((short, shorter)),
            ..Self::new(3, 2)
        }
    }
}

/// A lease and a promise of so many ticks; and how many votes elect.
fn configured(n: usize, (lease, promise): (f64, f64)) -> (Arc<QuorumConfig>, usize) {
    let timings = Timings::lan()
        .to_builder()
        .delay_bound(ticks(0.001))
        .detector(ticks(0.3), ticks(0.5))
        .step(ticks(0.01))
        .jitter(Duration::ZERO)
        .round(ticks(0.01))
        .lease(ticks(lease), ticks(promise))
        .build()
        .expect("every relation holds");
    let config = QuorumConfig {
        timings,
        preemption: Preemption::Never,
        cooldown: ticks(promise),
        ..QuorumConfig::new((0..n).map(name))
    };
    let quorum = config.vote_quorum();
    config.check().expect("a sound configuration");
    (Arc::new(config), quorum)
}

impl Quorum {
    /// Every voter would consent to this.
    fn consents(&self, round: Round) -> Vec<InputOf<QuorumBully>> {
        let consent = |from| Input::Received {
            from,
            incarnation: Incarnation(1),
            message: QuorumMessage::Yield(Yield {
                round,
                ..Yield::default()
            }),
        };
        self.config.voters.iter().cloned().map(consent).collect()
    }
}

impl Rules for Quorum {
    type Election = QuorumBully;
    type Ledger = Ledger;

    fn config(&self) -> &Arc<QuorumConfig> {
        &self.config
    }

    fn config_of(&self, agent: usize, incarnation: Incarnation) -> &Arc<QuorumConfig> {
        match &self.short {
            Some((short, Short::Others)) if agent < 2 => short,
            Some((short, Short::Restarted)) if incarnation > Incarnation(1) => short,
            Some(_) | None => &self.config,
        }
    }

    /// A lease is the longest span that is counted from the past; promises, and the cool-down
    /// of an agent that stepped down, lie ahead.
    fn memory(&self) -> Duration {
        ticks(f64::from(self.lease - 1))
    }

    /// The scores of the others, in a message that means nothing else. Which agent learns them when makes
    /// no difference to what is safe, and a great one to the number of states.
    fn taught(&self, agent: usize) -> Vec<InputOf<QuorumBully>> {
        let is_taught = |other: &usize| *other != agent && !self.is_untaught;
        let others = (0..self.config.voters.len()).filter(is_taught);
        let ack = |other| Input::Received {
            from: name(other),
            incarnation: Incarnation(1),
            message: QuorumMessage::Ack(Ack {
                score: self.score(other),
                incarnation: Incarnation(1),
                ..Ack::default()
            }),
        };
        others.map(ack).collect()
    }

    fn score(&self, k: usize) -> Option<Score> {
        (k >= self.witnesses).then(|| Score::from(u32::try_from(k).unwrap_or(0)))
    }

    fn clock_in(message: &QuorumMessage) -> Owner {
        match message {
            QuorumMessage::Ack(_) => Owner::Receiver,
            _ => Owner::Sender,
        }
    }

    fn shortcut(
        &self,
        _now: u16,
        effect: &EffectOf<QuorumBully>,
    ) -> Option<Vec<InputOf<QuorumBully>>> {
        let Effect::Send { message, .. } = effect else {
            return None;
        };
        match message {
            QuorumMessage::ClaimReply(reply) if !reply.granted && self.mute => Some(Vec::new()),
            QuorumMessage::Elect(elect) if self.questions == Questions::Granted => {
                Some(self.consents(elect.round))
            }
            QuorumMessage::Heartbeat(_) if self.is_brief => Some(Vec::new()),
            _ => None,
        }
    }

    fn is_call(&self, message: &QuorumMessage) -> bool {
        let is_question = matches!(
            message,
            QuorumMessage::Elect(_) | QuorumMessage::Yield(_) | QuorumMessage::Ok(_)
        );
        is_question && self.questions == Questions::Called
    }

    fn makes_calls(&self, timer: BullyTimer) -> bool {
        timer == BullyTimer::Election && self.questions == Questions::Called
    }

    fn note(&self, ledger: &mut Ledger, seen: &Seen<'_, QuorumBully>) {
        ledger.note(seen, self.quorum);
        if self.counts_lives {
            ledger.counts(seen, self.quorum);
        } else {
            ledger.forget_lives();
        }
        ledger.broken = ledger
            .broken
            .filter(|broken| Some(*broken) != self.tolerated);
    }

    fn forget(&self, ledger: &mut Ledger, agent: usize, kept: Option<&Vote>, lost: &Vote) {
        ledger.forget(agent, kept, lost);
    }

    fn broken(&self, world: &World<Self>) -> Option<&'static str> {
        if world.ledger.broken.is_some() {
            return world.ledger.broken;
        }
        let (me, term) = world.believers().next()?;
        if world.believers().nth(1).is_some() {
            return Some("OneBeliever");
        }
        if world.ledger.has_rival(me, term, self.quorum) {
            return Some("NoRivalElected");
        }
        let resigned = world.ledger.has_resigned(me, term);
        resigned.then_some("ResignFinal")
    }

    fn sights(&self) -> &'static [&'static str] {
        if self.gives {
            &[
                "an agent leads in the last term",
                "an agent leads in a term that it was given",
            ]
        } else {
            &["an agent leads in the last term"]
        }
    }

    /// As a rule a second leader, after another one.
    fn shows(&self, sight: usize, world: &World<Self>) -> bool {
        let mut believers = world.believers();
        believers.any(|(me, term)| match sight {
            0 => u64::from(self.terms) == term,
            _ => world.ledger.was_given(me, term),
        })
    }

    fn is_within(&self, ledger: &Ledger) -> bool {
        ledger.highest <= self.terms && ledger.rounds <= self.rounds
    }
}
