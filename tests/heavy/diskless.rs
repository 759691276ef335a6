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
//! **Wrong clocks** ([`Walls::Behind`]): the wall clocks of `b` and of every later incarnation are behind. Terms still
//! have to increase while a majority remembers. When no majority remembers, the model checks only `OneBeliever`.
//!
//! **Questions of a voter that recovers** arrive at once, or some of them never arrive. An agent that asks again in the
//! next round forgets late answers to the last round. So the questions and answers of the other agents are those that
//! wait for ever.
//!
//! **An observer** ([`Forgetful::observed`]) is the lowest-ranked agent, beside two voters. When both voters have
//! forgotten, terms may be below the term that the observer has followed. That it still follows the next leader is a
//! sight and no invariant: a message to it may always be lost.
//!
//! A search begins with a leader, because the voters of a new group abstain first
//! ([`Bounds::prologue`](crate::timed::Bounds::prologue)).

use std::{sync::Arc, time::Duration};

use bully_core::{
    elections::{
        bully::BullyTimer,
        quorum::{Diskless, QuorumBully, QuorumConfig, QuorumMessage},
    },
    protocol::{Effect, EffectOf, Event, Incarnation, Input, InputOf, MemberKind, Score},
};

use crate::{
    quorum::Quorum,
    relative::{EPOCH, TICK},
    rules::{Owner, Rules, Seen, name, position},
    timed::World,
};

/// The reading of the wall clocks at the beginning of a model, as a term: the one before the first term.
pub const FIRST: u64 = EPOCH / TICK;

/// Number of terms in the ledger.
const ROOM: usize = 24;

/// The readings of the wall clocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Walls {
    /// The right time.
    Right,
    /// The wall clocks of `b` and of every later incarnation are behind the others, by this many ticks.
    Behind(u8),
}

/// Rules of an election between voters without a disk, for a model.
#[derive(Clone, Debug)]
pub struct Forgetful {
    voters: Quorum,
    first: Arc<QuorumConfig>,
    later: Arc<QuorumConfig>,
    walls: Walls,
    /// The voters, a bit each; the other agents observe.
    voting: u8,
    /// Number of crashes after which some agent has to lead; otherwise the model shows less than its name promises.
    pub crashes: u8,
}

impl Forgetful {
    /// Returns the rules for three voters with a lease of one reading of a clock. The lowest-ranked voter is not
    /// eligible.
    pub fn new(walls: Walls) -> Self {
        Self::of(0b111, walls)
    }

    /// Returns the rules for two voters and an observer. The observer knows a higher term than both when both have
    /// forgotten.
    pub fn observed() -> Self {
        Self::of(0b110, Walls::Behind(8))
    }

    fn of(voting: u8, walls: Walls) -> Self {
        let mut voters = Quorum::new(3, 1);
        voters.witnesses = 1;
        let config = |ahead: u8| {
            let mut own = Diskless::default();
            own.wall_at_zero = ahead.into();
            let votes = |k: &usize| voting & (1 << k) != 0;
            Arc::new(QuorumConfig {
                voters: (0..3).filter(votes).map(name).collect(),
                diskless: Some(own),
                ..QuorumConfig::clone(voters.config())
            })
        };
        let ahead = match walls {
            Walls::Right => 0,
            Walls::Behind(behind) => behind,
        };
        Self {
            first: config(ahead),
            later: config(0),
            voters,
            walls,
            voting,
            crashes: 0,
        }
    }
}

impl Forgetful {
    /// Returns whether terms have to increase: clocks are right, or a majority remembers.
    fn has_terms(&self, ledger: &Ledger) -> bool {
        self.walls == Walls::Right || (ledger.forgot & self.voting).count_ones() < 2
    }
}

