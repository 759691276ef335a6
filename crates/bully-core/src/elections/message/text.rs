//! The text of the messages of a bully election in traces.

use std::{fmt, time::Duration};

use super::{BullyMessage, Candidate, Leadership, QuorumMessage, Refusal};
use crate::protocol::Leader;

/// Writes a message of the plain rules with the same text as the quorum election's message of the same kind.
impl fmt::Display for BullyMessage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        QuorumMessage::from(self.clone()).fmt(f)
    }
}

impl fmt::Display for QuorumMessage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Elect(m) => {
                write!(f, "elect {} score {}", m.round, m.score)?;
                and(f, "to take over", m.takeover.as_ref())?;
                and(f, "released:", m.released.as_ref().map(Led))
            }
            Self::Ok(m) => {
                write!(f, "ok {}", m.round)?;
                and(f, "but", m.refusal.as_ref())
            }
            Self::Yield(m) => {
                write!(f, "yield {}", m.round)?;
                and(f, "releasing term", m.released.as_ref())
            }
            Self::Elected(m) => {
                write!(f, "elected term {} score {}", m.term, m.score)?;
                let answer = m.answer.as_ref();
                answer.map_or(Ok(()), |round| write!(f, ", answering {round}"))
            }
            Self::Heartbeat(m) => write!(f, "heartbeat term {}", m.term),
            Self::Resign(m) => {
                write!(f, "resign term {}", m.term)?;
                and(f, "for", m.successor.as_ref())?;
                and(f, "which has term", m.given.as_ref())
            }
            Self::Claim(m) => {
                write!(f, "claim term {} score {}", m.term, m.score)?;
                and(f, "for", m.successor.as_ref())?;
                and(f, "released:", m.released.as_ref().map(Led))
            }
            Self::ClaimReply(m) if m.granted => write!(f, "grants term {}", m.term),
            Self::ClaimReply(m) => {
                write!(f, "refuses term {}, knows {}", m.term, m.seen)?;
                and(f, "and its clock says", m.clock.as_ref())
            }
            Self::Ack(m) => write!(f, "ack term {} echo {}", m.term, m.echo),
            Self::Nack(m) if m.term == m.of => {
                write!(f, "nack knows another leader of term {}", m.of)
            }
            Self::Nack(m) => write!(f, "nack of term {}, knows term {}", m.of, m.term),
            Self::Behind(m) => write!(f, "behind, has seen term {}", m.seen),
            Self::Takeover(m) => write!(f, "takeover of term {}", m.term),
            Self::Recover(m) => write!(f, "recover {}", m.round),
            Self::Recall(m) => write!(f, "recall, has seen term {}", m.seen),
            Self::Recalled(m) => write!(f, "recalled: {}", m.heard),
            Self::Recovered(m) if m.recovering => write!(f, "recovers itself, {}", m.round),
            Self::Recovered(m) => write!(f, "remembers term {}, {}", m.term, m.round),
            Self::Seal(m) => write!(f, "seal in term {} for {}", m.term, m.next),
            Self::Sealed(m) => write!(f, "sealed in term {}", m.term),
            Self::Install(m) => write!(f, "install {}", m.decree),
            Self::Enlist(m) => write!(f, "enlist in term {}", m.term),
            Self::AskChange(m) => write!(f, "ask to {}", m.change),
            Self::ChangeAnswer(m) => match &m.outcome {
                Ok(changed) => write!(f, "did {}, epoch {}", m.change, changed.epoch),
                Err(reason) => write!(f, "did not {}: {reason}", m.change),
            },
        }
    }
}

impl fmt::Display for Leadership {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} in term {}", self.id, self.term)
    }
}

impl fmt::Display for Candidate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.id, self.incarnation)
    }
}

/// Writes a leadership: the leader and its term.
struct Led<'a>(&'a Leader);

impl fmt::Display for Led<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} in term {}", self.0.id, self.0.term)
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotFree { retry } => write!(f, "not free for {:?}", Duration::from(*retry)),
            Self::Stale => f.write_str("stale"),
        }
    }
}

fn and(f: &mut fmt::Formatter<'_>, word: &str, what: Option<impl fmt::Display>) -> fmt::Result {
    what.map_or(Ok(()), |what| write!(f, " {word} {what}"))
}
