//! The messages between a simulated agent and its register: question and answer as messages of a world, and their text
//! in traces.
//!
//! Not here: the questions of an agent in an application. Such an agent asks its store by effects and gets the answers
//! as inputs.

use std::fmt;

use super::super::{
    Answer, Cell, ClaimRecord, LeaseRecord, RegisterQuestion, RegisterShown, Swapped,
};
use crate::protocol::{AgentId, MinimumRole, PeerMessage, Term};

/// A question of an agent, or an answer of the register.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum RegisterMessage {
    /// A question of an agent.
    Ask(RegisterQuestion),
    /// An answer of the register.
    Told(Box<RegisterShown>),
}

impl PeerMessage for RegisterMessage {
    fn kind(&self) -> &'static str {
        match self {
            Self::Ask(RegisterQuestion::Read(_)) => "read_register",
            Self::Ask(RegisterQuestion::Swap(_)) => "swap_register",
            Self::Told(_) => "register_shown",
        }
    }

    fn needs(&self, _: &AgentId) -> MinimumRole {
        MinimumRole::Observer
    }

    fn term(&self) -> Option<Term> {
        let record = match self {
            Self::Ask(RegisterQuestion::Read(_)) => None,
            Self::Ask(RegisterQuestion::Swap(swap)) => match &swap.record {
                Swapped::Lease(record) => Some(record),
                Swapped::Claim(_) => None,
            },
            Self::Told(shown) => match &shown.answer {
                Answer::Holds { lease, .. } => lease.content.as_ref().ok().and_then(Option::as_ref),
                Answer::Applied(_) | Answer::Changed | Answer::Contender(_) | Answer::Failed => {
                    None
                }
            },
        };
        Some(record.map_or(Term::ZERO, |record| record.term))
    }
}

impl fmt::Display for RegisterMessage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ask(RegisterQuestion::Read(_)) => f.write_str("read"),
            Self::Ask(RegisterQuestion::Swap(swap)) => match &swap.record {
                Swapped::Lease(record) => write!(f, "swap {record}"),
                Swapped::Claim(record) => write!(f, "swap {record}"),
            },
            Self::Told(shown) => match &shown.answer {
                Answer::Holds { lease, claim } => write!(f, "holds {lease}; {claim}"),
                Answer::Applied(_) => f.write_str("applied"),
                Answer::Changed => f.write_str("has changed"),
                Answer::Contender(Some(rank)) => write!(f, "lists {rank}"),
                Answer::Contender(None) => f.write_str("lists nobody"),
                Answer::Failed => f.write_str("failed"),
            },
        }
    }
}

impl<R: fmt::Display> fmt::Display for Cell<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.content {
            Ok(Some(record)) => record.fmt(f),
            Ok(None) => f.write_str("nothing"),
            Err(error) => error.fmt(f),
        }
    }
}

impl fmt::Display for LeaseRecord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "term {}", self.term)?;
        match (&self.holder, &self.next) {
            (Some(holder), _) => write!(f, " of {} #{}", holder.id, self.nonce.attempt),
            (None, Some(next)) => write!(f, " released for {}", next.id),
            (None, None) => f.write_str(" released"),
        }
    }
}

impl fmt::Display for ClaimRecord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.score {
            Some(score) => write!(f, "claim of {} score {score}", self.nonce.id),
            None => write!(f, "{} has seen term {}", self.nonce.id, self.seen),
        }
    }
}
