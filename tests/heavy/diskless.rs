//! The quorum election of voters without a disk. A crash erases the whole memory of an agent, and the next incarnation
//! begins at once.
//!
//! The model checks `OneBeliever`, `LeaderPerTerm`, `TokenMonotone`, and a part of `NoRivalElected`: no agent leads
//! while another one has announced itself in a higher term. A voter forgets its votes, and votes expire, so votes
//! themselves prove nothing here.
//!
//! **Terms by the clock.** A tick is a millisecond, and an agent's wall clock shows as many milliseconds as its own
//! clock has counted. So the terms are small numbers above [`FIRST`], and the date is a part of a state: a search ends
//! at a tick ([`Bounds::horizon`](crate::timed::Bounds::horizon)).
//!
//! **Wrong clocks** ([`Forgetful::new`]): the wall clocks of `b` and of every later incarnation are behind. Terms still
//! have to increase while a majority remembers. When no majority remembers, the model checks only `OneBeliever`.
//!
//! **Questions of a voter that recovers** arrive at once, or some of them never arrive. An agent that asks again in the
//! next round forgets late answers to the last round. So the questions and answers of the other agents are those that
//! wait for ever.
//!
//! A search begins with a leader, because the voters of a new group abstain first
//! ([`Bounds::prologue`](crate::timed::Bounds::prologue)).

use std::{sync::Arc, time::Duration};

use bully_core::{
    elections::{
        bully::BullyTimer,
        quorum::{Diskless, QuorumBully, QuorumConfig, QuorumMessage},
    },
    protocol::{Effect, EffectOf, Event, Incarnation, InputOf, Score},
};

use crate::{
    ledger::{Terms, mark},
    limits::number,
    quorum::Quorum,
    relative::{EPOCH, TICK},
    rules::{Rules, Seen},
    timed::{Bounds, World},
};

/// The reading of the wall clocks at the beginning of a model, as a term: the one before the first term.
pub const FIRST: u64 = EPOCH / TICK;

/// Number of terms in the ledger.
const ROOM: usize = 24;

/// Rules of an election between voters without a disk, for a model.
#[derive(Clone, Debug)]
pub struct Forgetful {
    voters: Quorum,
    first: Arc<QuorumConfig>,
    later: Arc<QuorumConfig>,
    /// Number of ticks by which the wall clocks of `b` and of every later incarnation are behind the others.
    behind: u8,
}

impl Forgetful {
    /// Returns the rules for three voters, with a lease of one reading of a clock. The lowest-ranked voter is not
    /// eligible. The wall clocks of `b` and of every later incarnation are `behind` ticks behind the others.
    pub fn new(behind: u8) -> Self {
        let voters = Quorum::new(3, 1);
        let config = |ahead: u8| {
            let mut own = Diskless::default();
            own.wall_at_zero = ahead.into();
            Arc::new(QuorumConfig {
                diskless: Some(own),
                ..QuorumConfig::clone(voters.config())
            })
        };
        Self {
            first: config(behind),
            later: config(0),
            voters,
            behind,
        }
    }

    /// Returns whether terms have to increase: clocks are right, or a majority remembers.
    fn has_terms(&self, ledger: &Ledger) -> bool {
        self.behind == 0 || ledger.forgot.count_ones() < 2
    }
}

impl Rules for Forgetful {
    type Election = QuorumBully;
    type Ledger = Ledger;

    fn set(&mut self, _: &mut Bounds, name: &str, value: &'static str) -> bool {
        if name == "behind" {
            *self = Self::new(number(value));
        }
        name == "behind"
    }

    fn config(&self) -> &Arc<QuorumConfig> {
        &self.first
    }

    fn config_of(&self, who: usize, incarnation: Incarnation) -> &Arc<QuorumConfig> {
        if who == 1 || incarnation > Incarnation(1) {
            &self.later
        } else {
            &self.first
        }
    }

    fn memory(&self) -> Duration {
        self.voters.memory()
    }

