//! What both modes of the bully let a user choose.

use std::time::Duration;

use crate::protocol::Score;

/// When a live leader gives way to an agent of a higher rank. It is the leader's policy; a vacant
/// leadership is taken at once under any of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Preemption {
    /// At once: the bully's way. Not in quorum mode.
    #[default]
    Immediately,
    /// After the agent of a higher rank was there for this long without a gap, with a clean
    /// hand-over; so that a flapping agent does not bounce the leadership.
    After(Duration),
    /// Never.
    Never,
}

/// A margin by which a score cannot be exceeded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a margin of {margin} has a negative part: use the smallest lead that counts, or 0")]
pub struct NegativeMargin {
    margin: Score,
}

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
