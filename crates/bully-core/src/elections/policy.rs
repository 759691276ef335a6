//! The choices of a user for both modes of the bully.

use crate::protocol::Score;

pub use crate::protocol::Preemption;

/// A margin by which a score cannot be exceeded.
#[derive(Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a margin of {margin} has a negative part: use the smallest lead that counts, or 0")]
pub struct NegativeMargin {
    margin: Score,
}

debug_is_text!(NegativeMargin);

impl NegativeMargin {
    /// Refuses a margin of which a part is negative: scores are compared part by part, and the part that
    /// decides is larger by at least 1.
    pub(super) fn check(margin: Option<Score>) -> Result<(), Self> {
        match margin {
            Some(margin) if margin.parts().iter().any(|part| *part < 0) => Err(Self { margin }),
            Some(_) | None => Ok(()),
        }
    }
}
