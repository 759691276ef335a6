//! Whom an answer is for (`answer-the-asker`).
//!
//! Messages may be doubled, and may arrive late: also at another incarnation of the asker, or when the asker has
//! another question by now. An answer names the incarnation that asked, and a vote the incarnation of the agent that it
//! is for. No other incarnation counts them, with disks and without.
//!
//! Not here: the meaning of an answer for the asker (each role decides that), and for how long a vote counts
//! ([`diskless`](super::diskless)).

use super::{QuorumMessage, core::Core};
use crate::elections::message::Candidate;

impl Core {
    /// Whether that may be an answer to this incarnation. `Ok`, `Yield` and `Recovered` name it in their round, which
    /// the role compares.
    pub(super) fn is_asked(&self, message: &QuorumMessage) -> bool {
        let asked = match message {
            QuorumMessage::ClaimReply(m) => m.incarnation,
            QuorumMessage::Ack(m) => m.incarnation,
            QuorumMessage::Nack(m) => m.incarnation,
            QuorumMessage::Sealed(m) => m.incarnation,
            QuorumMessage::Recalled(m) => m.incarnation,
            QuorumMessage::Elect(_)
            | QuorumMessage::Ok(_)
            | QuorumMessage::Yield(_)
            | QuorumMessage::Behind(_)
            | QuorumMessage::Elected(_)
            | QuorumMessage::Heartbeat(_)
            | QuorumMessage::Resign(_)
            | QuorumMessage::Claim(_)
            | QuorumMessage::Takeover(_)
            | QuorumMessage::Recover(_)
            | QuorumMessage::Recovered(_)
            | QuorumMessage::Recall(_)
            | QuorumMessage::Seal(_)
            | QuorumMessage::Install(_)
            | QuorumMessage::AskChange(_)
            | QuorumMessage::ChangeAnswer(_)
            | QuorumMessage::Enlist(_) => return true,
        };
        asked == self.me.incarnation
    }

    /// Whether a vote is for this incarnation of this agent.
    pub(super) fn is_candidate(&self, candidate: &Candidate) -> bool {
        candidate.id == self.me.id && candidate.incarnation == self.me.incarnation
    }
}
