//! The messages between agents of a bully election: [`BullyMessage`] by the plain rules and by the rules of ASTRA,
//! [`QuorumMessage`] in quorum mode. Agents of a lease send each other nothing.
//!
//! | message | textbook | ASTRA | meaning | quorum mode |
//! |---|---|---|---|---|
//! | [`Elect`] | ELECTION | `elect(name, score)` | I hold an election; who outranks me? | a question: would you vote for me? |
//! | [`Ok`] | ANSWER, ALIVE | `result("ok")` | I outrank you (or: there is a leader); stop | an objection, or the reason for a refusal |
//! | [`Yield`] | – | – | You outrank me; I yield | consent |
//! | [`Claim`] | – | – | – | vote for me |
//! | [`ClaimReply`] | – | – | – | my vote, or the reason for a refusal |
//! | [`Elected`] | COORDINATOR, VICTORY | `elected(name)` | I lead from now on | the same; asks for an `Ack` |
//! | [`Heartbeat`] | – | – | I still lead | the same; asks for an `Ack` |
//! | `Ack` | – | – | – | I support you for a while |
//! | [`Nack`] | – | – | – | I know a higher term, or another leader of your term |
//! | [`Behind`] | – | – | I have followed a higher term; lead above it | the same, from an observer; or: I am in an earlier epoch |
//! | [`Takeover`] | – | – | – | a quorum agrees that I take your place |
//! | [`Resign`] | – | – | I lead no longer | the same |
//! | [`Recover`] | – | – | – | without a disk: I have forgotten; which term do you know? |
//! | [`Recovered`] | – | – | – | the answer: the term that I know |
//! | [`Recall`] | – | – | – | with a disk: I have started; what do you remember of me? |
//! | [`Recalled`] | – | – | – | the answer: what I remember of you |
//! | [`Seal`] | – | – | – | support no leader of this epoch; this list of voters shall follow |
//! | [`Sealed`] | – | – | – | I have sealed |
//! | [`Install`] | – | – | – | this list of voters was decided |
//! | [`AskChange`], [`ChangeAnswer`] | – | – | – | to the leader: change the voters; its answer |
//! | [`Enlist`] | – | – | – | to the leader: I could become a voter |
//!
//! All messages are flat and small. The sender's name and incarnation travel beside them. Every answer contains the
//! incarnation that asked, in its round or in a field of its own, so that no other incarnation counts the answer. A
//! field that only one mode needs is `None` in the other mode. The decoder limits the length of a message, but not
//! the spans and terms in it: the machine that uses such a value limits it.

mod bully;
pub(in crate::elections) mod change;
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

#[cfg(any(test, feature = "testkit"))]
use crate::protocol::fixture;
use crate::protocol::{AgentId, Incarnation, Leader, Round, Score, Term, Time};
use change::SealRecord;

/// "I hold an election; who outranks me?"
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(any(test, feature = "testkit"), derive(Default))]
#[serde(deny_unknown_fields)]
pub struct Elect {
    /// The asker's round; an answer repeats it.
    pub round: Round,
    /// The asker's score.
    pub score: Score,
    /// The highest term that the asker has seen. In quorum mode the asker asks for the next term.
    pub seen: Term,
    /// Quorum mode: the live leadership that the asker wants to take over.
    pub takeover: Option<Box<Leadership>>,
    /// Quorum mode: a leadership whose holder has resigned. The asker knows it from the holder itself.
    pub released: Option<Leader>,
}

/// "Stop: I outrank you, or there is a leader."
///
/// A struct with named fields, so it does not hide `Result::Ok`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(any(test, feature = "testkit"), derive(Default))]
#[serde(deny_unknown_fields)]
pub struct Ok {
    /// The round that this answers.
    pub round: Round,
    /// The highest term that the sender has seen.
    pub seen: Term,
    /// Quorum mode: the reason why the sender does not consent. `None` if it outranks the asker.
    pub refusal: Option<Refusal>,
}

/// The reason why a voter that does not outrank the asker refuses its [`Elect`].
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Refusal {
    /// The voter is not free to vote: it leads, has promised its support to another agent, or abstains after a restart.
    NotFree {
        /// Time after which the asker should ask again.
        retry: Micros,
    },
    /// The requested term is not above the sender's term.
    Stale,
}

