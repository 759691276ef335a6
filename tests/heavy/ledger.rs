//! What a quorum election's invariants need to remember.
//!
//! Decided here: what each step adds, and which invariants it breaks at once; those that depend on
//! the clocks are judged in [`crate::quorum`]. As small as can be: it is part of every state.

use bully_core::{
    elections::quorum::{Claim, QuorumBully, QuorumMessage, Vote},
    protocol::{Effect, Event, Incarnation, Term},
};

use crate::rules::{Seen, name, position};

/// The highest term that the ledger have room for; the model looks no further.
pub const ROOM: usize = 4;

/// The most agents.
pub const MOST: usize = 3;

/// What was said and done in one history.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Ledger {
    /// `VoteOnce`: for each term, the candidate that each voter voted for in all its incarnations: the position plus one.
    votes: [[u8; MOST]; ROOM],
    /// `CountedForItself`: for which incarnations of the candidate each of them was: a bit each.
    lives: [[u8; MOST]; ROOM],
    /// `LeaderPerTerm`: the agent that announced itself in a term: the position plus one.
    announced: [u8; ROOM],
    /// `ResignFinal`: the agents that resigned a term: a bit each.
    resigned: [u8; ROOM],
    /// As `votes`, at the request of a leader: they count once that one has resigned.
    ahead: [[u8; MOST]; ROOM],
    /// The agent that such votes have elected: the position plus one.
    given: [u8; ROOM],
    /// `TokenMonotone`: the last token.
    token: u8,
    /// The highest term that any agent claimed.
    pub highest: u8,
    /// The most rounds that any agent asked in one incarnation.
    pub rounds: u8,
    /// The first invariant that was broken.
    pub broken: Option<&'static str>,
}

impl Ledger {
    /// Whether an agent beside `me` has so many votes for a term above `term`, or for any (`NoRivalElected`).
    pub fn has_rival(&self, me: usize, term: u64, quorum: usize) -> bool {
        let above = self.votes.iter().enumerate().skip(index(term) + 1);
        let mut others = above.flat_map(|(_, votes)| {
            (0..MOST)
                .filter(|agent| *agent != me)
                .map(|agent| count(votes, agent))
        });
        others.any(|votes| votes >= quorum)
    }

    /// Whether `me` resigned that term (`ResignFinal`).
    pub fn has_resigned(&self, me: usize, term: u64) -> bool {
        self.resigned[index(term)] & (1 << me) != 0
    }

    /// Whether `me` was given that term.
    pub fn was_given(&self, me: usize, term: u64) -> bool {
        self.given[index(term)] == mark(me)
    }

    fn breaks(&mut self, invariant: &'static str) {
        self.broken.get_or_insert(invariant);
    }

    /// `VoteOnce`, and `LeaderPerTerm` as far as votes go.
    fn vote(
        &mut self,
        voter: usize,
        (candidate, life): (usize, Incarnation),
        term: Term,
        quorum: usize,
    ) {
        self.lives[index(term.0)][voter] |= bit(life);
        self.elects(voter, candidate, term, quorum);
    }

    fn elects(&mut self, voter: usize, candidate: usize, term: Term, quorum: usize) {
        let votes = &mut self.votes[index(term.0)];
        let mine = mark(candidate);
        let before = votes[voter];
        votes[voter] = mine;
        let elected = (0..MOST)
            .filter(|agent| count(votes, *agent) >= quorum)
            .count();
        let ahead = self.ahead[index(term.0)][voter];
        if [before, ahead]
            .iter()
            .any(|vote| *vote != 0 && *vote != mine)
        {
            self.breaks("VoteOnce");
        }
        if elected > 1 {
            self.breaks("LeaderPerTerm");
        }
    }

    /// A crash came before that record was durable: what it says of this agent's own vote was never so.
    pub fn forget(&mut self, agent: usize, kept: Option<&Vote>, lost: &Vote) {
        let term = index(lost.term.0);
        let vote = &mut self.votes[term][agent];
        if kept.is_none_or(|kept| kept.term < lost.term) && *vote == mark(agent) {
            (*vote, self.lives[term][agent]) = (0, 0);
        }
    }

    /// Records one effect of a step of a voter, where `quorum` is what elects in truth.
    pub fn note(&mut self, seen: &Seen<'_, QuorumBully>, quorum: usize) {
        let disk = seen.disk.map_or(Term::ZERO, |vote: &Vote| vote.term);
        match seen.effect {
            Effect::Persist(vote) if vote.term < disk => self.breaks("TermMonotone"),
            Effect::Persist(vote) => {
                // A claim is out before; its candidate's own vote is one when it is durable.
                let own = name(seen.agent);
                let is_own = vote.voted_for.as_ref().is_some_and(|voted| voted.id == own);
                if vote.term > disk && is_own {
                    self.vote(
                        seen.agent,
                        (seen.agent, seen.incarnation),
                        vote.term,
                        quorum,
                    );
                }
            }
            Effect::Notify(Event::Acquired { term } | Event::Renewed { term }) => {
                let token = small(term.0);
                if token <= self.token {
                    self.breaks("TokenMonotone");
                }
                self.token = self.token.max(token);
            }
            Effect::Send { message, .. } => self.note_message(seen, message, disk, quorum),
            Effect::Notify(_)
            | Effect::Ask(_)
            | Effect::SetTimer { .. }
            | Effect::CancelTimer(_) => {}
        }
    }

