//! The quorum election with a lease of two ticks and a promise of three, as the clocks count them.
//!
//! Held against it: I1, I2, I3, I4, I5, I8, I9 and I10 of the crate's `elections::quorum::proof`.
//!
//! **Questions.** An election begins by asking who would consent. That changes nothing durable, so
//! nothing safe may rest on it, and with `Questions::Granted` everybody consents at once: more can
//! happen than ever would, in far fewer steps. `Questions::Asked` sends them.

use std::{sync::Arc, time::Duration};

use actix_bully::{
    elections::{
        message::{Ack, BullyMessage, Yield},
        policy::Preemption,
        quorum::{Defect, QuorumBully, QuorumConfig},
    },
    protocol::{Effect, EffectOf, Incarnation, Input, InputOf, Score, Term, Time, Timings},
};

use crate::{
    books::Books,
    relative::ticks,
    timed::{Owner, Rules, Seen, World, name},
};

/// A quorum election, and how it is judged.
#[derive(Clone, Debug)]
pub struct Quorum {
    config: Arc<QuorumConfig>,
    /// How many votes elect in truth, whatever is planted.
    quorum: usize,
    /// The model looks no further than this term, and this many rounds of questions in a life.
    pub terms: u8,
    /// See there.
    pub rounds: u8,
    /// Whether refused claims are answered with silence: a refusal changes when one asks again.
    pub mute: bool,
    /// The first so many voters do not stand for election.
    pub witnesses: usize,
    /// What becomes of questions.
    pub questions: Questions,
}

/// What becomes of questions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Questions {
    /// Everybody consents at once.
    Granted,
    /// They travel, and so do the answers.
    Asked,
}

impl Quorum {
    /// `n` voters, perhaps with a rule broken; terms up to 3, questions granted.
    pub fn new(n: usize, defect: Option<Defect>) -> Self {
        let timings = Timings::lan()
            .to_builder()
            .delay_bound(ticks(0.001))
            .detector(ticks(0.3), ticks(0.5))
            .step(ticks(0.01))
            .jitter(Duration::ZERO)
            .round(ticks(0.01))
            .lease(ticks(0.99), ticks(1.5))
            .build()
            .expect("every relation holds");
        let config = QuorumConfig::builder((0..n).map(name))
            .timings(timings)
            .preemption(Preemption::Never)
            .rest(ticks(1.5))
            .build()
            .expect("a sound configuration");
        let quorum = config.vote_quorum();
        let config = match defect {
            Some(defect) => config.planted(defect),
            None => config,
        };
        Self {
            config: Arc::new(config),
            quorum,
            terms: 3,
            rounds: u8::MAX,
            mute: true,
            witnesses: 0,
            questions: Questions::Granted,
        }
    }
}

impl Rules for Quorum {
    type Election = QuorumBully;
    type Books = Books;

    fn config(&self) -> &Arc<QuorumConfig> {
        &self.config
    }

    /// A promise is the longest span that a reading is compared over; what an agent rests after it
    /// stepped down lies ahead.
    fn memory(&self) -> Duration {
        Duration::ZERO
    }

    /// How important the others are, in a message that means nothing else. Who learns it when makes
    /// no difference to what is safe, and a great one to the number of states.
    fn taught(&self, who: usize) -> Vec<InputOf<QuorumBully>> {
        let others = (0..self.config.voters().len()).filter(|other| *other != who);
        let ack = |other| Input::Received {
            from: name(other),
            incarnation: Incarnation(1),
            message: BullyMessage::Ack(Ack {
                term: Term::ZERO,
                echo: Time::ZERO,
                score: self.score(other),
            }),
        };
        others.map(ack).collect()
    }

    fn score(&self, k: usize) -> Option<Score> {
        (k >= self.witnesses).then(|| Score::from(u32::try_from(k).unwrap_or(0)))
    }

    fn clock_in(message: &BullyMessage) -> Owner {
        match message {
            BullyMessage::Ack(_) => Owner::Receiver,
            _ => Owner::Sender,
        }
    }

    fn shortcut(&self, effect: &EffectOf<QuorumBully>) -> Option<Vec<InputOf<QuorumBully>>> {
        if let Effect::Send {
            message: BullyMessage::ClaimReply(reply),
            ..
        } = effect
            && !reply.granted
            && self.mute
        {
            return Some(Vec::new());
        }
        let Effect::Send {
            message: BullyMessage::Elect(elect),
            ..
        } = effect
        else {
            return None;
        };
        if self.questions == Questions::Asked {
            return None;
        }
        let consent = |from| Input::Received {
            from,
            incarnation: Incarnation(1),
            message: BullyMessage::Yield(Yield {
                round: elect.round,
                seen: Term::ZERO,
                released: None,
            }),
        };
        Some(self.config.voters().iter().cloned().map(consent).collect())
    }

    fn note(&self, books: &mut Books, seen: &Seen<'_, QuorumBully>) {
        books.note(seen, self.quorum);
    }

    fn broken(&self, world: &World<Self>) -> Option<&'static str> {
        if world.books.broken.is_some() {
            return world.books.broken;
        }
        let (me, term) = world.believers().next()?;
        if world.believers().nth(1).is_some() {
            return Some("I1 OneBeliever");
        }
        if world.books.has_rival(me, term, self.quorum) {
            return Some("I8 NoRivalElected");
        }
        let resigned = world.books.has_resigned(me, term);
        resigned.then_some("I9 ResignFinal")
    }

    /// A second leader, after another one.
    fn is_telling(&self, world: &World<Self>) -> bool {
        let mut believers = world.believers();
        believers.any(|(_, term)| u64::from(self.terms) == term)
    }

    fn is_within(&self, books: &Books) -> bool {
        books.highest <= self.terms && books.rounds <= self.rounds
    }
}