/// "You outrank me; I yield."
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(any(test, feature = "testkit"), derive(Default))]
#[serde(deny_unknown_fields)]
pub struct Yield {
    /// The round that this answers.
    pub round: Round,
    /// The highest term that the sender has seen.
    pub seen: Term,
    /// The term in which the sender led until this question made it stop, if it led.
    pub released: Option<Term>,
    /// Quorum mode without disks: the term by the sender's wall clock.
    pub clock: Option<Term>,
}

/// "I lead from now on."
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(any(test, feature = "testkit"), derive(Default))]
#[serde(deny_unknown_fields)]
pub struct Elected {
    /// The term in which the sender leads.
    pub term: Term,
    /// The leader's score.
    pub score: Score,
    /// The round that this answers, if the sender already led and answers an [`Elect`].
    pub answer: Option<Round>,
    /// Quorum mode: reading of the leader's own clock when it sent this message. An `Ack` repeats this reading.
    pub sent_at: Option<Time>,
}

/// "I still lead."
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(any(test, feature = "testkit"), derive(Default))]
#[serde(deny_unknown_fields)]
pub struct Heartbeat {
    /// The term in which the sender leads.
    pub term: Term,
    /// The leader's present score.
    pub score: Score,
    /// Quorum mode: reading of the leader's own clock when it sent this message. An `Ack` repeats this reading.
    pub sent_at: Option<Time>,
}

/// A leader's statement that it leads: an `Elected`, or a `Heartbeat`, which answers no round. Both have the same
/// effect, so that the next heartbeat replaces a lost `Elected`.
#[derive(Clone, Copy, Debug)]
pub(in crate::elections) struct Announcement<'a> {
    pub from: &'a AgentId,
    pub incarnation: Incarnation,
    pub term: Term,
    pub score: Score,
}

impl Elect {
    /// Returns the message without the fields of the quorum mode.
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
    /// Returns the message without the fields of the quorum mode.
    pub(in crate::elections) const fn plain(term: Term, successor: Option<AgentId>) -> Self {
        Self {
            term,
            successor,
            given: None,
        }
    }
}

impl Elected {
    /// Returns the message without the fields of the quorum mode.
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
    /// Returns the announced leader.
    pub(in crate::elections) fn leader(&self) -> Leader {
        Leader {
            id: self.from.clone(),
            incarnation: self.incarnation,
            term: self.term,
        }
    }
}

/// "I no longer lead": the leadership has ended before this is sent.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(any(test, feature = "testkit"), derive(Default))]
#[serde(deny_unknown_fields)]
pub struct Resign {
    /// The term that has ended.
    pub term: Term,
    /// The agent that shall announce itself at once.
    pub successor: Option<AgentId>,
    /// Quorum mode: the term in which the voters have voted for the successor at the sender's request.
    pub given: Option<Term>,
}

/// "Vote for me in this term."
///
/// A voter refuses if its record has a later term, or a vote for another candidate in this term; if it holds a lease;
/// if a promise binds it to another agent; if it abstains, or still waits for the memories of the other voters; and,
/// without disks, if the term is too far ahead of its clock. If the claim has a successor, a voter also refuses if no
/// promise binds it to the sender. The rank is never a reason: a voter that outranks a candidate objects to [`Elect`].
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(any(test, feature = "testkit"), derive(Default))]
#[serde(deny_unknown_fields)]
pub struct Claim {
    /// The requested term. The candidate chose it, and no other candidate wins in it.
    pub term: Term,
    /// The candidate's score.
    pub score: Score,
    /// A leadership whose holder has resigned. The candidate knows it from the holder itself.
    pub released: Option<Leader>,
    /// The candidate, if it is not the sender: a leader asks for votes for its successor.
    pub successor: Option<Box<Candidate>>,
}

/// The candidate of a vote: one incarnation of one agent.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Candidate {
    /// The name of the agent.
    pub id: AgentId,
    /// The incarnation. A vote for one incarnation counts for no other.
    pub incarnation: Incarnation,
}