    fn reads_wall_clocks(&self) -> bool {
        true
    }

    fn taught(&self, agent: usize) -> Vec<InputOf<QuorumBully>> {
        self.voters.taught(agent)
    }

    fn score(&self, k: usize) -> Option<Score> {
        self.voters.score(k)
    }

    fn quotes_receiver(message: &QuorumMessage) -> bool {
        Quorum::quotes_receiver(message)
    }

    fn shortcut(
        &self,
        now: u16,
        effect: &EffectOf<QuorumBully>,
    ) -> Option<Vec<InputOf<QuorumBully>>> {
        self.voters.shortcut(now, effect)
    }

    fn is_call(&self, message: &QuorumMessage) -> bool {
        matches!(
            message,
            QuorumMessage::Recover(_) | QuorumMessage::Recovered(_)
        )
    }

    fn makes_calls(&self, timer: BullyTimer) -> bool {
        timer == BullyTimer::Recover
    }

    fn note(&self, ledger: &mut Ledger, seen: &Seen<'_, QuorumBully>) {
        ledger.note(seen);
        if !self.has_terms(ledger) {
            ledger.terms.broken = None;
        }
    }

    fn broken(&self, world: &World<Self>) -> Option<&'static str> {
        if world.ledger.terms.broken.is_some() {
            return world.ledger.terms.broken;
        }
        let (me, term) = world.believers().next()?;
        if world.believers().nth(1).is_some() {
            return Some("OneBeliever");
        }
        let has_rival = self.has_terms(&world.ledger) && world.ledger.has_rival(me, term);
        has_rival.then_some("NoRivalElected")
    }

    fn sights(&self) -> &'static [&'static str] {
        &["an agent leads after the crashes"]
    }

    fn shows(&self, _: usize, world: &World<Self>) -> bool {
        let has_led = |(agent, term): (usize, u64)| {
            world.ledger.terms.announced[index(term)] == mark(agent)
                && world.ledger.first < small(term)
        };
        world.left.crashes == 0 && world.believers().any(has_led)
    }
}

/// The history of one path, as far as the invariants need it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Ledger {
    /// The terms, without votes, above [`FIRST`].
    terms: Terms<0, ROOM>,
    /// The first token.
    first: u8,
    /// The agents that have ever forgotten their state, a bit each.
    forgot: u8,
}

impl Ledger {
    /// Returns whether an agent other than `me` has announced itself in a term above `term`.
    fn has_rival(&self, me: usize, term: u64) -> bool {
        let above = &self.terms.announced[(index(term) + 1).min(ROOM)..];
        above.iter().any(|who| *who != 0 && *who != mark(me))
    }

    fn note(&mut self, seen: &Seen<'_, QuorumBully>) {
        if seen.incarnation > Incarnation(1) {
            self.forgot |= 1 << seen.agent;
        }
        match seen.effect {
            Effect::Persist(_) => self.terms.breaks("Diskless"),
            Effect::Notify(Event::Acquired { term } | Event::Renewed { term }) => {
                let token = small(term.0);
                self.terms.acquires(token.into());
                if self.first == 0 {
                    self.first = token;
                }
            }
            Effect::Send { message, .. } => {
                if let QuorumMessage::Elected(elected) = message {
                    self.terms.announces(seen.agent, index(elected.term.0));
                }
            }
            Effect::Notify(_)
            | Effect::Ask(_)
            | Effect::SetTimer { .. }
            | Effect::CancelTimer(_) => {}
        }
    }
}

/// Returns a term as a small number; terms that are counted begin at zero.
fn small(term: u64) -> u8 {
    u8::try_from(term.checked_sub(FIRST).unwrap_or(term)).unwrap_or(u8::MAX)
}

/// Returns the index of a term. Every search ends before a term is beyond the last entry.
fn index(term: u64) -> usize {
    let index = usize::from(small(term));
    assert!(index < ROOM, "no room for term {term}");
    index
}
