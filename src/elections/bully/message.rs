//! What the agents of a bully election say to each other.
//!
//! | message | textbook | ASTRA | meaning |
//! |---|---|---|---|
//! | [`Elect`] | ELECTION | `elect(name, score)` | I hold an election; who outranks me? |
//! | [`Ok`] | ANSWER, ALIVE | `result("ok")` | I do (or: there is a leader); stop |
//! | [`Yield`] | – | – | You outrank me; I give way |
//! | [`Elected`] | COORDINATOR, VICTORY | `elected(name)` | I lead from now on |
//! | [`Heartbeat`] | – | – | I still lead |
//! | [`Resign`] | – | – | I lead no longer |
//!
//! All are flat and small. The sender's name and life travel beside them.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::protocol::{AgentId, PeerMessage, Round, Score, Term};

/// "I hold an election; who outranks me?"
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Elect {
    /// The asker's round; an answer echoes it.
    pub round: Round,
    /// The asker's importance.
    pub score: Score,
    /// The highest term the asker has seen.
    pub seen: Term,
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
}

/// "I lead from now on."
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Elected {
    /// The term.
    pub term: Term,
    /// The leader's importance.
    pub score: Score,
    /// The round this answers, when it is a standing leader's answer to an [`Elect`].
    pub answer: Option<Round>,
}

/// "I still lead."
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Heartbeat {
    /// The term.
    pub term: Term,
    /// The leader's importance now.
    pub score: Score,
}

/// "I lead no longer": the belief has ended before this is sent.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Resign {
    /// The term that has ended.
    pub term: Term,
    /// Who shall announce itself now, without waiting.
    pub successor: Option<AgentId>,
}

/// Everything that one agent of a bully election says to another.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum BullyMessage {
    /// See [`Elect`].
    Elect(Elect),
    /// See [`Ok`].
    Ok(Ok),
    /// See [`Yield`].
    Yield(Yield),
    /// See [`Elected`].
    Elected(Elected),
    /// See [`Heartbeat`].
    Heartbeat(Heartbeat),
    /// See [`Resign`].
    Resign(Resign),
}

impl PeerMessage for BullyMessage {
    fn kind(&self) -> &'static str {
        match self {
            Self::Elect(_) => "elect",
            Self::Ok(_) => "ok",
            Self::Yield(_) => "yield",
            Self::Elected(_) => "elected",
            Self::Heartbeat(_) => "heartbeat",
            Self::Resign(_) => "resign",
        }
    }

    fn is_repeated(&self) -> bool {
        matches!(self, Self::Heartbeat(_))
    }
}

impl fmt::Display for BullyMessage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Elect(m) => write!(f, "elect {} score {}", m.round, m.score),
            Self::Ok(m) => write!(f, "ok {}", m.round),
            Self::Yield(Yield {
                round,
                released: Some(term),
                ..
            }) => {
                write!(f, "yield {round} releasing term {term}")
            }
            Self::Yield(m) => write!(f, "yield {}", m.round),
            Self::Elected(Elected {
                term,
                score,
                answer: Some(round),
            }) => {
                write!(f, "elected term {term} score {score}, answering {round}")
            }
            Self::Elected(m) => write!(f, "elected term {} score {}", m.term, m.score),
            Self::Heartbeat(m) => write!(f, "heartbeat term {}", m.term),
            Self::Resign(Resign {
                term,
                successor: Some(next),
            }) => {
                write!(f, "resign term {term} for {next}")
            }
            Self::Resign(m) => write!(f, "resign term {}", m.term),
        }
    }
}

macro_rules! into_bully_message {
    ($($name:ident),*) => { $(
        impl From<$name> for BullyMessage {
            fn from(message: $name) -> Self {
                Self::$name(message)
            }
        }
    )* };
}
into_bully_message!(Elect, Ok, Yield, Elected, Heartbeat, Resign);
