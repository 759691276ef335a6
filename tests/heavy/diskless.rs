//! The quorum election of voters without a disk. A crash takes all that an agent knew, and the next
//! incarnation begins at once.
//!
//! Held against it: `OneBeliever`, `LeaderPerTerm`, `TokenMonotone`, and of `NoRivalElected` that no agent leads
//! while another one has announced itself in a higher term. What was voted is forgotten, and votes
//! expire, so votes themselves prove nothing here.
//!
//! **Terms by the clock.** A tick is a millisecond, and every wall clock says so many as its agent's own
//! clock has counted. So the terms are small numbers above [`FIRST`], and a state has a date: a search
//! ends at a tick ([`Bounds::horizon`](crate::timed::Bounds::horizon)).
//!
//! **Clocks that are wrong** ([`Walls::Behind`]): those of `b` and of every later incarnation are behind. Terms
//! have to increase all the same while a majority remembers, and when none does any more only `OneBeliever` is held
//! against them.
//!
//! **Questions of a voter that recovers** arrive at once, or some of them never do. Whoever asks again in the next
//! round forgets late answers to the last one, so it is the others' questions and answers that wait for ever.
//!
//! **An observer** ([`Forgetful::observed`]) is the lowest-ranked agent, beside two voters. When both have forgotten, terms
//! may be below the one that it has followed; that it follows the next leader all the same is a sight, and no invariant:
//! what it is told may always be lost.
//!
//! A search begins with a leader, since a group that begins abstains first
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

/// What the wall clocks show when a model begins: the term before the first one.
pub const FIRST: u64 = EPOCH / TICK;

/// How many terms the ledger has room for.
const ROOM: usize = 24;

/// What the wall clocks show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Walls {
    /// The right time.
    Right,
    /// Those of `b` and of every later incarnation are so many ticks behind the others.
    Behind(u8),
}

/// Voters without a disk, and how they are judged.
#[derive(Clone, Debug)]
pub struct Forgetful {
    voters: Quorum,
    first: Arc<QuorumConfig>,
    later: Arc<QuorumConfig>,
    walls: Walls,
    /// The voters, a bit each; the others observe.
    voting: u8,
    /// Some agent has to lead after so many crashes, or the model shows less than it says.
    pub crashes: u8,
}

impl Forgetful {
    /// Three voters with a lease of one reading of a clock, the lowest-ranked of which is not eligible.
    pub fn new(walls: Walls) -> Self {
        Self::of(0b111, walls)
    }

    /// Two voters, and an observer that knows a higher term than either when both have forgotten.
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
    /// Whether terms have to increase: clocks are right, or a majority remembers.
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

/// What an observer owes to voters that have forgotten.
pub const FOLLOWED: &str = "the observer follows a leader of voters that forgot its term";

/// Whether terms fell, and the observer, which remembers, follows an agent that leads by now.
fn follows_again(world: &World<Forgetful>) -> bool {
    let followed = world.view(0).and_then(|view| view.leader);
    let leads = followed.is_some_and(|leader| {
        let mut believers = world.believers();
        believers.any(|believer| believer == (position(&leader.id), leader.term.0))
    });
    leads && world.ledger.has_fallen() && world.incarnation(0) == Incarnation(1)
}

/// What was said and done in one history.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Ledger {
    /// `LeaderPerTerm`: the agent that announced itself in a term: the position plus one.
    announced: [u8; ROOM],
    /// The first token.
    first: u8,
    /// `TokenMonotone`: the last token.
    token: u8,
    /// Which agents have ever forgotten anything, a bit each.
    forgot: u8,
    /// The first invariant that was broken.
    broken: Option<&'static str>,
}

impl Ledger {
    /// Whether an agent beside `me` has announced itself in a term above that one.
    fn has_rival(&self, me: usize, term: u64) -> bool {
        let above = &self.announced[(index(term) + 1).min(ROOM)..];
        above.iter().any(|who| *who != 0 && *who != mark(me))
    }

    /// Whether an agent has announced itself in a term below the first one that was led in.
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

/// A term as a small number; terms that are counted begin at zero.
fn small(term: u64) -> u8 {
    u8::try_from(term.checked_sub(FIRST).unwrap_or(term)).unwrap_or(u8::MAX)
}

/// No search goes on for so long that a term is beyond the last entry.
fn index(term: u64) -> usize {
    let index = usize::from(small(term));
    assert!(index < ROOM, "no room for term {term}");
    index
}
