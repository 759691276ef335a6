//! The message of the bench: a call for an election, which is never replaced by a newer message.

use actix_bully::{
    elections::{AnyMessage, bully::Elect},
    protocol::{Incarnation, Round, Term},
};

/// Returns the message with this number.
pub(crate) fn message(counter: u64) -> AnyMessage {
    Elect {
        round: Round {
            incarnation: Incarnation(1_000),
            counter,
        },
        score: (30, -500).into(),
        seen: Term(7),
        takeover: None,
        released: None,
    }
    .into()
}
