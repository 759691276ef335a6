//! The history of a quorum election that its invariants need.
//!
//! Decided here: what each step adds, and which invariants it breaks at once. [`crate::quorum`] judges the invariants
//! that depend on clocks. The ledger is as small as possible, because it is a part of every state. Its [`Terms`] are also
//! those of the elections without disks and with voters that change.

use bully_core::{
    elections::quorum::{Claim, QuorumBully, QuorumMessage, Vote},
    protocol::{Effect, Event, Incarnation, Term},
};

use crate::rules::{Seen, name, position};

/// Length of the ledger: one more than the highest term that the model explores.
const ROOM: usize = 4;

/// Largest number of agents.
const MOST: usize = 3;

/// The votes, announcements and tokens of one path, for `AGENTS` agents and `ROOM` terms. An agent is its position plus
/// one.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Terms<const AGENTS: usize, const ROOM: usize> {
    /// `VoteOnce`: for each term, the candidate of each voter's vote in all its incarnations.
    pub votes: [[u8; AGENTS]; ROOM],
    /// `LeaderPerTerm`: the agent that announced itself in each term.
    pub announced: [u8; ROOM],
    /// `TokenMonotone`: the last token.
    pub token: u64,
    /// The first invariant that was broken.
    pub broken: Option<&'static str>,
}

impl<const AGENTS: usize, const ROOM: usize> Default for Terms<AGENTS, ROOM> {
    fn default() -> Self {
        Self {
            votes: [[0; AGENTS]; ROOM],
            announced: [0; ROOM],
            token: 0,
            broken: None,
        }
    }
}

impl<const AGENTS: usize, const ROOM: usize> Terms<AGENTS, ROOM> {
    pub fn breaks(&mut self, invariant: &'static str) {
        self.broken.get_or_insert(invariant);
    }

    /// Checks `LeaderPerTerm` when an agent announces itself.
    pub fn announces(&mut self, me: usize, index: usize) {
        let before = std::mem::replace(&mut self.announced[index], mark(me));
        if before != 0 && before != mark(me) {
            self.breaks("LeaderPerTerm");
        }
    }

    /// Checks `TokenMonotone` when a leadership begins.
    pub fn acquires(&mut self, token: u64) {
        if token <= self.token {
            self.breaks("TokenMonotone");
        }
        self.token = self.token.max(token);
    }

    /// Checks `DiskFirst`: a message about a term is sent after the term is durable.
    pub fn is_durable(&mut self, term: Term, disk: Term) {
        if disk < term {
            self.breaks("DiskFirst");
        }
    }
}

/// The history of one path, as far as the invariants need it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Ledger {
    pub terms: Terms<MOST, ROOM>,
    /// `CountedForItself`: the incarnations of the candidate for which each vote was, a bit each.
    pub lives: [[u8; MOST]; ROOM],
    /// `ResignFinal`: the agents that resigned each term, a bit each.
    resigned: [u8; ROOM],
    /// Votes as in `votes`, given at the request of a leader. They count after this leader has resigned.
    ahead: [[u8; MOST]; ROOM],
    /// The agent that the votes in `ahead` have elected: the position plus one.
    given: [u8; ROOM],
    /// The highest term that any agent claimed.
    pub highest: u8,
    /// The largest number of rounds of questions in one incarnation: two worlds that differ in it are different.
    rounds: u8,
}

impl Ledger {
    /// Returns whether an agent other than `me` has a quorum of votes for a term above `term` (`NoRivalElected`).
    pub fn has_rival(&self, me: usize, term: u64, quorum: usize) -> bool {
        let above = self.terms.votes.iter().enumerate().skip(index(term) + 1);
        let mut others = above.flat_map(|(_, votes)| {
            (0..MOST)
                .filter(|agent| *agent != me)
                .map(|agent| count(votes, agent))
        });
        others.any(|votes| votes >= quorum)
    }

    /// Returns whether `me` resigned `term` (`ResignFinal`).
    pub fn has_resigned(&self, me: usize, term: u64) -> bool {
        self.resigned[index(term)] & (1 << me) != 0
    }

    /// Returns whether `me` was elected in `term` by votes at the request of a leader.
    pub fn was_given(&self, me: usize, term: u64) -> bool {
        self.given[index(term)] == mark(me)
    }

    /// Checks `VoteOnce`, and the part of `LeaderPerTerm` that concerns votes.
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
        let votes = &mut self.terms.votes[index(term.0)];
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
            self.terms.breaks("VoteOnce");
        }
        if elected > 1 {
            self.terms.breaks("LeaderPerTerm");
        }
    }

    /// Forgets the vote of a record that a crash lost before it was durable.
    pub fn forget(&mut self, agent: usize, kept: Option<&Vote>, lost: &Vote) {
        let term = index(lost.term.0);
        let vote = &mut self.terms.votes[term][agent];
        if kept.is_none_or(|kept| kept.term < lost.term) && *vote == mark(agent) {
            (*vote, self.lives[term][agent]) = (0, 0);
        }
    }

    /// Records one effect of a step of a voter; `quorum` is the number of votes that elects.
    pub fn note(&mut self, seen: &Seen<'_, QuorumBully>, quorum: usize) {
        let disk = seen.disk.map_or(Term::ZERO, |vote: &Vote| vote.term);
        match seen.effect {
            Effect::Persist(vote) if vote.term < disk => self.terms.breaks("TermMonotone"),
            Effect::Persist(vote) => {
                // A claim is sent before its record is durable. The candidate's own vote counts when the record is
                // durable.
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
                self.terms.acquires(term.0);
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
                self.terms.is_durable(reply.term, disk);
            }
            (QuorumMessage::Ack(ack), _) => self.terms.is_durable(ack.term, disk),
            (QuorumMessage::Elected(elected), _) => {
                self.terms.is_durable(elected.term, disk);
                self.terms.announces(me, index(elected.term.0));
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
        let given = [self.terms.votes[term][voter], self.ahead[term][voter]];
        if given.iter().any(|vote| *vote != 0 && *vote != mark(to)) {
            self.terms.breaks("VoteOnce");
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

    /// `CountedForItself`: an agent that announces itself has a quorum of votes for its present incarnation.
    pub fn counts(&mut self, seen: &Seen<'_, QuorumBully>, quorum: usize) {
        let Effect::Send { message, .. } = seen.effect else {
            return;
        };
        let QuorumMessage::Elected(elected) = message else {
            return;
        };
        let term = index(elected.term.0);
        let (me, own) = (mark(seen.agent), bit(seen.incarnation));
        let votes = self.terms.votes[term].iter().zip(self.lives[term]);
        let mine = votes.filter(|(vote, lives)| **vote == me && lives & own != 0);
        if mine.count() < quorum {
            self.terms.breaks("CountedForItself");
        }
    }
}

fn count(votes: &[u8; MOST], agent: usize) -> usize {
    votes.iter().filter(|vote| **vote == mark(agent)).count()
}

fn bit(life: Incarnation) -> u8 {
    1 << life.0.min(7)
}

/// Returns the position plus one.
pub fn mark(agent: usize) -> u8 {
    small(u64::try_from(agent).unwrap_or(u64::MAX)).saturating_add(1)
}

fn small(number: u64) -> u8 {
    u8::try_from(number).unwrap_or(u8::MAX)
}

/// Returns the index of a term. A term beyond the last entry is beyond the boundary too, so its entry is not read.
fn index(term: u64) -> usize {
    usize::try_from(term).unwrap_or(usize::MAX).min(ROOM - 1)
}
