//! The quorum election whose voters change while it runs: three voters, and a learner that becomes one.
//!
//! The model checks over all epochs: `OneBeliever`, `LeaderPerTerm`, `VoteOnce`, `TermMonotone`, `TokenMonotone`,
//! `NoRivalElected`, `DiskFirst`; and of the change itself:
//!
//! | invariant | statement |
//! |---|---|
//! | `OneList` | one epoch has one list of voters |
//! | `SealedByQuorum` | a list is installed only if a quorum of the former voters has sealed for it in one term |
//! | `NoBelieverAfterSeal` | after a quorum has sealed, no agent leads in any term of the sealed epoch |
//! | `NoSupportAfterSeal` | no voter acknowledges the leader of a term that its durable seal forbids |
//! | `SealKept` | a voter gives up a durable seal only for a leader of a higher term |
//! | `SealFinal` | an agent that asked for a seal in a term no longer leads in this term |
//! | `LostFirst` | an agent that asks for a seal has published before that it no longer leads |
//!
//! A search begins with a leader that has heard of its learner ([`Bounds::prologue`](crate::timed::Bounds::prologue)).
//! Messages of a learner after that are dropped: they would only fill the wire. Every voter consents at once.

use std::{sync::Arc, time::Duration};

use bully_core::{
    elections::{
        bully::Yield,
        quorum::{QuorumBully, QuorumConfig, QuorumMessage, SealRecord, Vote},
    },
    protocol::{
        AgentId, Decree, Effect, EffectOf, Event, Incarnation, Input, InputOf, Round, Score, Term,
        VotersEvent,
    },
};

use crate::{
    ledger::{Terms, mark},
    quorum::Quorum,
    rules::{Rules, Seen, name, position},
    timed::{Bounds, World},
};

/// Number of the lower bits of a term. They count the elections of one epoch.
const TERM_BITS: u32 = 40;
/// Number of terms of each epoch in the ledger.
const TERMS: usize = 9;
/// Number of epochs in the ledger.
const EPOCHS: usize = 3;
/// Largest number of agents.
const MOST: usize = 4;

/// Rules of a quorum election whose voters change, for a model.
#[derive(Clone, Debug)]
pub struct Changing {
    voters: Quorum,
    learner: Arc<QuorumConfig>,
    /// Epoch in which some agent has to lead; otherwise the model shows less than its name promises.
    epoch: u64,
}

/// Highest term of each epoch that the model explores.
const HIGHEST: u64 = 4;
/// Tick from which on the messages of a learner are dropped.
const DEAF_FROM: u16 = 2;

impl Default for Changing {
    /// Returns the rules for the voters `a`, `b` and `c`, and the learner `d`; a lease covers one reading of a clock.
    fn default() -> Self {
        let voters = Quorum::new(3, 1).with_witnesses(0);
        let learner = Arc::new(QuorumConfig {
            learner: true,
            ..QuorumConfig::clone(voters.config())
        });
        Self {
            voters,
            learner,
            epoch: 0,
        }
    }
}

impl Changing {
    /// Returns the consent of every agent in `round`.
    fn consents(round: Round, seen: Term) -> Vec<InputOf<QuorumBully>> {
        let consent = |from| Input::Received {
            from,
            incarnation: Incarnation(1),
            message: QuorumMessage::Yield(Yield {
                round,
                seen,
                ..Yield::default()
            }),
        };
        (0..MOST).map(name).map(consent).collect()
    }
}

impl Rules for Changing {
    type Election = QuorumBully;
    type Ledger = Ledger;

    fn set(&mut self, bounds: &mut Bounds, name: &str, value: &'static str) -> bool {
        let is_known = name == "changes" && bounds.set(name, value);
        if is_known {
            self.epoch = u64::try_from(bounds.budget.changes.len()).unwrap_or(u64::MAX);
        }
        is_known
    }

    fn config(&self) -> &Arc<QuorumConfig> {
        self.voters.config()
    }

    fn config_of(&self, who: usize, _incarnation: Incarnation) -> &Arc<QuorumConfig> {
        if who == 3 {
            &self.learner
        } else {
            self.voters.config()
        }
    }

    fn memory(&self) -> Duration {
        self.voters.memory()
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
        let Effect::Send { message, .. } = effect else {
            return None;
        };
        match message {
            QuorumMessage::ClaimReply(reply) if !reply.granted => Some(Vec::new()),
            QuorumMessage::Elect(elect) => Some(Self::consents(elect.round, elect.seen)),
            QuorumMessage::Enlist(_) if now >= DEAF_FROM => Some(Vec::new()),
            _ => None,
        }
    }

    fn note(&self, ledger: &mut Ledger, seen: &Seen<'_, QuorumBully>) {
        ledger.note(seen);
    }

    fn forget(&self, ledger: &mut Ledger, agent: usize, kept: Option<&Vote>, lost: &Vote) {
        ledger.forget(agent, kept, lost);
    }

