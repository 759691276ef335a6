//! What crosses from one agent of the world to another.

use super::{
    super::exchange::{Life, Refusal},
    world::Seen,
};

/// What crosses.
#[derive(Clone)]
pub(super) enum Said {
    Batch {
        from: Life,
        to: Life,
        run: u64,
        term: u64,
        first: u64,
        items: Vec<u64>,
    },
    Ack {
        from: Life,
        to: Life,
        run: u64,
        next: u64,
    },
    Refuse {
        from: Life,
        to: Life,
        run: u64,
        next: Option<u64>,
        why: Refusal,
        hint: Option<Seen>,
    },
}
