//! The messages of a ring.
//!
//! | message | way | meaning |
//! |---|---|---|
//! | [`Collect`] | hop by hop | An election: these members take part so far. Add yourself. |
//! | [`Nominate`] | hop by hop | This member has the highest rank: it shall announce itself. |
//! | [`Coordinator`] | hop by hop, and to observers | I lead from now on, or (as a heartbeat) I still lead. |
//! | [`HopAck`] | back one hop | I have received your message: you need not try another member. |
//! | [`Probe`] | to members that are skipped | Are you up? |
//! | [`Answer`] | back | I am up, and this is the leader that I follow. |
//!
//! All messages are flat; lists are [bounded](super::bounded). The sender's name and incarnation travel beside them.
//! Each message contains the agent that it is about, because other members pass it on.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::bounded::Bounded;
use bully_core::parts::messages;
use bully_core::protocol::{AgentId, Incarnation, Leader, Score, Term};

/// One election: its term, and the member that began it. Of two elections the larger one is stronger (rule
/// `yield-to-stronger`): the later term wins, then the higher-ranked origin.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RingElectionId {
    /// The term in which the winner will lead.
    pub term: Term,
    /// The origin's score when it began; `None` if it could not be elected.
    pub score: Option<Score>,
    /// The origin: the member that began the election.
    pub origin: AgentId,
    /// The origin's incarnation.
    pub incarnation: Incarnation,
}

/// A member that takes part in an election.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Entrant {
    /// The name of the member.
    pub id: AgentId,
    /// The incarnation of the member.
    pub incarnation: Incarnation,
    /// The score of the member; `None` if it cannot be elected.
    pub score: Option<Score>,
    /// Whether the member stepped down a short time ago. Such a member is chosen only if no other member can be
    /// elected.
    pub defers: bool,
}

/// "An election: these members take part so far." This is Chang and Roberts' token, with a list.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Collect {
    /// The election to which this lap belongs.
    pub election: RingElectionId,
    /// The members that take part, in ring order from the origin.
    pub entrants: Bounded<Entrant>,
}

/// "This member shall announce itself."
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Nominate {
    /// The election to which this lap belongs.
    pub election: RingElectionId,
    /// The highest-ranked entrant.
    pub winner: AgentId,
    /// The winner's incarnation.
    pub incarnation: Incarnation,
    /// The members that have passed this on. A member that finds itself in it knows that the winner is gone.
    pub passed: Bounded<AgentId>,
}

/// "I lead."
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Coordinator {
    /// The name of the leader that announces itself.
    pub leader: AgentId,
    /// The leader's incarnation.
    pub incarnation: Incarnation,
    /// The leader's score.
    pub score: Score,
    /// The term in which it leads.
    pub term: Term,
    /// 0 for an announcement; for a heartbeat its number in the term, from 1 on.
    pub beat: u64,
}

/// The purpose of a lap.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Lap {
    /// [`Collect`].
    Collect,
    /// [`Nominate`].
    Nominate,
    /// [`Coordinator`].
    Coordinator,
}

/// "I have received your message."
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HopAck {
    /// The lap of the received message.
    pub lap: Lap,
    /// The term of the received message.
    pub term: Term,
    /// The origin of the election in the received message, or the leader that it announces.
    pub about: AgentId,
    /// The number of the received heartbeat; 0 for every other message.
    pub beat: u64,
    /// The term of the newest leader that the sender knows. If it is higher than the term that the receiver knows, the
    /// receiver has missed an announcement.
    pub known: Term,
}

/// "Are you up?"
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Probe {
    /// The term of the newest leader that the sender knows.
    pub known: Term,
}

/// "I am up."
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Answer {
    /// The term of the newest leader that the sender knows.
    pub known: Term,
    /// The leader that the sender follows, or the sender itself; `None` if it knows no leader.
    pub leader: Option<Leader>,
}

