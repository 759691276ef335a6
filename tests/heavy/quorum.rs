//! The quorum election, with a lease that covers [`Quorum::new`]'s number of readings of the holder's clock, and a
//! promise that covers one reading more.
//!
//! The model checks the invariants of the crate's `elections::quorum::proof`, except `LeaseBacked`, `PromiseKept`,
//! `NoDisrupt` and `Observers`.
//!
//! **Questions.** An election begins with a question: would the voters consent? The question changes no durable state,
//! so no safety may depend on it. Every voter consents at once: this allows more histories than the real question, in
//! far fewer steps. With the word `calls-questions` the questions and their answers arrive at once or never.

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
    limits::number,
    relative::ticks,
    rules::{Rules, Seen, name},
    timed::{Bounds, World},
};

/// Rules of a quorum election for a model.
#[derive(Clone, Debug)]
pub struct Quorum {
    config: Arc<QuorumConfig>,
    /// Number of readings of its clock that a lease covers.
    lease: u8,
    /// Number of votes that elect.
    quorum: usize,
    /// Highest term that the model explores.
    terms: u8,
    /// Number of voters, from the first, that are not eligible.
    witnesses: usize,
    /// Whether questions and answers arrive at once or never; otherwise every voter consents at once.
    calls_questions: bool,
    /// Whether heartbeats are lost: a leadership then lasts for one lease.
    is_brief: bool,
    /// Whether a sight demands a leader in a term that another leader gave to it.
    gives: bool,
    /// Whether the model checks for which incarnation each vote was.
    counts_lives: bool,
    /// Whether an incarnation begins without the scores and messages of the other agents.
    is_untaught: bool,
    /// An invariant that the model does not check, so that it finds others that break.
    tolerated: Option<&'static str>,
    /// Shorter timings of some voters, and which voters have them.
    short: Option<(Arc<QuorumConfig>, Short)>,
}

/// The voters that give the shorter of two promises, and lead with the shorter of two leases.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Short {
    /// All but the highest-ranked voter.
    Others,
    /// Every voter that comes back after a crash.
    Restarted,
}

impl Quorum {
    /// Returns the rules for `n` voters and a lease of `lease` readings; terms up to 3, and the lowest-ranked voter is not
    /// eligible.
    pub fn new(n: usize, lease: u8) -> Self {
        let readings = f64::from(lease);
        let (config, quorum) = configured(n, (readings - 0.01, readings + 0.5));
        Self {
            config,
            lease,
            quorum,
            terms: 3,
            witnesses: 1,
            calls_questions: false,
            is_brief: false,
            gives: false,
            counts_lives: false,
            is_untaught: false,
            tolerated: None,
            short: None,
        }
    }

    /// Sets the number of voters, from the first, that are not eligible.
    #[must_use]
    pub fn with_witnesses(self, witnesses: usize) -> Self {
        Self { witnesses, ..self }
    }

    /// Returns the rules for three voters. A lease covers two readings, for the voters `shorter` one reading. Promises
    /// always cover one reading more than the lease.
    fn mixed(shorter: Short) -> Self {
        let (short, _) = configured(3, (0.95, 1.2));
        Self {
            short: Some((short, shorter)),
            ..Self::new(3, 2)
        }
    }
}

/// Returns a configuration with a lease and a promise in ticks, and the number of votes that elect.
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
    /// Returns the consent of every voter in `round`.
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

    fn set(&mut self, bounds: &mut Bounds, name: &str, value: &'static str) -> bool {
        match name {
            "n" => {
                *self = Self::new(number(value), self.lease);
                return bounds.set(name, value);
            }
            "lease" => *self = Self::new(bounds.n, number(value)),
            "shorter" => {
                *self = Self::mixed(match value {
                    "others" => Short::Others,
                    "restarted" => Short::Restarted,
                    _ => return false,
                });
            }
            // An agent that handed over may be the next successor.
            "no-cooldown" => Arc::make_mut(&mut self.config).cooldown = Duration::ZERO,
            "terms" => self.terms = number(value),
            "witnesses" => self.witnesses = number(value),
            "calls-questions" => self.calls_questions = true,
            "brief" => self.is_brief = true,
            "gives" => self.gives = true,
            "counts-lives" => self.counts_lives = true,
            "untaught" => self.is_untaught = true,
            "tolerated" => self.tolerated = Some(value),
            _ => return false,
        }
        true
    }

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

    /// A lease is the longest span that is counted from the past. Promises, and the cool-down of an agent that stepped
    /// down, end in the future.
    fn memory(&self) -> Duration {
        ticks(f64::from(self.lease - 1))
    }

    /// Returns the scores of the other agents, in a message that has no other effect. The moment at which an agent
    /// learns them makes no difference to safety, and a great one to the number of states.
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

    fn quotes_receiver(message: &QuorumMessage) -> bool {
        matches!(message, QuorumMessage::Ack(_))
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
            // A refusal only changes when the candidate asks again.
            QuorumMessage::ClaimReply(reply) if !reply.granted => Some(Vec::new()),
            QuorumMessage::Elect(elect) if !self.calls_questions => {
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
        is_question && self.calls_questions
    }

    fn makes_calls(&self, timer: BullyTimer) -> bool {
        timer == BullyTimer::Election && self.calls_questions
    }

    fn note(&self, ledger: &mut Ledger, seen: &Seen<'_, QuorumBully>) {
        ledger.note(seen, self.quorum);
        if self.counts_lives {
            ledger.counts(seen, self.quorum);
        } else {
            ledger.lives = Default::default(); // states that differ only in it are equal
        }
        let broken = &mut ledger.terms.broken;
        *broken = broken.filter(|broken| Some(*broken) != self.tolerated);
    }

    fn forget(&self, ledger: &mut Ledger, agent: usize, kept: Option<&Vote>, lost: &Vote) {
        ledger.forget(agent, kept, lost);
    }

    fn broken(&self, world: &World<Self>) -> Option<&'static str> {
        if world.ledger.terms.broken.is_some() {
            return world.ledger.terms.broken;
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

    /// Shows a leader in the last term, thus a second leader after another one.
    fn shows(&self, sight: usize, world: &World<Self>) -> bool {
        let mut believers = world.believers();
        believers.any(|(me, term)| match sight {
            0 => u64::from(self.terms) == term,
            _ => world.ledger.was_given(me, term),
        })
    }

    fn is_within(&self, ledger: &Ledger) -> bool {
        ledger.highest <= self.terms
    }
}
