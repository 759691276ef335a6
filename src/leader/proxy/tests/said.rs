//! Messages from one agent of the world to another.

use super::{
    super::exchange::{Life, Refusal},
    world::Seen,
};

/// A message that belongs to a run (the messages of a sender to one leader in one term), or an answer to such a message,
/// from one life of an agent to one life of another agent.
#[derive(Clone)]
pub(super) struct Said {
    pub(super) from: Life,
    pub(super) to: Life,
    pub(super) run: u64,
    pub(super) what: What,
}

#[derive(Clone)]
pub(super) enum What {
    Batch {
        term: u64,
        first: u64,
        items: Vec<u64>,
    },
    Ack {
        next: u64,
    },
    Refuse {
        next: Option<u64>,
        why: Refusal,
        hint: Option<Seen>,
    },
}
