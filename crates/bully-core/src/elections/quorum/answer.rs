//! The incarnation for which an answer counts.
//!
//! Decided here: which answers count (rule `answer-the-asker`). A message may be duplicated or late: it may reach a
//! later incarnation of the asker, or arrive after the asker has begun another question. So an answer contains the
//! incarnation that asked, and a vote contains the incarnation of its candidate. No other incarnation counts the answer
//! or the vote.
//!
//! Not here: the meaning of an answer for the asker (each role decides that), and the time for which a vote counts
//! ([`diskless`](super::diskless)).

use super::{QuorumMessage, core::Core};
use crate::elections::message::Candidate;

impl Core {
    /// Returns whether a message may count for this incarnation. An answer counts only if this incarnation asked; a
    /// message that answers nothing always counts. `Ok`, `Yield` and `Recovered` contain the incarnation in their
    /// round, which the role compares.
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
