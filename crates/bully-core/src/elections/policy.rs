//! Settings that a user chooses in both modes of the bully election.

use crate::protocol::Score;

pub use crate::protocol::Preemption;

/// The error for a margin with a negative part. No score can exceed another score by such a margin.
#[derive(Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a margin of {margin} has a negative part: make each part 0 or more")]
pub struct NegativeMargin {
    margin: Score,
}

debug_is_text!(NegativeMargin);

impl NegativeMargin {
    /// Refuses a margin with a negative part. Scores are compared part by part, and the part that decides is larger
    /// by at least 1, so a negative part would have no effect.
    pub(super) fn check(margin: Option<Score>) -> Result<(), Self> {
        match margin {
            Some(margin) if margin.parts().iter().any(|part| *part < 0) => Err(Self { margin }),
            Some(_) | None => Ok(()),
        }
    }
}
