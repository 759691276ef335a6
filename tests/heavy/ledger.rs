//! The history of a quorum election that its invariants need.
//!
//! Decided here: what each step adds, and which invariants it breaks at once. [`crate::quorum`] judges the invariants
//! that depend on clocks. The ledger is as small as possible, because it is a part of every state.

use bully_core::{
    elections::quorum::{Claim, QuorumBully, QuorumMessage, Vote},
    protocol::{Effect, Event, Incarnation, Term},
};

use crate::rules::{Seen, name, position};

/// Length of the ledger: one more than the highest term that the model explores.
pub const ROOM: usize = 4;

/// Largest number of agents.
pub const MOST: usize = 3;

/// The history of one path, as far as the invariants need it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Ledger {
    /// `VoteOnce`: for each term, the candidate of each voter's vote in all its incarnations: the position plus one.
    votes: [[u8; MOST]; ROOM],
    /// `CountedForItself`: the incarnations of the candidate for which each vote was, a bit each.
    lives: [[u8; MOST]; ROOM],
    /// `LeaderPerTerm`: the agent that announced itself in each term: the position plus one.
    announced: [u8; ROOM],
    /// `ResignFinal`: the agents that resigned each term, a bit each.
    resigned: [u8; ROOM],
    /// Votes as in `votes`, given at the request of a leader. They count after this leader has resigned.
    ahead: [[u8; MOST]; ROOM],
    /// The agent that the votes in `ahead` have elected: the position plus one.
    given: [u8; ROOM],
    /// `TokenMonotone`: the last token.
    token: u8,
    /// The highest term that any agent claimed.
    pub highest: u8,
    /// The largest number of rounds of questions in one incarnation.
    pub rounds: u8,
    /// The first invariant that was broken.
    pub broken: Option<&'static str>,
}

impl Ledger {
    /// Returns whether an agent other than `me` has a quorum of votes for a term above `term` (`NoRivalElected`).
    pub fn has_rival(&self, me: usize, term: u64, quorum: usize) -> bool {
        let above = self.votes.iter().enumerate().skip(index(term) + 1);
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

    fn breaks(&mut self, invariant: &'static str) {
        self.broken.get_or_insert(invariant);
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

    /// Forgets the vote of a record that a crash lost before it was durable.
    pub fn forget(&mut self, agent: usize, kept: Option<&Vote>, lost: &Vote) {
        let term = index(lost.term.0);
        let vote = &mut self.votes[term][agent];
        if kept.is_none_or(|kept| kept.term < lost.term) && *vote == mark(agent) {
            (*vote, self.lives[term][agent]) = (0, 0);
        }
    }

    /// Records one effect of a step of a voter; `quorum` is the number of votes that elects.
    pub fn note(&mut self, seen: &Seen<'_, QuorumBully>, quorum: usize) {
        let disk = seen.disk.map_or(Term::ZERO, |vote: &Vote| vote.term);
        match seen.effect {
            Effect::Persist(vote) if vote.term < disk => self.breaks("TermMonotone"),
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
        let votes = self.votes[term].iter().zip(self.lives[term]);
        let mine = votes.filter(|(vote, lives)| **vote == me && lives & own != 0);
        if mine.count() < quorum {
            self.breaks("CountedForItself");
        }
    }

    /// Forgets `lives` where `CountedForItself` is not checked, so that states that differ only in it are equal.
    pub fn forget_lives(&mut self) {
        self.lives = Default::default();
    }

    /// `DiskFirst`: a message about a term is sent after the term is durable.
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

/// Returns the index of a term. A term beyond the last entry is beyond the boundary too, so its entry is not read.
fn index(term: u64) -> usize {
    usize::try_from(term).unwrap_or(usize::MAX).min(ROOM - 1)
}