    fn broken(&self, world: &World<Self>) -> Option<&'static str> {
        let ledger = &world.ledger;
        if ledger.terms.broken.is_some() {
            return ledger.terms.broken;
        }
        let (me, term) = world.believers().next()?;
        if world.believers().nth(1).is_some() {
            return Some("OneBeliever");
        }
        if ledger.is_sealed(epoch(term)) {
            return Some("NoBelieverAfterSeal");
        }
        if ledger.asked[index(term)] & (1 << me) != 0 {
            return Some("SealFinal");
        }
        ledger.has_rival(me, term).then_some("NoRivalElected")
    }

    fn sights(&self) -> &'static [&'static str] {
        &["an agent leads in the last epoch"]
    }

    fn shows(&self, _sight: usize, world: &World<Self>) -> bool {
        let mut believers = world.believers();
        believers.any(|(_, term)| epoch(term) == self.epoch)
    }

    fn is_within(&self, ledger: &Ledger) -> bool {
        ledger.highest <= HIGHEST
    }
}

/// The history of one path, as far as the invariants need it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Ledger {
    /// The voters of each epoch, a bit each; zero while no agent has its list.
    lists: [u8; EPOCHS],
    terms: Terms<MOST, { TERMS * EPOCHS }>,
    /// The agents that asked for seals in each term, a bit each.
    asked: [u8; TERMS * EPOCHS],
    /// The voters that have ever sealed in each term, a bit each, and the list for which they sealed. One list for each
    /// term.
    sealed: [(u8, u8); TERMS * EPOCHS],
    /// The term in which each agent announced that it leads; zero for none.
    led: [u64; MOST],
    /// The highest term of an epoch that any agent claimed.
    highest: u64,
}

impl Default for Ledger {
    fn default() -> Self {
        let mut lists = [0; EPOCHS];
        lists[0] = 0b0111;
        Self {
            lists,
            terms: Terms::default(),
            asked: [0; TERMS * EPOCHS],
            sealed: [(0, 0); TERMS * EPOCHS],
            led: [0; MOST],
            highest: 0,
        }
    }
}

impl Ledger {
    /// Returns whether a quorum of the voters of an epoch has sealed in one term, for any list.
    fn is_sealed(&self, epoch: u64) -> bool {
        (0..TERMS).any(|term| self.seals(epoch, term))
    }

    /// Returns whether a quorum of the voters of an epoch has sealed in `term`.
    fn seals(&self, epoch: u64, term: usize) -> bool {
        let epoch = small(epoch);
        let (sealed, _) = self.sealed[epoch * TERMS + term];
        is_quorum(sealed, self.lists[epoch])
    }

    /// Returns whether an agent other than `me` has a quorum of votes for a term above `term`, by the voters of its
    /// epoch.
    fn has_rival(&self, me: usize, term: u64) -> bool {
        (index(term) + 1..TERMS * EPOCHS)
            .any(|above| (0..MOST).any(|agent| agent != me && self.is_elected(above, agent)))
    }

    fn is_elected(&self, index: usize, agent: usize) -> bool {
        let voters = self.terms.votes[index].iter().enumerate();
        let voters = voters.filter(|(_, vote)| **vote == mark(agent));
        let voters = voters.fold(0, |voters, (voter, _)| voters | 1 << voter);
        is_quorum(voters, self.lists[index / TERMS])
    }

    /// Forgets the vote and the seal of a record that a crash lost before it was durable.
    fn forget(&mut self, agent: usize, kept: Option<&Vote>, lost: &Vote) {
        let vote = &mut self.terms.votes[index(lost.term.0)][agent];
        if kept.is_none_or(|kept| kept.term < lost.term) && *vote == mark(agent) {
            *vote = 0;
        }
        let is_lost = |seal: &&SealRecord| kept.and_then(Vote::seal) != Some(*seal);
        if let Some(seal) = lost.seal().filter(is_lost) {
            self.sealed[index(seal.term.0)].0 &= !(1 << agent);
        }
    }

    fn note(&mut self, seen: &Seen<'_, QuorumBully>) {
        let disk = seen.disk.map_or(Term::ZERO, |vote| vote.term);
        match seen.effect {
            Effect::Persist(vote) => {
                if vote.term < disk {
                    self.terms.breaks("TermMonotone");
                }
                if let Some(decree) = vote.installed() {
                    self.install(decree);
                }
                let gives_up =
                    |seal: Term| epoch(seal.0) == epoch(vote.term.0) && vote.term <= seal;
                let seal = seen.disk.and_then(Vote::seal);
                if vote.seal().is_none() && seal.is_some_and(|seal| gives_up(seal.term)) {
                    self.terms.breaks("SealKept");
                }
                self.seal(seen.agent, vote);
                // A claim is sent before its record is durable. The candidate's own vote counts when the record is
                // durable.
                let own = name(seen.agent);
                let is_own = vote.voted_for.as_ref().is_some_and(|voted| voted.id == own);
                if vote.term > disk && is_own {
                    self.vote(seen.agent, seen.agent, vote.term);
                }
            }
            Effect::Notify(Event::Voters(event)) => {
                if let VotersEvent::Installed(decree) = &**event {
                    self.install(decree);
                    if seen.disk.and_then(Vote::installed) != Some(decree) {
                        self.terms.breaks("DiskFirst");
                    }
                }
            }
            Effect::Notify(Event::Acquired { term } | Event::Renewed { term }) => {
                self.terms.acquires(term.0);
                self.led[seen.agent] = term.0;
            }
            Effect::Notify(Event::Lost { .. }) => self.led[seen.agent] = 0,
            Effect::Send { message, .. } => self.note_message(seen, message, disk),
            Effect::Notify(_)
            | Effect::Ask(_)
            | Effect::SetTimer { .. }
            | Effect::CancelTimer(_) => {}
        }
    }