#[cfg(any(test, feature = "testkit"))]
impl Default for Candidate {
    /// Returns an agent with the name "candidate", because a name has no default.
    fn default() -> Self {
        Self::new(&fixture::id("candidate"), Incarnation::default())
    }
}

/// The answer to a [`Claim`]: "you have my vote", or a refusal.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(any(test, feature = "testkit"), derive(Default))]
#[serde(deny_unknown_fields)]
pub struct ClaimReply {
    /// The term of the [`Claim`] that this answers.
    pub term: Term,
    /// The term of the voter's record.
    pub seen: Term,
    /// Whether the voter gives its vote. The vote was made durable before this message was sent.
    pub granted: bool,
    /// If the vote is refused: time for which this voter is still bound to another agent or abstains, so that the
    /// candidate knows when to ask again. Zero if the term itself is refused.
    pub retry: Micros,
    /// The incarnation that sent the [`Claim`].
    pub incarnation: Incarnation,
    /// The candidate of the answered claim. If a leader asks for votes for its successor, this is the successor.
    pub candidate: Candidate,
    /// The seal of this epoch in the voter's record; `None` if the voter has not sealed.
    pub seal: Option<Box<SealRecord>>,
    /// Without disks: the term by the voter's wall clock, if the voter refuses the claim because of its clock.
    pub clock: Option<Term>,
}

/// "I have received your message, and support no other agent for a while."
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(any(test, feature = "testkit"), derive(Default))]
#[serde(deny_unknown_fields)]
pub struct Ack {
    /// The leader's term.
    pub term: Term,
    /// Reading of the leader's clock when it sent the message that this answers.
    pub echo: Time,
    /// The voter's present score; `None` if it is not eligible or cools down, so that the leader does not choose it
    /// as a successor.
    pub score: Option<Score>,
    /// Whether the voter usually needs longer than a [`round`](crate::protocol::Timings::round) to write its record.
    /// Then the leader chooses another successor, if another agent can lead.
    pub slow: bool,
    /// Time for which the voter supports no other agent, by its own clock, counted from the receipt of the message that
    /// this answers. Rounded down, because the leader's lease must not depend on a longer time.
    pub promise: Micros,
    /// The incarnation of the leader to which this is an answer.
    pub incarnation: Incarnation,
}

/// "I know a higher term than your term", or "I know another leader of your term".
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(any(test, feature = "testkit"), derive(Default))]
#[serde(deny_unknown_fields)]
pub struct Nack {
    /// A higher term; or the receiver's term, if the sender follows another leader in the receiver's term or leads in
    /// it.
    pub term: Term,
    /// The term of the message that this answers: an announcement, or a seal.
    pub of: Term,
    /// The incarnation to which this is an answer.
    pub incarnation: Incarnation,
}

/// "I have followed a higher term than your term; lead above it." Or: "I am in an earlier epoch."
///
/// This message answers no question, so it contains no incarnation that asked.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Behind {
    /// The highest term that the sender has seen.
    pub seen: Term,
}

/// "A quorum agrees that I take your place: hand over."
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Takeover {
    /// The term in which the leader leads.
    pub term: Term,
}

/// One leadership: a leader and its term.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Leadership {
    /// The name of the leader.
    pub id: AgentId,
    /// The term in which it leads.
    pub term: Term,
}

/// A span of time on the wire, in microseconds.
///
/// For a span that is not a whole number of microseconds, [`from`](From::from) rounds up, and `at_most` rounds down.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Micros(pub u64);

impl Micros {
    /// Rounds down. A span above the largest value becomes the largest value.
    pub fn at_most(span: Duration) -> Self {
        Self(u64::try_from(span.as_micros()).unwrap_or(u64::MAX))
    }
}

impl From<Duration> for Micros {
    /// Rounds up. A span above the largest value becomes the largest value.
    fn from(span: Duration) -> Self {
        Self(u64::try_from(span.as_nanos().div_ceil(1_000)).unwrap_or(u64::MAX))
    }
}

impl From<Micros> for Duration {
    fn from(span: Micros) -> Self {
        Self::from_micros(span.0)
    }
}
