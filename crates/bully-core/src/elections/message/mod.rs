//! The messages between agents of a bully election: [`BullyMessage`] by the plain rules and those of ASTRA,
//! [`QuorumMessage`] in quorum mode. Agents of a lease send each other nothing.
//!
//! | message | textbook | ASTRA | meaning | quorum mode |
//! |---|---|---|---|---|
//! | [`Elect`] | ELECTION | `elect(name, score)` | I hold an election; who outranks me? | a probe: would you vote for me? |
//! | [`Ok`] | ANSWER, ALIVE | `result("ok")` | I do (or: there is a leader); stop | an objection, or why not |
//! | [`Yield`] | – | – | You outrank me; I give way | consent |
//! | [`Claim`] | – | – | – | vote for me |
//! | [`ClaimReply`] | – | – | – | my vote, or why not |
//! | [`Elected`] | COORDINATOR, VICTORY | `elected(name)` | I lead from now on | the same; asks for an `Ack` |
//! | [`Heartbeat`] | – | – | I still lead | the same; asks for an `Ack` |
//! | `Ack` | – | – | – | I support you for a while |
//! | [`Nack`] | – | – | – | I know a higher term, or another leader of yours |
//! | [`Behind`] | – | – | I have followed a higher term; lead above it | the same of observers; I am of an earlier epoch |
//! | [`Takeover`] | – | – | – | a quorum agrees that I take your place |
//! | [`Resign`] | – | – | I lead no longer | the same |
//! | [`Recover`] | – | – | – | without a disk: I have forgotten; which term do you know? |
//! | [`Recovered`] | – | – | – | that one |
//! | [`Recall`] | – | – | – | with a disk: I have started; what did you hear of me before? |
//! | [`Recalled`] | – | – | – | that |
//! | [`Seal`] | – | – | – | support no leader of this epoch; that list of voters shall follow |
//! | [`Sealed`] | – | – | – | I have sealed |
//! | [`Install`] | – | – | – | that list was decided |
//! | [`AskChange`], [`ChangeAnswer`] | – | – | – | to the leader: change the voters; its answer |
//! | [`Enlist`] | – | – | – | to the leader: I could become a voter |
//!
//! All are flat and small. The sender's name and incarnation travel beside them. Every answer names the incarnation
//! that asked, in its round or in a field of its own: no other incarnation may count it. A field that only one mode
//! needs is `None` in the other. The decoder bounds the length of a message, not its spans and terms: the machine that
//! uses a value bounds it.

mod bully;
mod change;
mod quorum;
mod recall;
pub(in crate::elections) mod record;
pub(in crate::elections) mod register;
mod text;

use std::time::Duration;

use serde::{Deserialize, Serialize};

pub use bully::BullyMessage;
pub use change::{AskChange, ChangeAnswer, Enlist, Install, Seal, Sealed};
pub use quorum::QuorumMessage;
pub use recall::{Recall, Recalled, Recover, Recovered};

use crate::elections::vote::SealRecord;
use crate::protocol::{AgentId, Incarnation, Leader, Round, Score, Term, Time};

/// "I hold an election; who outranks me?"
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Elect {
    /// The asker's round; an answer echoes it.
    pub round: Round,
    /// The asker's score.
    pub score: Score,
    /// The highest term the asker has seen; in quorum mode it asks for the one after it.
    pub seen: Term,
    /// Quorum mode: the live leadership that the asker wants to be handed over.
    pub takeover: Option<Leadership>,
    /// Quorum mode: a leadership that its holder has resigned, as the asker knows from the holder itself.
    pub released: Option<Leader>,
}

/// "Stop: I outrank you, or there is a leader."
///
/// A struct with named fields, so it does not shadow `Result::Ok`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ok {
    /// The round this answers.
    pub round: Round,
    /// The highest term the sender has seen.
    pub seen: Term,
    /// Quorum mode: why it does not consent, if not because it outranks the asker.
    pub refusal: Option<Refusal>,
}

/// The reason why a voter does not consent to a probe, other than that it outranks the asker.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Refusal {
    /// It supports another agent, or abstains, for this long.
    LeaderAlive {
        /// Time after which to ask again.
        retry: Micros,
    },
    /// The term asked for is not above its own.
    Stale,
}

/// "You outrank me; I give way."
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Yield {
    /// The round this answers.
    pub round: Round,
    /// The highest term the sender has seen.
    pub seen: Term,
    /// The term that the sender led in until this question made it stop, if it did.
    pub released: Option<Term>,
    /// Quorum mode without disks: the term by the sender's wall clock.
    pub clock: Option<Term>,
}

/// "I lead from now on."
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Elected {
    /// The term.
    pub term: Term,
    /// The leader's score.
    pub score: Score,
    /// The round this answers, when it is a standing leader's answer to an [`Elect`].
    pub answer: Option<Round>,
    /// Quorum mode: the leader's own clock when it sent this, for an `Ack` to echo.
    pub sent_at: Option<Time>,
}

/// "I still lead."
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Heartbeat {
    /// The term.
    pub term: Term,
    /// The leader's score now.
    pub score: Score,
    /// Quorum mode: the leader's own clock when it sent this, for an `Ack` to echo.
    pub sent_at: Option<Time>,
}

