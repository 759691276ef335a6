//! Whom an answer is for (`answer-the-asker`).
//!
//! Messages may be doubled, and may arrive late: also at another incarnation of the asker, or when the asker has
//! another question by now. An answer names the incarnation that asked, and a vote the incarnation of the agent that it
//! is for. No other incarnation counts them, with disks and without.
//!
//! Not here: the meaning of an answer for the asker (each role decides that), and for how long a vote counts
//! ([`diskless`](super::diskless)).

use super::{BullyMessage, Defect, core::Core};
use crate::elections::message::Candidate;

impl Core {
    /// Whether that may be an answer to this incarnation. `Ok`, `Yield` and `Recovered` name it in their round, which
    /// the role compares.
    pub(super) fn is_asked(&self, message: &BullyMessage) -> bool {
        let asked = match message {
            BullyMessage::ClaimReply(m) => m.incarnation,
            BullyMessage::Ack(m) => m.incarnation,
            BullyMessage::Nack(m) => m.incarnation,
            BullyMessage::Sealed(m) => m.incarnation,
            BullyMessage::Recalled(m) => m.incarnation,
            BullyMessage::Elect(_)
            | BullyMessage::Ok(_)
            | BullyMessage::Yield(_)
            | BullyMessage::Behind(_)
            | BullyMessage::Elected(_)
            | BullyMessage::Heartbeat(_)
            | BullyMessage::Resign(_)
            | BullyMessage::Claim(_)
            | BullyMessage::Takeover(_)
            | BullyMessage::Recover(_)
            | BullyMessage::Recovered(_)
            | BullyMessage::Recall(_)
            | BullyMessage::Seal(_)
            | BullyMessage::Install(_)
            | BullyMessage::AskChange(_)
            | BullyMessage::ChangeAnswer(_)
            | BullyMessage::Enlist(_) => return true,
        };
        asked == self.me.incarnation || self.config.lacks(Defect::AnswersUnaddressed)
    }

    /// Whether a vote is for this incarnation of this agent.
    pub(super) fn is_candidate(&self, candidate: &Candidate) -> bool {
        let is_me = candidate.id == self.me.id && candidate.incarnation == self.me.incarnation;
        is_me || self.config.lacks(Defect::AnswersUnaddressed)
    }
}
