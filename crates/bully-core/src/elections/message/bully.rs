//! The messages of a bully election by its plain rules and by the rules of ASTRA: which agents may send each message,
//! and whether a newer message replaces an older one.
//!
//! A quorum election also has each of these messages. If the rules of a group are not fixed at compile time, its
//! messages are those of the [quorum](QuorumMessage).

use super::{
    Behind, Elect, Elected, Heartbeat, Ok, QuorumMessage, Resign, Yield, quorum::elect_term,
};
use crate::parts::messages;
use crate::protocol::{AgentId, MinimumRole, PeerMessage, Term};

messages! {
    /// All messages of a bully election.
    pub enum BullyMessage {
        Elect(m) => "elect", elect_term(m);
        Ok(m) => "ok", m.seen;
        Yield(m) => "yield", m.seen.max(m.released.unwrap_or_default());
        Elected(m) => "elected", m.term;
        Heartbeat(m) => "heartbeat", m.term;
        Resign(m) => "resign", m.term;
        Behind(m) => "behind", m.seen;
    }
}

impl PeerMessage for BullyMessage {
    fn kind(&self) -> &'static str {
        self.name()
    }

    fn needs(&self, _: &AgentId) -> MinimumRole {
        match self {
            // An observer never answers, because it is never asked.
            Self::Ok(_) | Self::Yield(_) => MinimumRole::Voter,
            // An observer may send this message, because it decides nothing: the leader decides.
            Self::Behind(_) => MinimumRole::Observer,
            Self::Elect(_) | Self::Elected(_) | Self::Heartbeat(_) | Self::Resign(_) => {
                MinimumRole::Leader
            }
        }
    }

    fn is_repeated(&self) -> bool {
        matches!(self, Self::Heartbeat(_))
    }

    fn term(&self) -> Option<Term> {
        Some(self.term())
    }
}

impl From<BullyMessage> for QuorumMessage {
    fn from(message: BullyMessage) -> Self {
        match message {
            BullyMessage::Elect(m) => m.into(),
            BullyMessage::Ok(m) => m.into(),
            BullyMessage::Yield(m) => m.into(),
            BullyMessage::Elected(m) => m.into(),
            BullyMessage::Heartbeat(m) => m.into(),
            BullyMessage::Resign(m) => m.into(),
            BullyMessage::Behind(m) => m.into(),
        }
    }
}

/// Converts a message of the quorum mode. A message that only the quorum mode has is returned as an error.
impl TryFrom<QuorumMessage> for BullyMessage {
    type Error = QuorumMessage;

    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "a test converts each message of the bully; a new one of the quorum mode needs no line here"
    )]
    fn try_from(message: QuorumMessage) -> Result<Self, QuorumMessage> {
        Ok(match message {
            QuorumMessage::Elect(m) => m.into(),
            QuorumMessage::Ok(m) => m.into(),
            QuorumMessage::Yield(m) => m.into(),
            QuorumMessage::Elected(m) => m.into(),
            QuorumMessage::Heartbeat(m) => m.into(),
            QuorumMessage::Resign(m) => m.into(),
            QuorumMessage::Behind(m) => m.into(),
            other => return Err(other),
        })
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::elections::{fixture::every_bully_message, message::Micros};

    /// A group of agents has the tables of the quorum, whatever its rules.
    #[test]
    fn each_message_is_the_same_in_a_quorum() {
        let from = AgentId::new("a").unwrap();
        for message in every_bully_message(Term(7), 3) {
            let same = QuorumMessage::from(message.clone());
            assert_eq!(
                (same.kind(), same.needs(&from), same.is_repeated()),
                (message.kind(), message.needs(&from), message.is_repeated())
            );
            assert_eq!(same.term(), message.term());
            assert_eq!(PeerMessage::term(&message), Some(message.term()));
            assert_eq!(BullyMessage::try_from(same), Ok(message));
        }
    }

    #[test]
    fn a_span_is_rounded_up_and_a_promise_down() {
        assert_eq!(Micros::at_most(Duration::from_nanos(1_999)), Micros(1));
        assert_eq!(Micros::at_most(Duration::MAX), Micros(u64::MAX));
        assert_eq!(Micros::from(Duration::from_nanos(1)), Micros(1));
        assert_eq!(Micros::from(Duration::MAX), Micros(u64::MAX));
        assert_eq!(Duration::from(Micros(1_500)), Duration::from_micros(1_500));
    }
}