/// A leader's statement that it leads: an `Elected`, or a `Heartbeat`, which answers no round. Both are handled alike,
/// so that the next heartbeat replaces a lost `Elected`.
#[derive(Clone, Copy, Debug)]
pub(in crate::elections) struct Announcement<'a> {
    pub from: &'a AgentId,
    pub incarnation: Incarnation,
    pub term: Term,
    pub score: Score,
}

impl Elect {
    /// The message without the fields of the quorum mode.
    pub(in crate::elections) const fn plain(round: Round, score: Score, seen: Term) -> Self {
        Self {
            round,
            score,
            seen,
            takeover: None,
            released: None,
        }
    }
}

impl Resign {
    /// The message without the fields of the quorum mode.
    pub(in crate::elections) const fn plain(term: Term, successor: Option<AgentId>) -> Self {
        Self {
            term,
            successor,
            given: None,
        }
    }
}

impl Elected {
    /// The message without the fields of the quorum mode.
    pub(in crate::elections) const fn plain(
        term: Term,
        score: Score,
        answer: Option<Round>,
    ) -> Self {
        Self {
            term,
            score,
            answer,
            sent_at: None,
        }
    }
}

impl Announcement<'_> {
    /// The leader that is announced.
    pub(in crate::elections) fn leader(&self) -> Leader {
        Leader {
            id: self.from.clone(),
            incarnation: self.incarnation,
            term: self.term,
        }
    }
}

/// "I lead no longer": the leadership has ended before this is sent.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Resign {
    /// The term that has ended.
    pub term: Term,
    /// The agent that shall announce itself now, without waiting.
    pub successor: Option<AgentId>,
    /// Quorum mode: the term for which the voters have voted for that agent, at the sender's request.
    pub given: Option<Term>,
}

/// "Vote for me in this term."
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Claim {
    /// The term, chosen by the candidate and used by no other candidate that wins.
    pub term: Term,
    /// The candidate's score.
    pub score: Score,
    /// A leadership that its holder has resigned, as the candidate knows from the holder itself.
    pub released: Option<Leader>,
    /// The candidate, if it is not the sender: a leader asks for its successor.
    pub successor: Option<Candidate>,
}

/// The candidate of a vote: one incarnation of one agent.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Candidate {
    /// The agent.
    pub id: AgentId,
    /// The incarnation: a vote for one incarnation counts for no other.
    pub incarnation: Incarnation,
}

/// "You have my vote", or not.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClaimReply {
    /// The term this answers.
    pub term: Term,
    /// The voter's own term.
    pub seen: Term,
    /// Whether the vote is given. It was made durable before.
    pub granted: bool,
    /// If not: for how much longer this voter is bound to another agent or abstains, so when to ask
    /// again. Zero if the term itself is refused.
    pub retry: Micros,
    /// The incarnation that asked.
    pub incarnation: Incarnation,
    /// The candidate of the question. A leader that asks for its successor is not the candidate.
    pub candidate: Candidate,
    /// The seal of this epoch that the voter has taken, if it has.
    pub seal: Option<Box<SealRecord>>,
    /// Without disks: the term by the voter's wall clock, if that is why the claim is refused.
    pub clock: Option<Term>,
}

/// "I heard you, and support no other agent for a while."
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ack {
    /// The leader's term.
    pub term: Term,
    /// The reading of the leader's clock when it sent the message that this answers.
    pub echo: Time,
    /// The voter's score now; `None` if it is not eligible or cools down, so that the leader does not choose
    /// it as a successor.
    pub score: Option<Score>,
    /// Whether the voter needs longer than a round to write its record, so that the leader chooses another successor
    /// if there is one.
    pub slow: bool,
    /// Time for which the voter supports no other agent, by its own clock, from the receipt of the message that this
    /// answers. No lease may count on more. Rounded down.
    pub promise: Micros,
    /// The incarnation of the leader that this answers.
    pub incarnation: Incarnation,
}

/// "I know a higher term than yours", or another leader of your term.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Nack {
    /// The higher term; or the same term, in which the sender follows another leader, or leads itself.
    pub term: Term,
    /// The term of the message that this answers: an announcement, or a seal.
    pub of: Term,
    /// The incarnation that this answers.
    pub incarnation: Incarnation,
}

/// "I have followed a higher term than yours": lead above it. Or "I am of an earlier epoch".
///
/// It answers no question, so it names no asker.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Behind {
    /// The highest term the sender has seen.
    pub seen: Term,
}

/// "A quorum agrees that I take your place: hand over."
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Takeover {
    /// The term that the leader leads in.
    pub term: Term,
}

/// One leadership: its leader and its term.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Leadership {
    /// The agent.
    pub id: AgentId,
    /// In which term.
    pub term: Term,
}

/// A span of time on the wire, in microseconds.
///
/// Of whole nanoseconds, [`from`](From::from) makes no less, and `at_most` no
/// more.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Micros(pub u64);

impl Micros {
    /// Rounds down; saturates.
    pub fn at_most(span: Duration) -> Self {
        Self(u64::try_from(span.as_micros()).unwrap_or(u64::MAX))
    }
}

impl From<Duration> for Micros {
    /// Rounds up; saturates.
    fn from(span: Duration) -> Self {
        Self(u64::try_from(span.as_nanos().div_ceil(1_000)).unwrap_or(u64::MAX))
    }
}

impl From<Micros> for Duration {
    fn from(span: Micros) -> Self {
        Self::from_micros(span.0)
    }
}
