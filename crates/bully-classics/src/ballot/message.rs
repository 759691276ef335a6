//! The messages of a ballot election.
//!
//! | message | the algorithm's name | meaning |
//! |---|---|---|
//! | [`HeartbeatRequest`] | HEARTBEATREQUEST | a round begins: which voters are up? |
//! | [`HeartbeatReply`] | HEARTBEATREPLY | I am up, and this is my ballot |
//! | [`Leads`] | – | to observers: I lead by this ballot |
//! | [`Nack`] | – | from observers: a higher ballot than your ballot was elected |
//! | [`Resign`] | – | I no longer lead |
//!
//! All messages are flat and small. The sender's name and incarnation travel beside them. Each round repeats all
//! messages except the last one, so a slow receiver may miss any of them.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::BallotNumber;
use bully_core::parts::messages;
use bully_core::protocol::{AgentId, Round, Term};

/// "A round begins: which voters are up?"
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HeartbeatRequest {
    /// The asker's round; the answer contains it again.
    pub round: Round,
    /// bmax: the highest elected ballot that the asker knows; `None` if it knows no elected ballot.
    pub max: Option<BallotNumber>,
    /// The state of the asker.
    pub standing: Standing,
}

/// "I am up, and this is my ballot."
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HeartbeatReply {
    /// The round that this answers.
    pub round: Round,
    /// The state of the sender.
    pub standing: Standing,
}

/// The state of a voter, which each of its requests and replies contains.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Standing {
    /// The ballot with which the voter campaigns; `None` if it holds no ballot.
    pub ballot: Option<BallotNumber>,
    /// Whether the voter takes a ballot if the leadership is vacant. A witness never does; an agent in its cool-down
    /// does only if no other voter would.
    pub eligible: bool,
    /// Whether the voter heard a majority in its last round. If it did not, its ballot is not elected.
    pub connected: bool,
    /// The ballot of the leader that the voter follows; `None` unless the voter heard it itself in the last round.
    pub hears: Option<BallotNumber>,
}

/// "I lead by this ballot."
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Leads {
    /// The leader's ballot.
    pub ballot: BallotNumber,
}

/// "I have followed a higher ballot than your ballot."
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Nack {
    /// The highest ballot that the observer has followed.
    pub max: BallotNumber,
}

/// "I no longer lead." The sender has ended its leadership before it sends this.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Resign {
    /// The ballot by which the sender led.
    pub ballot: BallotNumber,
    /// The agent that shall take the next ballot at once.
    pub successor: Option<AgentId>,
}

messages! {
    /// All messages of a ballot election.
    pub enum BallotMessage {
        // Every voter sends the two messages below. Only a message of an agent that may be elected needs the right to
        // lead.
        HeartbeatRequest(m) => "heartbeat_request", term_of(m.max.as_ref()).max(m.standing.term()),
            by Voter or Leader if m.standing.may_lead(), repeated;
        HeartbeatReply(m) => "heartbeat_reply", m.standing.term(),
            by Voter or Leader if m.standing.may_lead(), repeated;
        Leads(m) => "leads", m.ballot.term(), by Leader, repeated;
        Nack(m) => "nack", m.max.term(), by Observer, repeated;
        Resign(m) => "resign", m.ballot.term(), by Leader;
    }
}

impl fmt::Display for BallotMessage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::HeartbeatRequest(m) => {
                write!(f, "heartbeat_request {}", m.round)?;
                if let Some(max) = &m.max {
                    write!(f, " max {max}")?;
                }
                write!(f, ", {}", m.standing)
            }
            Self::HeartbeatReply(m) => write!(f, "heartbeat_reply {}, {}", m.round, m.standing),
            Self::Leads(m) => write!(f, "leads by {}", m.ballot),
            Self::Nack(m) => write!(f, "nack, followed {}", m.max),
            Self::Resign(m) => {
                write!(f, "resign {}", m.ballot)?;
                let successor = m.successor.as_ref();
                successor.map_or(Ok(()), |id| write!(f, " for {id}"))
            }
        }
    }
}

impl fmt::Display for Standing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.ballot, self.eligible) {
            (Some(ballot), _) => write!(f, "stands with {ballot}")?,
            (None, true) => f.write_str("holds no ballot")?,
            (None, false) => f.write_str("is not eligible")?,
        }
        match &self.hears {
            Some(hears) if self.ballot.as_ref() != Some(hears) => write!(f, ", hears {hears}")?,
            Some(_) | None => {}
        }
        f.write_str(if self.connected { "" } else { ", cut off" })
    }
}

impl Standing {
    const fn may_lead(&self) -> bool {
        self.eligible || self.ballot.is_some()
    }

    fn term(&self) -> Term {
        term_of(self.ballot.as_ref()).max(term_of(self.hears.as_ref()))
    }
}

fn term_of(ballot: Option<&BallotNumber>) -> Term {
    ballot.map_or(Term::ZERO, BallotNumber::term)
}