    fn note_message(
        &mut self,
        seen: &Seen<'_, QuorumBully>,
        message: &QuorumMessage,
        disk: Term,
        quorum: usize,
    ) {
        let me = seen.agent;
        match (message, seen.heard) {
            (QuorumMessage::Claim(claim), _) => {
                self.highest = self.highest.max(small(claim.term.0));
            }
            (QuorumMessage::ClaimReply(reply), Some((from, asked))) if reply.granted => {
                match asked {
                    QuorumMessage::Claim(Claim {
                        successor: Some(to),
                        ..
                    }) => self.vote_ahead(me, (position(&to.id), to.incarnation), reply.term),
                    _ => self.vote(me, (from, seen.heard_of), reply.term, quorum),
                }
                self.is_durable(reply.term, disk);
            }
            (QuorumMessage::Ack(ack), _) => self.is_durable(ack.term, disk),
            (QuorumMessage::Elected(elected), _) => {
                self.is_durable(elected.term, disk);
                let announced = &mut self.announced[index(elected.term.0)];
                let before = std::mem::replace(announced, mark(me));
                if before != 0 && before != mark(me) {
                    self.breaks("LeaderPerTerm");
                }
            }
            (QuorumMessage::Resign(resign), _) => {
                self.resigned[index(resign.term.0)] |= 1 << me;
                if let (Some(term), Some(to)) = (resign.given, &resign.successor) {
                    self.elect_ahead(term, position(to), quorum);
                }
            }
            (QuorumMessage::Elect(elect), _) => {
                self.rounds = self.rounds.max(small(elect.round.counter));
            }
            (_, _) => {}
        }
    }

    fn vote_ahead(&mut self, voter: usize, (to, life): (usize, Incarnation), term: Term) {
        let term = index(term.0);
        self.lives[term][voter] |= bit(life);
        let given = [self.votes[term][voter], self.ahead[term][voter]];
        if given.iter().any(|vote| *vote != 0 && *vote != mark(to)) {
            self.breaks("VoteOnce");
        }
        self.ahead[term][voter] = mark(to);
    }

    fn elect_ahead(&mut self, term: Term, to: usize, quorum: usize) {
        self.given[index(term.0)] = mark(to);
        let ahead = std::mem::take(&mut self.ahead[index(term.0)]);
        for (voter, vote) in ahead.into_iter().enumerate() {
            if vote == mark(to) {
                self.elects(voter, to, term, quorum);
            }
        }
    }

    /// `CountedForItself`: who announces itself has a quorum of votes that were given to it in this incarnation.
    pub fn counts(&mut self, seen: &Seen<'_, QuorumBully>, quorum: usize) {
        let Effect::Send { message, .. } = seen.effect else {
            return;
        };
        let QuorumMessage::Elected(elected) = message else {
            return;
        };
        let term = index(elected.term.0);
        let (me, own) = (mark(seen.agent), bit(seen.incarnation));
        let votes = self.votes[term].iter().zip(self.lives[term]);
        let mine = votes.filter(|(vote, lives)| **vote == me && lives & own != 0);
        if mine.count() < quorum {
            self.breaks("CountedForItself");
        }
    }

    /// Where that is not asked, states are alike that differ in it alone.
    pub fn forget_lives(&mut self) {
        self.lives = Default::default();
    }

    /// `DiskFirst`: what is said of a term is said after it is durable.
    fn is_durable(&mut self, term: Term, disk: Term) {
        if disk < term {
            self.breaks("DiskFirst");
        }
    }
}

fn count(votes: &[u8; MOST], agent: usize) -> usize {
    votes.iter().filter(|vote| **vote == mark(agent)).count()
}

fn bit(life: Incarnation) -> u8 {
    1 << life.0.min(7)
}

fn mark(agent: usize) -> u8 {
    small(u64::try_from(agent).unwrap_or(u64::MAX)).saturating_add(1)
}

fn small(number: u64) -> u8 {
    u8::try_from(number).unwrap_or(u8::MAX)
}

/// What is beyond the last entry is beyond the boundary too, and is not read.
fn index(term: u64) -> usize {
    usize::try_from(term).unwrap_or(usize::MAX).min(ROOM - 1)
}
