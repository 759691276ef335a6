//! What both modes of the bully let a user choose.

use std::time::Duration;

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