impl Rules for Forgetful {
    type Election = QuorumBully;
    type Ledger = Ledger;

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
        let is_of_voter = |input: &InputOf<QuorumBully>| match input {
            Input::Received { from, .. } => self.kind(position(from)) == MemberKind::Voter,
            _ => true,
        };
        let mut taught = self.voters.taught(agent);
        taught.retain(is_of_voter);
        taught
    }

    fn kind(&self, k: usize) -> MemberKind {
        if self.voting & (1 << k) == 0 {
            MemberKind::Observer
        } else {
            MemberKind::Voter
        }
    }

    fn score(&self, k: usize) -> Option<Score> {
        self.voters.score(k)
    }

    fn clock_in(message: &QuorumMessage) -> Owner {
        Quorum::clock_in(message)
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
            ledger.broken = None;
        }
    }

    fn broken(&self, world: &World<Self>) -> Option<&'static str> {
        if world.ledger.broken.is_some() {
            return world.ledger.broken;
        }
        let (me, term) = world.believers().next()?;
        if world.believers().nth(1).is_some() {
            return Some("OneBeliever");
        }
        let has_rival = self.has_terms(&world.ledger) && world.ledger.has_rival(me, term);
        has_rival.then_some("NoRivalElected")
    }

    fn sights(&self) -> &'static [&'static str] {
        if self.voting == 0b111 {
            &["an agent leads after the crashes"]
        } else {
            &["an agent leads after the crashes", FOLLOWED]
        }
    }

    fn shows(&self, sight: usize, world: &World<Self>) -> bool {
        if sight == 1 {
            return follows_again(world);
        }
        let lives = (0..world.len()).map(|agent| world.incarnation(agent).0);
        let crashes = lives.sum::<u64>() - 3;
        let has_led = |(agent, term): (usize, u64)| {
            world.ledger.announced[index(term)] == mark(agent) && world.ledger.first < small(term)
        };
        crashes >= u64::from(self.crashes) && world.believers().any(has_led)
    }
}

/// Sight: the observer follows a leader whose term is lower than the one that it knew.
pub const FOLLOWED: &str = "the observer follows a leader of voters that forgot its term";

/// Returns whether terms fell, and the observer, which remembers, follows an agent that leads now.
fn follows_again(world: &World<Forgetful>) -> bool {
    let followed = world.view(0).and_then(|view| view.leader);
    let leads = followed.is_some_and(|leader| {
        let mut believers = world.believers();
        believers.any(|believer| believer == (position(&leader.id), leader.term.0))
    });
    leads && world.ledger.has_fallen() && world.incarnation(0) == Incarnation(1)
}

/// The history of one path, as far as the invariants need it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Ledger {
    /// `LeaderPerTerm`: for each term, the position plus one of the agent that announced itself.
    announced: [u8; ROOM],
    /// The first token.
    first: u8,
    /// `TokenMonotone`: the last token.
    token: u8,
    /// The agents that have ever forgotten their state, a bit each.
    forgot: u8,
    /// The first invariant that was broken.
    broken: Option<&'static str>,
}

impl Ledger {
    /// Returns whether an agent other than `me` has announced itself in a term above `term`.
    fn has_rival(&self, me: usize, term: u64) -> bool {
        let above = &self.announced[(index(term) + 1).min(ROOM)..];
        above.iter().any(|who| *who != 0 && *who != mark(me))
    }

    /// Returns whether an agent has announced itself in a term below the first led term.
    fn has_fallen(&self) -> bool {
        let below = &self.announced[..usize::from(self.first)];
        below.iter().any(|who| *who != 0)
    }

    fn note(&mut self, seen: &Seen<'_, QuorumBully>) {
        if seen.incarnation > Incarnation(1) {
            self.forgot |= 1 << seen.agent;
        }
        match seen.effect {
            Effect::Persist(_) => self.breaks("Diskless"),
            Effect::Notify(Event::Acquired { term } | Event::Renewed { term }) => {
                let token = small(term.0);
                if token <= self.token {
                    self.breaks("TokenMonotone");
                }
                self.token = self.token.max(token);
                if self.first == 0 {
                    self.first = token;
                }
            }
            Effect::Send { message, .. } => {
                if let QuorumMessage::Elected(elected) = message {
                    let announced = &mut self.announced[index(elected.term.0)];
                    let before = std::mem::replace(announced, mark(seen.agent));
                    if before != 0 && before != mark(seen.agent) {
                        self.breaks("LeaderPerTerm");
                    }
                }
            }
            Effect::Notify(_)
            | Effect::Ask(_)
            | Effect::SetTimer { .. }
            | Effect::CancelTimer(_) => {}
        }
    }

    fn breaks(&mut self, invariant: &'static str) {
        self.broken.get_or_insert(invariant);
    }
}

fn mark(agent: usize) -> u8 {
    u8::try_from(agent + 1).unwrap_or(u8::MAX)
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
