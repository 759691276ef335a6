//! The messages of a bully election by its plain rules and by the rules of ASTRA: which agents may send each message,
//! and whether a newer message replaces an older message.
//!
//! A quorum election also has each of these messages. If the rules of a group are not fixed at compile time, its
//! messages are those of the [quorum](QuorumMessage).

use super::{
    Behind, Elect, Elected, Heartbeat, Ok, QuorumMessage, Resign, Yield, quorum::elect_term,
};
use crate::parts::messages;

messages! {
    /// All messages of a bully election.
    pub enum BullyMessage in QuorumMessage {
        Elect(m) => "elect", elect_term(m), by Leader;
        // An observer never answers, because it is never asked.
        Ok(m) => "ok", m.seen, by Voter;
        Yield(m) => "yield", m.seen.max(m.released.unwrap_or_default()), by Voter;
        Elected(m) => "elected", m.term, by Leader;
        Heartbeat(m) => "heartbeat", m.term, by Leader, repeated;
        Resign(m) => "resign", m.term, by Leader;
        // An observer may send this message, because it decides nothing: the leader decides.
        Behind(m) => "behind", m.seen, by Observer;
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::elections::{fixture::every_bully_message, message::Micros};
    use crate::protocol::{AgentId, PeerMessage, Term};

    /// A group of agents with any rules encodes every message as a message of the quorum.
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