messages! {
    /// All messages of a ring.
    pub enum RingMessage {
        // Every voter may pass on the messages of the ring. Only a message in which the sender states that it leads
        // itself, or can be elected itself, needs the right to lead.
        Collect(m, from) => "collect", m.election.term, by Voter or Leader if m.nominates(from);
        Nominate(m) => "nominate", m.election.term, by Voter;
        Coordinator(m, from) => if m.beat > 0 { "beat" } else { "coordinator" }, m.term,
            by Voter or Leader if m.leader == *from, repeated if m.beat > 0;
        // An observer sends this if it knows a later term than the term of an announcement.
        HopAck(m) => if m.beat > 0 { "beat_ack" } else { "hop_ack" }, m.term.max(m.known),
            by Observer, repeated if m.beat > 0;
        Probe(m) => "probe", m.known, by Voter, repeated;
        Answer(m, from) => "answer", m.leader.as_ref().map_or(m.known, |leader| leader.term.max(m.known)),
            by Voter or Leader if m.leader.as_ref().is_some_and(|leader| leader.id == *from), repeated;
    }
}

impl Collect {
    /// Returns whether this agent can be elected, by this message.
    fn nominates(&self, id: &AgentId) -> bool {
        let is_eligible = |e: &Entrant| e.id == *id && e.score.is_some();
        let begins = self.election.origin == *id && self.election.score.is_some();
        begins || self.entrants.as_slice().iter().any(is_eligible)
    }
}

impl RingMessage {
    /// Returns the acknowledgement by a member whose newest known leader has the term `known`, if one is due.
    pub(super) fn acknowledgement(&self, known: Term) -> Option<HopAck> {
        let (lap, term, about, beat) = match self {
            Self::Collect(m) => (Lap::Collect, m.election.term, &m.election.origin, 0),
            Self::Nominate(m) => (Lap::Nominate, m.election.term, &m.election.origin, 0),
            Self::Coordinator(m) => (Lap::Coordinator, m.term, &m.leader, m.beat),
            Self::HopAck(_) | Self::Probe(_) | Self::Answer(_) => return None,
        };
        let about = about.clone();
        Some(HopAck {
            lap,
            term,
            about,
            beat,
            known,
        })
    }
}

/// A message that each member acknowledges and passes on, until it has gone round the ring.
#[derive(Debug)]
pub(super) enum LapMessage {
    Collect(Collect),
    Nominate(Nominate),
    Coordinator(Coordinator),
}

messages!(@in LapMessage [Collect Nominate Coordinator] RingMessage);

impl LapMessage {
    pub(super) const fn lap(&self) -> Lap {
        match self {
            Self::Collect(_) => Lap::Collect,
            Self::Nominate(_) => Lap::Nominate,
            Self::Coordinator(_) => Lap::Coordinator,
        }
    }
}

impl fmt::Display for RingElectionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} by {}", self.term, self.origin)
    }
}

impl fmt::Display for RingMessage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Collect(m) => {
                write!(f, "collect {}:", m.election)?;
                let names = m.entrants.as_slice().iter();
                names.map(|e| &e.id).try_for_each(|id| write!(f, " {id}"))
            }
            Self::Nominate(m) => {
                write!(f, "nominate {}: {}, passed by", m.election, m.winner)?;
                let mut names = m.passed.as_slice().iter();
                names.try_for_each(|id| write!(f, " {id}"))
            }
            Self::Coordinator(m) if m.beat > 0 => {
                write!(f, "beat {} of {} term {}", m.beat, m.leader, m.term)
            }
            Self::Coordinator(m) => {
                write!(
                    f,
                    "coordinator {} term {} score {}",
                    m.leader, m.term, m.score
                )
            }
            Self::HopAck(m) => {
                let lap = match m.lap {
                    Lap::Collect => "collect",
                    Lap::Nominate => "nominate",
                    Lap::Coordinator if m.beat > 0 => "beat",
                    Lap::Coordinator => "coordinator",
                };
                write!(f, "ack {lap} {} by {}", m.term, m.about)
            }
            Self::Probe(m) => write!(f, "probe knows term {}", m.known),
            Self::Answer(m) => match &m.leader {
                Some(leader) => write!(f, "answer follows {} in term {}", leader.id, leader.term),
                None => write!(f, "answer follows nobody"),
            },
        }
    }
}