    fn note_message(&mut self, seen: &Seen<'_, QuorumBully>, message: &QuorumMessage, disk: Term) {
        let me = seen.agent;
        match (message, seen.heard) {
            (QuorumMessage::Claim(claim), _) => {
                self.highest = self.highest.max(count(claim.term.0));
            }
            (QuorumMessage::ClaimReply(reply), Some((from, asked))) if reply.granted => {
                let to = match asked {
                    QuorumMessage::Claim(claim) => {
                        claim.successor.as_ref().map(|to| position(&to.id))
                    }
                    _ => None,
                };
                self.vote(me, to.unwrap_or(from), reply.term);
                self.terms.is_durable(reply.term, disk);
            }
            (QuorumMessage::Ack(ack), _) => {
                self.terms.is_durable(ack.term, disk);
                let seal = seen.disk.and_then(Vote::seal);
                let forbids = |seal: Term| epoch(seal.0) == epoch(ack.term.0) && ack.term <= seal;
                if seal.is_some_and(|seal| forbids(seal.term)) {
                    self.terms.breaks("NoSupportAfterSeal");
                }
            }
            (QuorumMessage::Elected(elected), _) => {
                self.terms.is_durable(elected.term, disk);
                self.terms.announces(me, index(elected.term.0));
            }
            (QuorumMessage::Seal(seal), _) => {
                self.asked[index(seal.term.0)] |= 1 << me;
                if self.led[me] == seal.term.0 {
                    self.terms.breaks("LostFirst");
                }
            }
            (QuorumMessage::Sealed(sealed), _) => {
                let durable = seen.disk.and_then(Vote::seal).map(|seal| seal.term);
                if durable != Some(sealed.term) {
                    self.terms.breaks("DiskFirst");
                }
            }
            (_, _) => {}
        }
    }

    /// Checks `OneList` and `SealedByQuorum` when an agent has a new list.
    fn install(&mut self, decree: &Decree) {
        let (at, list) = (small(decree.epoch), mask(decree.names()));
        if self.lists[at] == list {
            return;
        }
        if self.lists[at] != 0 {
            return self.terms.breaks("OneList");
        }
        let before = decree.epoch - 1;
        let is_for = |term: &usize| self.sealed[small(before) * TERMS + term].1 == list;
        if !(0..TERMS)
            .filter(is_for)
            .any(|term| self.seals(before, term))
        {
            self.terms.breaks("SealedByQuorum");
        }
        self.lists[at] = list;
    }

    fn seal(&mut self, voter: usize, vote: &Vote) {
        let Some(seal) = vote.seal() else { return };
        let list = mask(seal.next.names());
        let (sealed, of) = &mut self.sealed[index(seal.term.0)];
        if *sealed != 0 && *of != list {
            return self.terms.breaks("OneList");
        }
        *sealed |= 1 << voter;
        *of = list;
        let epoch = epoch(seal.term.0);
        let decided = |term: &usize| self.seals(epoch, *term);
        let mut lists = (0..TERMS)
            .filter(decided)
            .map(|term| self.sealed[small(epoch) * TERMS + term].1);
        if lists.any(|other| other != list) && self.seals(epoch, index(seal.term.0) % TERMS) {
            self.terms.breaks("OneList");
        }
    }

    /// Checks `VoteOnce`, and the part of `LeaderPerTerm` that concerns votes.
    fn vote(&mut self, voter: usize, candidate: usize, term: Term) {
        let index = index(term.0);
        let before = std::mem::replace(&mut self.terms.votes[index][voter], mark(candidate));
        if before != 0 && before != mark(candidate) {
            self.terms.breaks("VoteOnce");
        }
        let elected = (0..MOST).filter(|agent| self.is_elected(index, *agent));
        if elected.count() > 1 {
            self.terms.breaks("LeaderPerTerm");
        }
    }
}

fn is_quorum(of: u8, list: u8) -> bool {
    list != 0 && (of & list).count_ones() * 2 > list.count_ones()
}

fn mask<'a>(names: impl Iterator<Item = &'a AgentId>) -> u8 {
    names.fold(0, |mask, id| mask | 1 << position(id))
}

fn epoch(term: u64) -> u64 {
    term >> TERM_BITS
}

fn count(term: u64) -> u64 {
    term & ((1 << TERM_BITS) - 1)
}

/// Returns the index of a term. A term beyond the last entry is beyond the boundary too, so its entry is not read.
fn index(term: u64) -> usize {
    small(epoch(term)) * TERMS + small(count(term)).min(TERMS - 1)
}

fn small(number: u64) -> usize {
    usize::try_from(number).expect("a small number")
}
